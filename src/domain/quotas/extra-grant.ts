/** Units that do not last: a limit has no end of its own, so they are a grant of their own. */

const MAX_NAME = 120
/** How the names of extra grants begin that the service makes; the name of the grant that gets the units follows. */
export const EXTRA_NAME = 'Extra units for'

/** The API accepts no longer values of metadata. */
export const MAX_REASON = 500

/** Whether a grant gives units to another one for a time. */
export const isExtra = ({ metadata }: { readonly metadata: Readonly<Record<string, string>> }) =>
  'extends_quota' in metadata

/** A grant that gets units, and what of it the extra grant takes over: stored, or as the API shows it. */
interface Extended<Time> {
  readonly id: number
  readonly user_id: number
  readonly priority: number
  readonly rollover_limit: number
  readonly window_end: Time | null
  readonly countries: readonly string[] | null
  readonly message_types: readonly string[] | null
}

/** The grant that gives units to another one, for the same messages. */
export function extraGrant<Time extends string | number>(
  { quota, units, end }: { quota: Extended<Time>; units: number; end: Time | null },
  { name, reason }: { name: string; reason: string },
) {
  const { id, user_id, countries, message_types } = quota
  return {
    user_id,
    limit: units,
    name: cut(name, MAX_NAME),
    expires_at: end,
    priority: priorityOf(quota, end),
    countries,
    message_types,
    metadata: { extends_quota: String(id), reason: cut(reason, MAX_REASON) },
  }
}

/** The beginning of a text. Half of an emoji is no text that the database can store. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

/**
 * Of two grants that end together the older one pays first. If its units could roll over and the extra ones could not, these
 * would be lost: they go first. Timestamps of the API, all in UTC, compare as text.
 */
function priorityOf<Time extends string | number>(
  { priority, rollover_limit, window_end }: Extended<Time>,
  end: Time | null,
): number {
  const isLost = rollover_limit > 0 && end !== null && window_end !== null && end <= window_end
  return isLost ? Math.max(0, priority - 1) : priority
}
