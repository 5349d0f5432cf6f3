import type { Api } from '../api/types.ts'

type Quota = Api['SmsQuota']

/** What a message is, as far as quotas distinguish: quotas with a scope count only messages that name one of its values. */
export interface MessageKind {
  country: string | null
  message_type: string | null
}

/** A kind of message that a quota counts: the first country and type of its scope. */
export function messageKindOf({ countries, message_types }: Pick<Quota, 'countries' | 'message_types'>): MessageKind {
  return { country: countries?.[0] ?? null, message_type: message_types?.[0] ?? null }
}

/**
 * How many units of a kind of message a user could send now: what the matching grants have left, overage included, up to
 * the headroom of each matching cap.
 *
 * @param quotas all live quotas of the user, and no others
 * @returns null if nothing bounds it
 */
export function sendableUnits(quotas: readonly Quota[], kind: MessageKind): number | null {
  const matching = quotas.filter(quota => counts(quota, kind))
  const left = (of: Quota['kind']) => matching.filter(quota => quota.kind === of).map(headroom)
  const units = Math.min(
    left('grant').reduce((sum, one) => sum + one, 0),
    ...left('cap'),
  )
  return Number.isFinite(units) ? units : null
}

/** Whether a quota counts a kind of message. */
export function counts({ countries, message_types }: Quota, { country, message_type }: MessageKind): boolean {
  const isIn = (list: string[] | null, value: string | null) =>
    list === null || (value !== null && list.includes(value))
  return isIn(countries, country) && isIn(message_types, message_type)
}

function headroom({ limit, rolled_over, overage_limit, used, reserved }: Quota): number {
  if (limit === null) return Number.POSITIVE_INFINITY
  return Math.max(0, limit + rolled_over + overage_limit - used - reserved)
}
