/** What must hold of each answer, by itself and beside the answers before it. */
import type { EpochMs } from '../../../src/domain/time.ts'
import type { Reply } from './caller.ts'
import type { Answer } from './deployment.ts'
import { isUnknown } from './messages.ts'
import { type Books, type Entry, goesBack, isDenied, type ShownReservation } from './record.ts'

/** A reservation as the API shows it; with `replayed` where a command is answered. */
type Shown = ShownReservation & { unfunded: number; expires_at: string | null; replayed?: boolean }

const nameOf = ({ user, id }: Entry) => `${user} ${id}`

function contradict(books: Books, what: string, { status, body }: Answer): void {
  books.contradictions.push(`${what}: ${status} ${JSON.stringify(body)}`)
}

/** Records the answer to a command that reserves or consumes, be it the first of its id or not. */
export function recordDecision(books: Books, entry: Entry, reply: Reply, isOwners: boolean): void {
  const { status, body } = reply
  if (status === 200 && body.granted === false) {
    recordDenial(books, entry, reply)
  } else if (status === 200) {
    recordGrant(books, entry, reply, isOwners)
  } else if (status === 409 && body.code === 'reservation_closed') {
    books.count('closed')
    checkReservation(books, nameOf(entry), reply, body.reservation)
    books.note(entry, body.reservation, isOwners)
  } else {
    contradict(books, JSON.stringify(entry.body), reply)
  }
}

/** Answers may overtake each other, but a call that began after the first answer must not contradict it. */
const wasShown = ({ shown, firstShownAt }: Entry, { begunAt }: Reply) => shown !== undefined && firstShownAt < begunAt

function recordDenial(books: Books, entry: Entry, reply: Reply): void {
  if (wasShown(entry, reply)) contradict(books, `${nameOf(entry)} was granted, then denied`, reply)
  if (entry.force) contradict(books, `${nameOf(entry)} was forced, and denied`, reply)
  const { reason } = reply.body
  books.count(
    reason === 'no_quota' ? 'denied without quota' : reason === 'cap_reached' ? 'denied by a cap' : 'denied by grants',
  )
  checkDenial(books, entry, reply)
}

function recordGrant(books: Books, entry: Entry, reply: Reply, isOwners: boolean): void {
  const { replayed, units } = reply.body
  // A sender skips the message of a replayed reservation, and sends every other: never twice, never not at all.
  if (wasShown(entry, reply) && !replayed) {
    contradict(books, `${nameOf(entry)} was granted before, and is not replayed`, reply)
  }
  if (entry.begun === 1 && !reply.isRepeated && replayed) {
    contradict(books, `${nameOf(entry)} is replayed at its first call`, reply)
  }
  if (entry.allowsPart ? units > entry.asked : units !== entry.asked) {
    contradict(books, `${nameOf(entry)} asked for ${entry.asked} units`, reply)
  }
  checkReservation(books, nameOf(entry), reply, reply.body)
  books.note(entry, reply.body, isOwners)
  books.acknowledged += 1
  books.count(replayed ? 'replayed' : 'granted')
  if (replayed) return
  if (units < entry.asked) books.count('granted in part')
  if (entry.force) books.count(isUnknown(entry.user) ? 'forced without account' : 'forced')
}

/** Records the answer to a check, which is what a reserve would be answered. */
export function recordCheck(books: Books, asked: Pick<Entry, 'user' | 'asked' | 'allowsPart'>, reply: Reply): void {
  const { status, body } = reply
  if (status !== 200) {
    contradict(books, 'a check', reply)
    return
  }
  books.count(body.granted ? 'checks granted' : 'checks denied')
  if (!body.granted) checkDenial(books, asked, reply)
  else if (body.units !== asked.asked || (body.remaining !== null && body.remaining < body.units)) {
    contradict(books, `a check of ${asked.asked} units`, reply)
  }
}

/** A denial names the reason and the limit, and what is left does not suffice. */
function checkDenial(books: Books, asked: Pick<Entry, 'user' | 'asked' | 'allowsPart'>, reply: Reply): void {
  const { reason, remaining, limiting_quota_id: limiting, retry_at } = reply.body
  const { user } = asked
  const suffices = remaining === null || remaining >= (asked.allowsPart ? 1 : asked.asked)
  // Every other user has grants without scope that are never deleted.
  const isRight = isUnknown(user)
    ? reason === 'no_quota' && remaining === 0 && limiting === null && retry_at === null
    : (reason === 'cap_reached' || reason === 'quota_exhausted') && typeof limiting === 'number' && !suffices
  if (!isRight || (retry_at !== null && Date.parse(retry_at) < reply.clock)) {
    contradict(books, `a denial to user ${user}, who asked for ${asked.asked}`, reply)
  }
  if (typeof limiting === 'number') {
    books.limiting.set(limiting, { user, kind: reason === 'cap_reached' ? 'cap' : 'grant' })
  }
}

/** A reservation adds up, and is not open past its expiry: every command closes it first. */
function checkReservation(books: Books, name: string, reply: Reply, shown: Shown): void {
  const { units, committed, released, refunded, unfunded, draws, expires_at } = shown
  const paid = draws.reduce((sum, draw) => (draw.kind === 'grant' ? sum + draw.units : sum), unfunded)
  const addsUp =
    committed + released <= units &&
    refunded <= committed &&
    paid === units &&
    draws.every(draw => draw.kind === 'grant' || draw.units === units)
  const isOverdue = expires_at !== null && Date.parse(expires_at) <= reply.clock
  if (!addsUp) contradict(books, `${name} does not add up`, reply)
  if (isOverdue) contradict(books, `${name} is open after its expiry, at ${new Date(reply.clock).toISOString()}`, reply)
}

export type Settlement = 'commit' | 'release' | 'refund'

const SETTLED = { commit: 'committed', release: 'released', refund: 'refunded' } as const

/** Records the answer to a settlement of a reservation that its owner knows. `total`: all that is possible if left out. */
export function recordSettlement(
  books: Books,
  entry: Entry,
  op: Settlement,
  total: number | undefined,
  reply: Reply,
): void {
  const { status, body } = reply
  const shown: Shown | undefined = status === 200 ? body : body.reservation
  const isRefused = body.code === 'reservation_closed' || body.code === 'exceeds_committed'
  if (shown === undefined || (status !== 200 && !isRefused)) {
    contradict(books, `${op} ${nameOf(entry)}`, reply)
    return
  }
  if (status === 200) {
    const done = shown[SETTLED[op]]
    books.acknowledged += 1
    books.count(SETTLED[op])
    if (done < shown.units) books.count('settled in part')
    if (total !== undefined && done < total) contradict(books, `${op} ${nameOf(entry)} to ${total}`, reply)
  }
  checkReservation(books, nameOf(entry), reply, shown)
  books.note(entry, shown, true)
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
export function recordFind(books: Books, entry: Entry, known: Known, reply: Reply, isOwners: boolean): void {
  const { status, body } = reply
  if (status === 404) {
    books.count('not found')
    if (known.shown !== undefined) contradict(books, `${nameOf(entry)} was granted, and is not found`, reply)
  } else if (status === 200) {
    books.count('found')
    if (known.isDenied && entry.begun === known.begun) {
      contradict(books, `${nameOf(entry)} was denied, and is found`, reply)
    }
    if (known.shown !== undefined && goesBack(known.shown, body)) {
      contradict(books, `${nameOf(entry)} was ${JSON.stringify(known.shown)}, and is found otherwise`, reply)
    }
    checkReservation(books, nameOf(entry), reply, body)
    books.note(entry, body, isOwners)
  } else {
    contradict(books, `finding ${nameOf(entry)}`, reply)
  }
}

/**
 * Records the answers to twins: two calls that ask for the same id at the same time. They describe one reservation, and
 * exactly one of them is the first, unless a caller had no answer at first.
 */
export function recordTwins(books: Books, entry: Entry, replies: readonly Reply[]): void {
  for (const reply of inOrder(replies)) recordDecision(books, entry, reply, true)
  books.count('twins')
  if (replies.some(reply => reply.isRepeated)) return
  books.count('twins without unknown outcome')
  const isDenied = replies.every(({ status, body }) => status === 200 && !body.granted)
  const firsts = replies.filter(({ status, body }) => status === 200 && body.granted && !body.replayed)
  if (!isDenied && firsts.length !== 1) contradictFirsts(books, entry, replies, firsts.length)
}

/**
 * Records the answers to twins that settle to the same total. If the reservation may have expired since its owner's last
 * answer, it is possible that neither of them settled it.
 */
export function recordSettlementByTwins(
  books: Books,
  entry: Entry,
  op: Settlement,
  total: number,
  replies: readonly Reply[],
  now: EpochMs,
): void {
  for (const reply of inOrder(replies)) recordSettlement(books, entry, op, total, reply)
  books.count('settlements by twins')
  if (replies.some(reply => reply.isRepeated)) return
  const firsts = replies.filter(({ status, body }) => status === 200 && !body.replayed)
  const mayHaveExpired = entry.expiresAt !== undefined && entry.expiresAt <= now
  if (firsts.length === 1 || (firsts.length === 0 && mayHaveExpired)) return
  if (firsts.length === 2 && replies.some(reply => mayBeFirstAgain(books, entry, reply))) return
  contradictFirsts(books, entry, replies, firsts.length)
}

function contradictFirsts(books: Books, entry: Entry, replies: readonly Reply[], firsts: number): void {
  const answers = replies.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)
  books.contradictions.push(`of the twins of ${nameOf(entry)}, ${firsts} are the first: ${answers.join(' and ')}`)
}

/**
 * Whether a settlement may be answered as the first though another was. The engine answers so if it finds the settlement
 * after it lost the connection of its commit: it cannot tell whether that commit or another process made it.
 */
function mayBeFirstAgain(books: Books, entry: Entry, { begunAt }: Reply): boolean {
  const hasLost = books.losses.some(at => begunAt < at + LONGEST_LOSS_MS && at < performance.now())
  if (hasLost) books.firstAgain.push(nameOf(entry))
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
