/** The users of a round: what each may send. A window of each ends at the round's boundary, or some seconds beside it. */

export interface Chance {
  below(bound: number): number
  oneOf<const T>(list: readonly [T, ...T[]]): T
  /** Whether it happens, with this probability. */
  is(probability: number): boolean
}

export function createChance(random: () => number): Chance {
  const below = (bound: number) => Math.floor(random() * bound)
  return {
    below,
    oneOf: list => list[below(list.length)] ?? list[0],
    is: probability => random() < probability,
  }
}

/** When many windows end at once, and in which zone a day or more ends then. */
interface Boundary {
  readonly at: number
  readonly zone: string
  readonly periods: readonly [Recurring, ...Recurring[]]
}

interface Recurring {
  readonly period: string
  readonly anchor?: string
}

const hour: Recurring = { period: 'hour' }
const day: Recurring = { period: 'day' }

const boundary = (at: string, zone: string, ...more: Recurring[]): Boundary => ({
  at: Date.parse(at),
  zone,
  periods: [hour, day, ...more],
})

export const BOUNDARIES: readonly [Boundary, ...Boundary[]] = [
  boundary('2026-06-15T00:00:00Z', 'UTC', { period: 'week' }, { period: 'month', anchor: '15' }),
  boundary('2026-05-31T22:00:00Z', 'Europe/Berlin', { period: 'month' }, { period: 'week' }),
  boundary('2027-01-01T05:00:00Z', 'America/New_York', { period: 'month' }, { period: 'year' }),
  boundary('2026-03-31T15:00:00Z', 'Asia/Tokyo', { period: 'month', anchor: '1' }, { period: 'year', anchor: '04-01' }),
  boundary('2028-02-28T18:30:00Z', 'Asia/Kolkata', { period: 'month', anchor: '31' }),
  // A repeated hour ends, and a day that has twenty-three.
  boundary('2026-10-25T01:00:00Z', 'Europe/Berlin'),
  boundary('2026-03-29T22:00:00Z', 'Europe/Berlin', { period: 'week' }),
]

export const COUNTRIES = ['DE', 'FR'] as const
export const TYPES = ['otp', 'news'] as const
export const RECIPIENTS = ['+4915112345678', 'anna', 'ben'] as const
export const TAGS = ['sales', 'support'] as const

const iso = (ms: number) => new Date(ms).toISOString()

/** Some further quota, as an administrator also makes them while senders send. */
export function anyQuota(chance: Chance, { at }: Boundary, now: number): object {
  const { below, oneOf, is } = chance
  if (is(0.35)) return cap(chance)
  return {
    limit: 3 + below(12),
    priority: oneOf([50, 100, 100, 200]),
    ...(is(0.3) ? { period: 'hour' } : {}),
    ...(is(0.3) ? { countries: [oneOf(COUNTRIES)] } : {}),
    ...(is(0.3) ? { message_types: [oneOf(TYPES)] } : {}),
    ...(is(0.3) ? { overage_limit: 1 + below(2) } : {}),
    ...(is(0.5) ? { expires_at: iso(Math.max(at, now) + 1_000 * (2 + below(6))) } : {}),
  }
}

function cap({ below, oneOf, is }: Chance): object {
  const per = oneOf([null, 'recipient', 'recipient', 'country', 'tag'])
  if (per === null)
    return { kind: 'cap', period: 'hour', limit: 15 + below(20), ...(is(0.3) ? { countries: ['DE'] } : {}) }
  const period = oneOf(['minute', 'hour'])
  return { kind: 'cap', period, per, counts: oneOf(['units', 'messages']), limit: 3 + below(8) }
}

/** What a user has at first: a grant whose window ends at the boundary, and some of all the rest. */
export function firstQuotas(chance: Chance, bound: Boundary): object[] {
  const { below, oneOf, is } = chance
  const { at, zone, periods } = bound
  const main = {
    ...oneOf(periods),
    time_zone: zone,
    limit: 10 + below(20),
    ...(is(0.5) ? { rollover_limit: 1 + below(6) } : {}),
    ...(is(0.3) ? { overage_limit: 1 + below(3) } : {}),
    ...(is(0.2) ? { opening_used: 1 + below(3) } : {}),
  }
  const quotas: object[] = [main]
  if (is(0.6)) quotas.push({ limit: 20 + below(40), priority: oneOf([50, 200]) })
  if (is(0.3)) quotas.push({ limit: 10 + below(10), expires_at: iso(at + 1_000 * (1 + below(5))), priority: 90 })
  if (is(0.3)) quotas.push({ limit: 10 + below(10), starts_at: iso(at + 1_000 * (1 + below(5))) })
  if (is(0.4)) quotas.push(anyQuota(chance, bound, at))
  if (is(0.6)) quotas.push(cap(chance))
  return quotas
}

export type { Boundary }
