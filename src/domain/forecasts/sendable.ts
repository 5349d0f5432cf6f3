import type { CountedValue, Counts, QuotaKind } from '../quotas/quota-settings.ts'

/** What of a quota decides about a kind of message: of one that is stored, or as the API shows it. */
interface Counted {
  readonly kind: QuotaKind
  readonly limit: number | null
  readonly rolled_over: number
  readonly overage_limit: number
  readonly per: CountedValue | null
  readonly counts: Counts
  /** Null if it counts each value by itself. */
  readonly used: number | null
  readonly reserved: number | null
  readonly countries: readonly string[] | null
  readonly message_types: readonly string[] | null
}

/** A kind of messages, as far as quotas distinguish them: quotas with a scope count only messages that name one of its values. */
export interface MessageKind {
  country: string | null
  message_type: string | null
}

/** A kind of message that a quota counts: the first country and type of its scope. */
export function messageKindOf({ countries, message_types }: Pick<Counted, 'countries' | 'message_types'>): MessageKind {
  return { country: countries?.[0] ?? null, message_type: message_types?.[0] ?? null }
}

/**
 * How many units of a kind of message a user could send now: what the matching grants have left, overage included, up to
 * the headroom of each matching cap. Caps that count each value by itself are left out.
 *
 * @param quotas all live quotas of the user, and no others
 * @returns null if nothing bounds it
 */
export function sendableUnits(quotas: readonly Counted[], kind: MessageKind): number | null {
  const matching = quotas.filter(quota => quota.per === null && counts(quota, kind))
  const left = (of: QuotaKind) => matching.filter(quota => quota.kind === of).map(headroom)
  const units = Math.min(
    left('grant').reduce((sum, one) => sum + one, 0),
    ...left('cap'),
  )
  return Number.isFinite(units) ? units : null
}

/** The units that a user can still send of the messages that a quota counts. */
export interface Sendable extends MessageKind {
  /** Null: nothing bounds it. */
  units: number | null
}

/** Whether a quota counts a kind of message. */
export function counts(
  { countries, message_types }: Pick<Counted, 'countries' | 'message_types'>,
  { country, message_type }: MessageKind,
): boolean {
  const isIn = (list: readonly string[] | null, value: string | null) =>
    list === null || (value !== null && list.includes(value))
  return isIn(countries, country) && isIn(message_types, message_type)
}

function headroom({ limit, rolled_over, overage_limit, used, reserved, counts }: Counted): number {
  if (limit === null) return Number.POSITIVE_INFINITY
  const left = Math.max(0, limit + rolled_over + overage_limit - (used ?? 0) - (reserved ?? 0))
  return counts === 'messages' && left > 0 ? Number.POSITIVE_INFINITY : left
}
