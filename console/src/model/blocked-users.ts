import type { Api } from '../api/types.ts'
import type { NamedUser } from './addresses.ts'
import { holdsFor } from './pauses.ts'
import { isBlock } from './quota-status.ts'
import { type Answer, covers, generalAnswer } from './scopes.ts'

type Denial = Api['DenialRecord']
type Alert = Api['QuotaAlerts']['items'][number]
type Quota = Api['SmsQuota']
type Summary = Api['QuotaSummary']
/** What blocks users: quotas at 100% in their window, latest first, and the latest denials of the last hour. */
export interface Blocks {
  alerts: Alert[]
  denials: Api['DenialRecord'][]
  /** The start of the hour. */
  from: string
  /** Whether there are more than were read. */
  hasMore: boolean
}

/** A user whose messages were denied, or who has used up a quota. */
export interface BlockedUser extends NamedUser {
  /** The denials of the last hour that were read, newest first. */
  denials: Denial[]
  usedUp: Quota[]
}

/** Joins denials and used-up quotas by user, most urgent first. A quota with overage left is not used up at 100%. */
export function blockedUsersOf({ alerts, denials }: Blocks): BlockedUser[] {
  const users = new Map<number, BlockedUser>()
  const entryOf = ({ user_id, user_ref, user_name }: NamedUser) => {
    const entry = users.get(user_id) ?? { user_id, user_ref, user_name, denials: [], usedUp: [] }
    users.set(user_id, entry)
    return entry
  }
  for (const denial of denials) entryOf(denial).denials.push(denial)
  for (const { quota } of alerts) {
    if (quota.status === 'exhausted') entryOf(quota).usedUp.push(quota)
  }
  const isOnPurpose = (user: BlockedUser) => Number(stillBlocking(user, undefined).isOnPurpose)
  return [...users.values()].toSorted(
    (one, other) => isOnPurpose(one) - isOnPurpose(other) || deniedOf(other).count - deniedOf(one).count,
  )
}

/** The log takes this many denials of a user at once, and then fewer than are made (docs/decisions/usage.md). */
const LOGGED_AT_ONCE = 30

/** The denials of a user that were read, with those that the log left out; `isAtLeast` if there may be more. */
export function deniedOf({ denials }: BlockedUser): { count: number; isAtLeast: boolean } {
  const count = denials.reduce((sum, { skipped }) => sum + 1 + (skipped ?? 0), 0)
  return { count, isAtLeast: denials.length >= LOGGED_AT_ONCE || denials.some(({ skipped }) => skipped !== 0) }
}

/** What still blocks a user. What was not intended comes first. */
export interface Blocking {
  denials: Denial[]
  usedUp: Quota[]
  /** Caps that were made to block, and are not among the used-up quotas: nothing counts towards them. */
  blocks: Pick<Quota, 'id' | 'kind' | 'name'>[]
  /** Whether a denial is the work of a cap that was made to block, or of a pause. */
  isByBlock: (denial: Denial) => boolean
  /** Whether all of it is. */
  isOnPurpose: boolean
}

/** What a user's summary says of denied messages and used-up quotas: those that still block. All of them without one. */
export function stillBlocking(user: BlockedUser, summary: Summary | undefined): Blocking {
  const { denials, usedUp } = summary === undefined ? user : confirmedBy(summary, user)
  const closed = (summary?.caps ?? []).filter(({ limit }) => limit === 0)
  const ids = new Set([...user.usedUp.filter(isBlock).map(({ id }) => id), ...closed.map(({ quota_id }) => quota_id)])
  const isByBlock = ({ reason, limiting_quota_id }: Denial) =>
    reason === 'destination_paused' || (limiting_quota_id !== null && ids.has(limiting_quota_id))
  const blocks = closed
    .map(({ quota_id, name }) => ({ id: quota_id, kind: 'cap' as const, name }))
    .filter(({ id }) => denials.some(denial => denial.limiting_quota_id === id))
    .filter(({ id }) => !usedUp.some(quota => quota.id === id))
  return {
    denials: denials.toSorted((one, other) => Number(isByBlock(one)) - Number(isByBlock(other))),
    usedUp: usedUp.toSorted((one, other) => Number(isBlock(one)) - Number(isBlock(other))),
    blocks,
    isByBlock,
    isOnPurpose: denials.every(isByBlock) && usedUp.every(isBlock),
  }
}

function confirmedBy(summary: Summary, { denials, usedUp }: BlockedUser): Pick<Blocking, 'denials' | 'usedUp'> {
  const answers = answersOf(summary)
  return {
    // A denial after the summary was read is news.
    denials: denials.filter(denial => denial.at > summary.as_of || isStillDenied(denial, summary, answers)),
    usedUp: usedUp.filter(quota => answers.some(answer => answer.denial !== null && covers(quota, answer))),
  }
}

function isStillDenied(denial: Denial, { paused }: Summary, answers: readonly [Answer, ...Answer[]]): boolean {
  return paused.some(pause => holdsFor(pause, denial)) || isDenied(denial, answerTo(denial, answers))
}

/** The first answer is for messages that name neither country nor type. */
function answersOf(summary: Summary): [Answer, ...Answer[]] {
  return [generalAnswer(summary), ...summary.scopes]
}

/** What a user can send of the messages that a quota counts: null is unlimited. Of several kinds, the first. */
export function sendableBeside(quota: Quota, summary: Summary): number | null {
  const answers = answersOf(summary)
  return (answers.find(answer => covers(quota, answer)) ?? answers[0]).available
}

/** Whether the message would be denied again. */
function isDenied({ units, allow_partial }: Denial, { available, denial }: Answer): boolean {
  return denial !== null || (!allow_partial && available !== null && available < units)
}

/** The answer that names most of a message's country and type. The first of the answers names neither. */
function answerTo({ country, message_type }: Denial, answers: readonly [Answer, ...Answer[]]): Answer {
  const named = ({ countries, message_types }: Answer) =>
    (countries === null ? 0 : 1) + (message_types === null ? 0 : 1)
  const applies = ({ countries, message_types }: Answer) =>
    lists(countries, country) && lists(message_types, message_type)
  return answers.filter(applies).reduce((most, answer) => (named(answer) > named(most) ? answer : most), answers[0])
}

function lists(values: readonly string[] | null, value: string | null): boolean {
  return values === null || (value !== null && values.includes(value))
}

/** Why the latest message was denied: by a block, or for its own reason; without one, what the used-up quotas are. */
export function whyBlocked(
  latest: Denial | null,
  { usedUp, isByBlock }: Pick<Blocking, 'usedUp' | 'isByBlock'>,
): 'block' | 'exhausted' | Denial {
  if (latest === null) return usedUp.every(isBlock) ? 'block' : 'exhausted'
  // The cap of a block may block more than the latest message.
  return isByBlock(latest) && latest.reason !== 'destination_paused' ? 'block' : latest
}

/** When the latest denied message could be sent, or when the first used-up quota has units again; null: waiting does not help. */
export function blockedUntil(latest: Denial | null, { usedUp }: Pick<Blocking, 'usedUp'>): string | null {
  if (latest !== null) return latest.retry_at
  return usedUp.flatMap(({ window_end }) => window_end ?? []).toSorted()[0] ?? null
}

/** A user with what still blocks. */
export interface ShownUser extends BlockedUser {
  blocking: Blocking
  summary: Summary | undefined
}

/** Users who are blocked now, those on purpose apart, and those who can send again. */
export function groupsOf(
  users: readonly BlockedUser[],
  summaries: ReadonlyMap<number, Summary>,
): Record<'now' | 'onPurpose' | 'again', ShownUser[]> {
  const shown = users.map(user => {
    const summary = summaries.get(user.user_id)
    return { ...user, summary, blocking: stillBlocking(user, summary) }
  })
  const groupOf = ({ blocking: { denials, usedUp, isOnPurpose } }: ShownUser) =>
    denials.length + usedUp.length === 0 ? 'again' : isOnPurpose ? 'onPurpose' : 'now'
  return { now: [], onPurpose: [], again: [], ...Object.groupBy(shown, groupOf) }
}
