import type { Denial } from './denial.ts'
import { isExtra } from './extra-grant.ts'
import { forecast, type PastUsage } from './forecast.ts'
import { type PausesByCountry, pausedBy } from './pause.ts'
import { averageMs } from './period.ts'
import { isLive, type Quota, remainingOf, roll, shownWindowEnd, statusOf } from './quota.ts'
import { RAISED_FROM } from './raised-cap.ts'
import type { DenialReason } from './reservation.ts'
import { messageKindOf, sendableUnits } from './sendable.ts'
import { type Sending, sendingOf } from './sending.ts'
import { DAY_MS, type EpochMs } from './time.ts'

/** Why a user needs a look, the most urgent first: messages are denied, or soon will be. */
export const RISKS = ['blocked', 'near_limit', 'running_out', 'ending'] as const
export type Risk = (typeof RISKS)[number]

/** How far ahead units that run out or end are looked for. */
export const AHEAD_MS = 7 * DAY_MS

/** A user at risk, by the most urgent of the reasons. */
export interface AtRisk {
  user_id: number
  state: Risk
  /** Of users who are blocked: why. */
  reason: DenialReason | null
  /** The quota that blocks, is near its limit or ends. */
  quota: Pick<Quota, 'id' | 'kind' | 'name'> | null
  /** Of a quota near its limit: what is used or reserved. */
  used_percent: number | null
  /** What can be sent of the messages that the quota counts, else of those without country and type; null: nothing bounds it. */
  sendable: number | null
  /** When messages can be sent again, the window resets, the units run out, or the quota ends; null: never, or not known. */
  until: EpochMs | null
}

/** What is known of a user who may be at risk. */
export interface Suspect {
  user_id: number
  /** The user's undeleted quotas that have not expired, as stored. */
  quotas: readonly Quota[]
  /** The latest denials of the last hour, newest first. */
  denials: readonly Denial[]
  /** When the units run out; see `runsOutSoon`. */
  runsOutAt: EpochMs | null
}

/** What puts a user at risk; null: nothing. What was blocked on purpose, by a pause or a cap of 0, does not count. */
export function riskOf(
  { user_id, quotas, denials, runsOutAt }: Suspect,
  pauses: PausesByCountry,
  now: EpochMs,
): AtRisk | null {
  const rolled = quotas.map(quota => roll(quota, now).quota)
  const live = rolled.filter(quota => isLive(quota, now))
  const sending = sendingOf(user_id, rolled, now)
  const none = { user_id, reason: null, quota: null, used_percent: null, sendable: sending.available }

  const found = blockedBy({ user_id, live, denials }, [{ ...ANY, ...sending }, ...sending.scopes], pauses, now)
  if (found !== undefined) {
    const { reason, limiting_quota_id, retry_at } = found.denial
    const quota = live.find(({ id }) => id === limiting_quota_id) ?? null
    return { ...none, state: 'blocked', reason, quota, sendable: found.available, until: retry_at }
  }
  const [near] = live
    .filter(quota => quota.per === null && statusOf(quota, now) === 'active' && hasReached(quota))
    .toSorted((one, other) => shareOf(other) - shareOf(one))
  if (near !== undefined) {
    // Rounded down: 100% is only what has nothing left.
    const used_percent = Math.min(99, Math.floor(shareOf(near) * 100))
    const sendable = sendableUnits(live, messageKindOf(near))
    return { ...none, state: 'near_limit', quota: near, used_percent, sendable, until: shownWindowEnd(near) }
  }
  if (runsOutAt !== null && runsOutAt > now && runsOutAt <= now + AHEAD_MS)
    return { ...none, state: 'running_out', until: runsOutAt }
  const [ending] = live
    .filter(quota => endsSoon(quota, now))
    .toSorted((one, other) => (one.expires_at ?? 0) - (other.expires_at ?? 0))
  return ending === undefined ? null : { ...none, state: 'ending', quota: ending, until: ending.expires_at }
}

/* ── Blocked ────────────────────────────────────────────────────────────────────────────────────────────────────── */

interface Scope {
  readonly countries: readonly string[] | null
  readonly message_types: readonly string[] | null
}

/** The answer to messages of a scope. */
type Answer = Scope & Sending
type Denying = Answer & { denial: NonNullable<Sending['denial']> }

const ANY: Scope = { countries: null, message_types: null }

const isBlock = ({ kind, limit }: Pick<Quota, 'kind' | 'limit'>) => kind === 'cap' && limit === 0

/** The answer by which a message that was denied would be denied again, or by which a used-up quota denies; undefined: none. */
function blockedBy(
  { user_id, live, denials }: { user_id: number; live: readonly Quota[]; denials: readonly Denial[] },
  answers: readonly [Answer, ...Answer[]],
  pauses: PausesByCountry,
  now: EpochMs,
): Denying | undefined {
  const blocks = new Set(live.filter(isBlock).map(({ id }) => id))
  const isByMistake = (answer: Answer): answer is Denying =>
    answer.denial !== null && !blocks.has(answer.denial.limiting_quota_id ?? 0)
  for (const { country, message_type, units, allow_partial } of denials) {
    if (pausedBy(pauses, { user_id, country, message_type }, now) !== undefined) continue
    const answer = answerTo({ country, message_type }, answers)
    if (isByMistake(answer)) return answer
    const isTooLarge = !allow_partial && answer.available !== null && answer.available < units
    // Small messages can be sent: the large one lacks units of no quota in particular.
    if (answer.denial === null && isTooLarge) return { ...answer, denial: TOO_LARGE }
  }
  const usedUp = live.filter(quota => statusOf(quota, now) === 'exhausted' && !isBlock(quota))
  return answers.filter(isByMistake).find(answer => usedUp.some(quota => covers(quota, answer)))
}

const TOO_LARGE: NonNullable<Sending['denial']> = {
  reason: 'quota_exhausted',
  limiting_quota_id: null,
  retry_at: null,
}

/** The answer that names most of a message's country and type. */
function answerTo(message: Pick<Denial, 'country' | 'message_type'>, answers: readonly [Answer, ...Answer[]]): Answer {
  const named = ({ countries, message_types }: Scope) => Number(countries !== null) + Number(message_types !== null)
  return answers
    .filter(
      ({ countries, message_types }) => lists(countries, message.country) && lists(message_types, message.message_type),
    )
    .reduce((most, answer) => (named(answer) > named(most) ? answer : most), answers[0])
}

/** Whether a quota counts the messages of an answer, which are all counted alike. */
function covers({ countries, message_types }: Scope, messages: Scope): boolean {
  return lists(countries, messages.countries?.[0] ?? null) && lists(message_types, messages.message_types?.[0] ?? null)
}

function lists(values: readonly string[] | null, value: string | null): boolean {
  return values === null || (value !== null && values.includes(value))
}

/* ── Near, running out, ending ──────────────────────────────────────────────────────────────────────────────────── */

/** Whether a quota has reached an alert below 100%, and has not fallen below it. */
function hasReached({ alert_at, alerted, limit, rolled_over, used }: Quota): boolean {
  const whole = limit === null ? null : limit + rolled_over
  return whole !== null && alerted.some(percent => alert_at.includes(percent) && used * 100 >= percent * whole)
}

/** The share of its units that a quota has used or reserved. */
function shareOf({ limit, rolled_over, used, reserved }: Quota): number {
  const whole = (limit ?? 0) + rolled_over
  return whole === 0 ? 1 : (used + reserved) / whole
}

/** That extra units end needs no look, and a raised cap is followed by one with the old limit. */
function endsSoon(quota: Quota, now: EpochMs): boolean {
  const { kind, expires_at, metadata } = quota
  if (kind !== 'grant' || expires_at === null || expires_at > now + AHEAD_MS) return false
  return !isExtra(quota) && !(RAISED_FROM in metadata) && remainingOf(quota) !== 0
}

/** Caps that reset within the week: a user who is stopped only by them can go on before it is over. */
const isShort = ({ period }: Pick<Quota, 'period'>) => period !== null && averageMs(period) <= AHEAD_MS

/** When a user's units run out at the past rate of use, within the week; null: not then, or not known. @param quotas as stored */
export function runsOutSoon(quotas: readonly Quota[], past: PastUsage, now: EpochMs): EpochMs | null {
  const rolled = quotas.map(quota => roll(quota, now).quota)
  const expected = forecast(rolled, past, now)
  if (expected === null) return null
  const isCapped = rolled.some(
    quota => quota.kind === 'cap' && quota.per === null && isLive(quota, now) && isShort(quota),
  )
  const end = isCapped ? expected.units_run_out_at : expected.runs_out_at
  const at = end === null ? null : Date.parse(end)
  return at !== null && at > now && at <= now + AHEAD_MS ? at : null
}

/** Users at risk, the most urgent first; of equal risk, those with the nearest time. */
export function byUrgency(users: readonly AtRisk[]): AtRisk[] {
  const rank = ({ state }: AtRisk) => RISKS.indexOf(state)
  const time = ({ until }: AtRisk) => until ?? Number.POSITIVE_INFINITY
  return users.toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      (other.used_percent ?? 0) - (one.used_percent ?? 0) ||
      Math.sign(time(one) - time(other)) ||
      one.user_id - other.user_id,
  )
}
