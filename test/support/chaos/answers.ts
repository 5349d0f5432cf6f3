/** What must hold of each answer, by itself and beside the answers before it. */

import type { EpochMs } from '../../../src/domain/time/time.ts'
import type { DenialReason } from '../../../src/domain/units/reservation.ts'
import type { Reply } from './caller.ts'
import type { Answer } from './deployment.ts'
import { isUnknown } from './messages.ts'
import { type Entry, goesBack, isDenied, type RunRecord, type ShownReservation } from './record.ts'

/** A reservation as the API shows it; with `replayed` where a command is answered. */
type Shown = ShownReservation & { unfunded: number; expires_at: string | null; replayed?: boolean }

const nameOf = ({ user, id }: Entry) => `${user} ${id}`

function contradict(record: RunRecord, what: string, { status, body }: Answer): void {
  record.contradictions.push(`${what}: ${status} ${JSON.stringify(body)}`)
}

/** Records the answer to a command that reserves or consumes, be it the first of its id or not. */
export function recordDecision(record: RunRecord, entry: Entry, reply: Reply, isOwners: boolean): void {
  const { status, body } = reply
  if (status === 200 && body.granted === false) {
    recordDenial(record, entry, reply)
  } else if (status === 200) {
    recordGrant(record, entry, reply, isOwners)
  } else if (status === 409 && body.code === 'reservation_closed') {
    record.count('closed')
    checkReservation(record, nameOf(entry), reply, body.reservation)
    record.note(entry, body.reservation, isOwners)
  } else {
    contradict(record, JSON.stringify(entry.body), reply)
  }
}

/** Answers may overtake each other, but a call that began after the first answer must not contradict it. */
const wasShown = ({ shown, firstShownAt }: Entry, { begunAt }: Reply) => shown !== undefined && firstShownAt < begunAt

const DENIED: Record<DenialReason, Parameters<RunRecord['count']>[0]> = {
  no_quota: 'denied without quota',
  cap_reached: 'denied by a cap',
  destination_paused: 'denied by a pause',
  quota_exhausted: 'denied by grants',
}

function recordDenial(record: RunRecord, entry: Entry, reply: Reply): void {
  if (wasShown(entry, reply)) contradict(record, `${nameOf(entry)} was granted, then denied`, reply)
  if (entry.force) contradict(record, `${nameOf(entry)} was forced, and denied`, reply)
  const { reason }: { reason: DenialReason } = reply.body
  if (record.valueCaps.has(reply.body.limiting_quota_id)) record.count('denied by a cap on each value')
  record.count(DENIED[reason])
  if (reason === 'destination_paused') record.paused.push({ entry, pause: reply.body.pause.id, begunAt: reply.begunAt })
  checkDenial(record, entry, reply)
}

function recordGrant(record: RunRecord, entry: Entry, reply: Reply, isOwners: boolean): void {
  const { replayed, units } = reply.body
  // A sender skips the message of a replayed reservation, and sends every other: never twice, never not at all.
  if (wasShown(entry, reply) && !replayed) {
    contradict(record, `${nameOf(entry)} was granted before, and is not replayed`, reply)
  }
  if (entry.begun === 1 && !reply.isRepeated && replayed) {
    contradict(record, `${nameOf(entry)} is replayed at its first call`, reply)
  }
  if (entry.allowsPart ? units > entry.asked : units !== entry.asked) {
    contradict(record, `${nameOf(entry)} asked for ${entry.asked} units`, reply)
  }
  checkReservation(record, nameOf(entry), reply, reply.body)
  record.note(entry, reply.body, isOwners)
  record.acknowledged += 1
  record.count(replayed ? 'replayed' : 'granted')
  if (replayed) return
  if (units < entry.asked) record.count('granted in part')
  if (entry.force) record.count(isUnknown(entry.user) ? 'forced without account' : 'forced')
}

/** Records the answer to a check, which is what a reserve would be answered. */
export function recordCheck(
  record: RunRecord,
  asked: Pick<Entry, 'user' | 'asked' | 'allowsPart'>,
  reply: Reply,
): void {
  const { status, body } = reply
  if (status !== 200) {
    contradict(record, 'a check', reply)
    return
  }
  record.count(body.granted ? 'checks granted' : 'checks denied')
  if (!body.granted) checkDenial(record, asked, reply)
  else if (body.units !== asked.asked || (body.remaining !== null && body.remaining < body.units)) {
    contradict(record, `a check of ${asked.asked} units`, reply)
  }
}

/** A denial names the reason and the limit or the pause, and what is left does not suffice. */
function checkDenial(record: RunRecord, asked: Pick<Entry, 'user' | 'asked' | 'allowsPart'>, reply: Reply): void {
  const { reason, remaining, limiting_quota_id: limiting, retry_at, pause } = reply.body
  const { user } = asked
  const suffices = remaining === null || remaining >= (asked.allowsPart ? 1 : asked.asked)
  // Every other user has grants without scope that are never deleted.
  const isRight = isUnknown(user)
    ? reason === 'no_quota' && remaining === 0 && limiting === null && retry_at === null
    : reason === 'destination_paused'
      ? remaining === 0 && limiting === null && pause.until === retry_at
      : (reason === 'cap_reached' || reason === 'quota_exhausted') && typeof limiting === 'number' && !suffices
  if (!isRight || (retry_at !== null && Date.parse(retry_at) < reply.clock)) {
    contradict(record, `a denial to user ${user}, who asked for ${asked.asked}`, reply)
  }
  if (typeof limiting === 'number') {
    record.limiting.set(limiting, { user, kind: reason === 'cap_reached' ? 'cap' : 'grant' })
  }
}

/** A reservation adds up, and is not open past its expiry: every command closes it first. */
function checkReservation(record: RunRecord, name: string, reply: Reply, shown: Shown): void {
  const { units, committed, released, refunded, unfunded, draws, expires_at } = shown
  const paid = draws.reduce((sum, draw) => (draw.kind === 'grant' ? sum + draw.units : sum), unfunded)
  const addsUp =
    committed + released <= units &&
    refunded <= committed &&
    paid === units &&
    draws.every(draw => draw.kind === 'grant' || draw.units === countedOf(record, draw.quota_id, units))
  const isOverdue = expires_at !== null && Date.parse(expires_at) <= reply.clock
  if (!addsUp) contradict(record, `${name} does not add up`, reply)
  if (isOverdue)
    contradict(record, `${name} is open after its expiry, at ${new Date(reply.clock).toISOString()}`, reply)
}

/** What a cap counts of a message. */
const countedOf = ({ valueCaps }: RunRecord, quotaId: number, units: number) =>
  valueCaps.get(quotaId)?.counts === 'messages' ? 1 : units

export type Settlement = 'commit' | 'release' | 'refund'

const SETTLED = { commit: 'committed', release: 'released', refund: 'refunded' } as const

/** Records the answer to a settlement of a reservation that its owner knows. `total`: all that is possible if left out. */
export function recordSettlement(
  record: RunRecord,
  entry: Entry,
  op: Settlement,
  total: number | undefined,
  reply: Reply,
): void {
  const { status, body } = reply
  const shown: Shown | undefined = status === 200 ? body : body.reservation
  const isRefused = body.code === 'reservation_closed' || body.code === 'exceeds_committed'
  if (shown === undefined || (status !== 200 && !isRefused)) {
    contradict(record, `${op} ${nameOf(entry)}`, reply)
    return
  }
  if (status === 200) {
    const done = shown[SETTLED[op]]
    record.acknowledged += 1
    record.count(SETTLED[op])
    if (done < shown.units) record.count('settled in part')
    if (total !== undefined && done < total) contradict(record, `${op} ${nameOf(entry)} to ${total}`, reply)
  }
  checkReservation(record, nameOf(entry), reply, shown)
  record.note(entry, shown, true)
}

/**
 * Records the answers to feedback that is given twice for a reservation that its owner knows; the reservation may expire in between.
 * `verify` compares usage with the reservations.
 */
export function recordFeedback(record: RunRecord, entry: Entry, replies: readonly Reply[]): void {
  for (const reply of inOrder(replies)) {
    const { status, body } = reply
    if (status !== 200 || body.verified !== true) {
      contradict(record, `feedback ${nameOf(entry)}`, reply)
      continue
    }
    record.acknowledged += 1
    record.count('verified')
    checkReservation(record, nameOf(entry), reply, body)
    record.note(entry, body, true)
  }
}

/** What is known of an entry before it is read. */
export interface Known {
  shown: ShownReservation | undefined
  isDenied: boolean
  begun: number
}

export const knownOf = (entry: Entry): Known => ({
  shown: entry.shown,
  isDenied: isDenied(entry),
  begun: entry.begun,
})

/** Records what a sender reads: at least what was known when it began to read. */
export function recordFind(record: RunRecord, entry: Entry, known: Known, reply: Reply, isOwners: boolean): void {
  const { status, body } = reply
  if (status === 404) {
    record.count('not found')
    if (known.shown !== undefined) contradict(record, `${nameOf(entry)} was granted, and is not found`, reply)
  } else if (status === 200) {
    record.count('found')
    if (known.isDenied && entry.begun === known.begun) {
      contradict(record, `${nameOf(entry)} was denied, and is found`, reply)
    }
    if (known.shown !== undefined && goesBack(known.shown, body)) {
      contradict(record, `${nameOf(entry)} was ${JSON.stringify(known.shown)}, and is found otherwise`, reply)
    }
    checkReservation(record, nameOf(entry), reply, body)
    record.note(entry, body, isOwners)
  } else {
    contradict(record, `finding ${nameOf(entry)}`, reply)
  }
}

/**
 * Records the answers to twins: two calls that ask for the same id at the same time. They describe one reservation, and
 * exactly one of them is the first, unless a caller had no answer at first.
 */
export function recordTwins(record: RunRecord, entry: Entry, replies: readonly Reply[]): void {
  for (const reply of inOrder(replies)) recordDecision(record, entry, reply, true)
  record.count('twins')
  if (replies.some(reply => reply.isRepeated)) return
  record.count('twins without unknown outcome')
  const isDenied = replies.every(({ status, body }) => status === 200 && !body.granted)
  const firsts = replies.filter(({ status, body }) => status === 200 && body.granted && !body.replayed)
  if (!isDenied && firsts.length !== 1) contradictFirsts(record, entry, replies, firsts.length)
}

/**
 * Records the answers to twins that settle to the same total. If the reservation may have expired since its owner's last
 * answer, it is possible that neither of them settled it.
 */
export function recordSettlementByTwins(
  record: RunRecord,
  entry: Entry,
  op: Settlement,
  total: number,
  replies: readonly Reply[],
  now: EpochMs,
): void {
  for (const reply of inOrder(replies)) recordSettlement(record, entry, op, total, reply)
  record.count('settlements by twins')
  if (replies.some(reply => reply.isRepeated)) return
  const firsts = replies.filter(({ status, body }) => status === 200 && !body.replayed)
  const mayHaveExpired = entry.expiresAt !== undefined && entry.expiresAt <= now
  if (firsts.length === 1 || (firsts.length === 0 && mayHaveExpired)) return
  if (firsts.length === 2 && replies.some(reply => mayBeFirstAgain(record, entry, reply))) return
  contradictFirsts(record, entry, replies, firsts.length)
}

function contradictFirsts(record: RunRecord, entry: Entry, replies: readonly Reply[], firsts: number): void {
  const answers = replies.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)
  record.contradictions.push(`of the twins of ${nameOf(entry)}, ${firsts} are the first: ${answers.join(' and ')}`)
}

/**
 * Whether a settlement may be answered as the first though another was. The engine answers so if it finds the settlement
 * after it lost the connection of its commit: it cannot tell whether that commit or another process made it.
 */
function mayBeFirstAgain(record: RunRecord, entry: Entry, { begunAt }: Reply): boolean {
  const hasLost = record.losses.some(at => begunAt < at + LONGEST_LOSS_MS && at < performance.now())
  if (hasLost) record.firstAgain.push(nameOf(entry))
  return hasLost
}

/** How long the backends of a killed postmaster may live on. */
const LONGEST_LOSS_MS = 2_000

/** Answers about one reservation in the order of what they show, which only grows. */
function inOrder(replies: readonly Reply[]): Reply[] {
  const progressOf = ({ body }: Reply) => {
    const { committed = -1, released = 0, refunded = 0 } = body.reservation ?? body
    return committed + released + refunded
  }
  return replies.toSorted((one, other) => progressOf(one) - progressOf(other))
}
