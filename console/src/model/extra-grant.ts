import type { Api } from '../api/types.ts'

type Quota = Api['SmsQuota']

/** The API accepts no longer values of metadata. */
export const MAX_REASON = 500

/** Whether a grant gives units to another one for a time. */
export const isExtra = ({ metadata }: Pick<Quota, 'metadata'>) => 'extends_quota' in metadata

/** Units that do not last: a limit has no end of its own, so they are a grant of their own. */
export interface Extra {
  /** The grant that gets the units. */
  quota: Quota
  units: number
  /** When the units end; null for never. */
  end: string | null
}

/** The grant that gives the units, for the same messages, as the API creates it. */
export function extraGrant(extra: Extra, { name, reason }: { name: string; reason: string }) {
  const { id, user_id, countries, message_types } = extra.quota
  return {
    user_id,
    limit: extra.units,
    name: name.slice(0, 120),
    expires_at: extra.end,
    priority: priorityOf(extra),
    countries,
    message_types,
    metadata: { extends_quota: String(id), reason: reason.slice(0, MAX_REASON) },
  }
}

/**
 * Of two grants that end together the older one pays first. If its units could roll over and the extra ones could not, these
 * would be lost: they go first.
 */
function priorityOf({ quota: { priority, rollover_limit, window_end }, end }: Extra): number {
  const isLost = rollover_limit > 0 && end !== null && window_end !== null && Date.parse(end) <= Date.parse(window_end)
  return isLost ? Math.max(0, priority - 1) : priority
}
