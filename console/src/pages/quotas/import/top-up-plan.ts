import { csvLine } from '../../../../../src/domain/csv.ts'
import type { Api } from '../../../api/types.ts'
import { quotaName } from '../../../components/quota-labels.ts'
import { STATUS_LABELS } from '../../../components/status-badge.tsx'
import { formatTimestamp, formatUnits, LOCAL_ZONE } from '../../../formats.ts'
import { manyTexts } from '../../../texts/many-quotas.ts'
import type { Extra } from '../extra-grants.ts'
import type { Failure, Progress } from '../jobs/job.ts'
import type { LineFailure, UserLine } from './rows.ts'

/** Who of a file gets units, and who is left out and why. */

type Quota = Api['SmsQuota']

const { topUp, jobs } = manyTexts

/** Which grant of each user gets the units: the one with this period, or the one-time one. */
export const WHICH = ['hour', 'day', 'week', 'month', 'year', 'once'] as const
export type Which = (typeof WHICH)[number]

const periodOf = ({ period }: Quota): Which => period ?? 'once'
const isExtra = ({ metadata }: Quota) => 'extends_quota' in metadata
const isLive = ({ status }: Quota) => status === 'active' || status === 'exhausted'

/** What of a user's quotas matters. */
export interface UserGrants {
  /** Grants that units can be added to, the one that pays first in front. */
  fitting: readonly Quota[]
  /** Extra units that the user has had before, as far as they are not deleted. */
  extras: readonly Quota[]
  /** Why none fits. */
  whyNone: string
}

export function grantsFor(quotas: readonly Quota[], which: Which): UserGrants {
  const fitting = quotas
    .filter(quota => quota.kind === 'grant' && !isExtra(quota) && periodOf(quota) === which)
    .filter(quota => isLive(quota) && quota.limit !== null)
    .sort((one, other) => one.priority - other.priority || one.id - other.id)
  return { fitting, extras: quotas.filter(isExtra), whyNone: whyNone(quotas, which) }
}

function whyNone(quotas: readonly Quota[], which: Which): string {
  const { noQuota, onlyCaps, unlimited, notLive, onlyOneTime, otherPeriod } = topUp.why
  if (quotas.length === 0) return noQuota
  const grants = quotas.filter(quota => quota.kind === 'grant' && !isExtra(quota))
  const live = grants.filter(isLive)
  const ofPeriod = grants.filter(quota => periodOf(quota) === which)
  const limitless = live.find(quota => periodOf(quota) === which && quota.limit === null)
  const [dead] = ofPeriod.length > 0 ? ofPeriod : grants
  const [other] = live
  if (dead === undefined) return onlyCaps
  if (limitless !== undefined) return unlimited(quotaName(limitless))
  if (ofPeriod.length > 0 || other === undefined) return notLive(quotaName(dead), STATUS_LABELS[dead.status])
  const repeating = live.find(quota => quota.period !== null)
  if (repeating === undefined) return onlyOneTime(quotaName(other))
  return otherPeriod(quotaName(repeating), topUp.periods[periodOf(repeating)])
}

/** A user of the file who gets units. */
export interface Gift extends Extra {
  line: number
  place: string
  /** Of the extra grant. Derived from what a repeated file shares, so that it gives nothing twice. */
  reference: string
}

export interface Plan {
  gifts: readonly Gift[]
  left: readonly LineFailure[]
  /** What the reader should know of those who get units. */
  notes: readonly Failure[]
}

/** @param units for lines without units of their own */
export function planOf(
  users: readonly UserLine[],
  grantsOf: ReadonlyMap<number, UserGrants>,
  { units, reason, isExtraGrant }: { units: number; reason: string; isExtraGrant: boolean },
): Plan {
  const gifts: Gift[] = []
  const left: LineFailure[] = []
  const notes: Failure[] = []
  for (const { line, user_id, units: ownUnits } of users) {
    const { fitting = [], extras = [], whyNone: why = topUp.why.noQuota } = grantsOf.get(user_id) ?? {}
    const place = `${jobs.line(line)}: ${topUp.user(user_id)}`
    const leaveOut = (reason: string) => left.push({ line, user: String(user_id), place, reason })
    const [quota] = fitting
    if (quota === undefined) {
      leaveOut(why)
      continue
    }
    const extra = { quota, units: ownUnits ?? units }
    const reference = referenceOf(extra, reason)
    const same = isExtraGrant && extras.find(({ external_ref }) => external_ref === reference)
    if (same) {
      leaveOut(topUp.why.hadBefore(formatTimestamp(same.created_at)))
      continue
    }
    gifts.push({ ...extra, line, place, reference })
    if (fitting.length > 1) notes.push({ place, reason: topUp.several(fitting.length, quotaName(quota)) })
    const earlier = extras.find(isLive)
    if (earlier !== undefined)
      notes.push({
        place,
        reason: topUp.hasExtra(
          formatUnits(earlier.limit ?? 0),
          formatTimestamp(earlier.created_at),
          earlier.metadata.reason ?? '',
        ),
      })
  }
  return { gifts, left, notes }
}

/** The same units for the same reason in the same window of a grant are the same gift. */
function referenceOf({ quota: { id, window_start }, units }: Extra, reason: string): string {
  return `top-up-${id}-${Date.parse(window_start)}-${units}-${hashOf(reason.trim().toLowerCase())}`
}

/** FNV-1a. The browser's own digests need HTTPS. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(36)
}

/** For example "500 units each". */
export function unitsText(gifts: readonly Gift[]): string {
  const [first] = gifts
  const sum = gifts.reduce((total, { units }) => total + units, 0)
  if (first === undefined || gifts.some(({ units }) => units !== first.units)) return topUp.unitsInAll(sum)
  return topUp.unitsEach(first.units)
}

/** For example "until 1 Dec 2026, 00:00 (Europe/Berlin)". */
export function untilText(gifts: readonly Gift[], isExtraGrant: boolean): string {
  if (!isExtraGrant) return topUp.fromNowOn
  const [end, ...others] = new Set(gifts.map(({ quota }) => quota.window_end))
  if (end === undefined || others.length > 0) return topUp.untilOwnEnd
  return end === null ? topUp.withoutEnd : topUp.until(formatTimestamp(end), LOCAL_ZONE)
}

/** One line for each line of the file, in its order. @param progress null before the units are given */
export function reportOf(
  { gifts, left }: Pick<Plan, 'gifts' | 'left'>,
  isExtraGrant: boolean,
  progress: Progress | null,
): string {
  const { columns, results } = topUp.report
  const failures = Map.groupBy(progress?.failures ?? [], ({ subject }) => subject)
  const listed = [...failures.keys()].length
  const isCertain = progress !== null && progress.done >= gifts.length && progress.failed <= listed
  const rows = [
    ...left.map(({ line, user, reason }) => [line, user, results.left, reason, '', '', '']),
    ...gifts.map(({ line, place, quota, units, reference }) => {
      const failed = failures.get(place) ?? failures.get(quota.id)
      const why = failed?.map(({ reason }) => reason).join('; ') ?? ''
      const settled = isCertain ? results.received : results.unknown
      const result = progress === null ? results.would : failed === undefined ? settled : results.failed
      const end = isExtraGrant ? (quota.window_end ?? '') : ''
      return [line, quota.user_id, result, why, isExtraGrant ? reference : quotaName(quota), units, end]
    }),
  ].sort(([one], [other]) => Number(one) - Number(other))
  return [columns, ...rows].map(cells => csvLine(cells.map(String))).join('')
}
