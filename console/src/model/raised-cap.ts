import { CONTINUED_BY, CONTINUES, RAISED_FROM } from '../../../src/domain/forecasts/raised-cap.ts'
import type { Api } from '../api/types.ts'

type Quota = Api['SmsQuota']

/** The API accepts 16, and raising adds two. */
const MAX_KEYS = 14

/** Whether the limit of a cap can be raised for its current window only. */
export function canRaiseForWindow({ kind, limit, period, per, window_end, expires_at, metadata }: Quota): boolean {
  const endsLater = window_end !== null && expires_at !== window_end
  return (
    kind === 'cap' &&
    per === null &&
    limit !== null &&
    period !== null &&
    endsLater &&
    Object.keys(metadata).length <= MAX_KEYS
  )
}

/** The cap that follows, as the API creates it: the same cap from the end of the window on. */
export function followingCap(cap: Quota) {
  const { user_id, kind, name, limit, period, anchor, time_zone, per, counts, expires_at, priority } = cap
  const { countries, message_types, alert_at, metadata, window_end, id } = cap
  return {
    ...{ user_id, kind, name, limit, period, anchor, time_zone, per, counts, expires_at, priority },
    ...{ countries, message_types, alert_at },
    starts_at: window_end,
    metadata: { ...metadata, [CONTINUES]: String(id) },
  }
}

export interface Raise {
  from: number
  to: number
  until: string
}

/** The raise that a cap has now; null if it has none. */
export function currentRaise(quota: Quota): Raise | null {
  return quota.status === 'expired' || quota.status === 'deleted' ? null : raiseOf(quota)
}

/**
 * Marks raised caps and those that follow them as the console does when it raises one. Users do not read metadata, but see from two
 * caps what becomes of a limit: one ends with its window, and a lower one that is else the same begins then.
 */
export function withMarks(quotas: readonly Quota[]): Quota[] {
  const marked = new Map<number, Quota['metadata']>()
  for (const next of quotas.filter(({ kind, status }) => kind === 'cap' && status === 'scheduled')) {
    const raised = quotas.find(quota => isFollowedBy(quota, next))
    if (raised === undefined) continue
    marked.set(raised.id, { [RAISED_FROM]: String(next.limit), [CONTINUED_BY]: String(next.id) })
    marked.set(next.id, { [CONTINUES]: String(raised.id) })
  }
  return quotas.map(quota => ({ ...quota, metadata: { ...quota.metadata, ...marked.get(quota.id) } }))
}

function isFollowedBy(quota: Quota, next: Quota): boolean {
  const termsOf = ({ kind, name, period, anchor, time_zone, counts, countries, message_types }: Quota) =>
    JSON.stringify([kind, name, period, anchor, time_zone, counts, countries, message_types])
  const endsWithWindow = quota.expires_at !== null && quota.expires_at === quota.window_end
  const isHigher = quota.limit !== null && next.limit !== null && quota.limit > next.limit
  return endsWithWindow && quota.expires_at === next.starts_at && isHigher && termsOf(quota) === termsOf(next)
}

/** The raises that caps have now, by the id of the cap. The cap that follows may have got another limit since. */
export function raisesOf({ items }: { items: readonly Quota[] }): ReadonlyMap<number, Raise> {
  return new Map(
    items.flatMap(quota => {
      const raise = currentRaise(quota)
      if (raise === null) return []
      const following = items.find(({ id }) => String(id) === quota.metadata[CONTINUED_BY])
      const from = following === undefined ? raise.from : following.limit
      return from !== null && from < raise.to ? [[quota.id, { ...raise, from }] as const] : []
    }),
  )
}

/** The raise that a change made; null if it made none. */
export function raiseOf({
  limit,
  metadata,
  expires_at,
}: Pick<Api['QuotaAsShown'], 'limit' | 'metadata' | 'expires_at'>) {
  const from = metadata?.[RAISED_FROM]
  if (from === undefined || limit == null || expires_at == null || limit <= Number(from)) return null
  return { from: Number(from), to: limit, until: expires_at } satisfies Raise
}
