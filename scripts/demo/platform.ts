/** The platform of the demo: its customers, what they may send, and what they do send. */
import type { CreateQuotaReq } from '../../client/src/api.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time/time.ts'
import type { Random } from './random.ts'

export interface Customer {
  userId: number
  name: string
  /** Messages on an ordinary day. */
  dailyMessages: number
  countries: readonly (readonly [country: string, weight: number])[]
  types: readonly (readonly [type: string, weight: number])[]
  quotas: readonly Omit<CreateQuotaReq, 'userId'>[]
}

/** How many ordinary customers there are beside those with a story. */
const CUSTOMERS = 240

const NAMES = ['Alder', 'Birch', 'Cedar', 'Elm', 'Fir', 'Hazel', 'Juniper', 'Linden', 'Maple', 'Oak', 'Rowan', 'Willow']
const TRADES = [
  'Bank',
  'Clinic',
  'Energy',
  'Foods',
  'Fitness',
  'Insurance',
  'Logistics',
  'Market',
  'Mobility',
  'School',
  'Tickets',
  'Travel',
]
const EUROPE = [
  ['DE', 60],
  ['AT', 12],
  ['CH', 10],
  ['FR', 8],
  ['PL', 6],
  ['NL', 4],
] as const
const WORLD = [
  ['US', 40],
  ['GB', 20],
  ['DE', 12],
  ['IN', 12],
  ['BR', 10],
  ['ZA', 6],
] as const
const CODES = [
  ['otp', 90],
  ['alert', 10],
] as const
const MIXED = [
  ['otp', 35],
  ['notification', 45],
  ['marketing', 20],
] as const
const TIME_ZONE = 'Europe/Berlin'

/** All customers. @param now the time at which the demo is looked at @param pastDays for how long they have sent before it */
export function customersAt(now: EpochMs, pastDays: number, random: Random): Customer[] {
  return [
    ...storiesAt(now, pastDays),
    ...Array.from({ length: CUSTOMERS }, (_, nth) => ordinary(5_000 + nth, nth, random)),
  ]
}

function ordinary(userId: number, nth: number, random: Random): Customer {
  const name = `${NAMES[nth % NAMES.length]} ${TRADES[Math.floor(nth / NAMES.length) % TRADES.length]}`
  // Few are large, most are small.
  const dailyMessages = Math.max(1, Math.round(3 / (0.02 + random.next())))
  const isWorldwide = random.next() < 0.25
  const isPrepaid = random.next() < 0.2
  const expectedMonth = dailyMessages * 33
  const limit = Math.max(100, Math.round((expectedMonth * (0.95 + random.next())) / 100) * 100)
  const package_ = isPrepaid
    ? { name: 'Prepaid pack', limit: limit * 2, alertAt: [80, 95] }
    : { name: 'Monthly package', limit, period: 'month' as const, timeZone: TIME_ZONE, alertAt: [80, 100] }
  return {
    userId,
    name,
    dailyMessages,
    countries: isWorldwide ? WORLD : EUROPE,
    types: random.next() < 0.5 ? CODES : MIXED,
    quotas: [
      { ...package_, externalRef: `CRM-${userId}` },
      ...(random.next() < 0.3 ? [dailyCap(Math.max(20, dailyMessages * 3))] : []),
      ...(random.next() < 0.1 ? [{ ...countryCap(['US'], dailyMessages * 10), name: 'United States, per month' }] : []),
    ],
  }
}

const dailyCap = (limit: number) => ({
  kind: 'cap' as const,
  name: 'Daily cap',
  limit,
  period: 'day' as const,
  timeZone: TIME_ZONE,
})

const countryCap = (countries: string[], limit: number) => ({
  kind: 'cap' as const,
  limit,
  period: 'month' as const,
  timeZone: TIME_ZONE,
  countries,
})

/** The user whose codes do not arrive. */
export const BLOCKED_USER = 4_711

/** The user who runs out of units, what that user needs on an average day, and for how many days the units last. */
const ENDING_USER = 7
const ENDING_DAILY_UNITS = 80
const ENDING_DAYS = 4

/** The customers that a visitor is sent to. */
function storiesAt(now: EpochMs, pastDays: number): Customer[] {
  const inDays = (days: number) => new Date(now + days * DAY_MS).toISOString()
  const monthly = (limit: number) => ({
    name: 'Monthly package',
    limit,
    period: 'month' as const,
    timeZone: TIME_ZONE,
    alertAt: [80, 95, 100],
  })
  return [
    // The codes do not arrive: the package has units, the daily cap has none.
    {
      userId: BLOCKED_USER,
      name: 'Nimbus Games',
      dailyMessages: 160,
      countries: EUROPE,
      types: CODES,
      quotas: [monthly(9_000), dailyCap(100)],
    },
    // Runs out this week.
    {
      userId: ENDING_USER,
      name: 'Harbor Books',
      dailyMessages: 60,
      countries: EUROPE,
      types: MIXED,
      quotas: [
        {
          name: 'Prepaid pack',
          limit: Math.ceil(ENDING_DAILY_UNITS * (pastDays + ENDING_DAYS)),
          alertAt: [80, 95],
          expiresAt: inDays(20),
        },
      ],
    },
    // A fraudster makes it send codes to Nigeria (see `fraudAt`).
    {
      userId: 1_042,
      name: 'Kite Social',
      dailyMessages: 90,
      countries: EUROPE,
      types: CODES,
      quotas: [monthly(20_000)],
    },
    {
      userId: 2_001,
      name: 'Slate Studio',
      dailyMessages: 20,
      countries: EUROPE,
      types: MIXED,
      quotas: [{ ...monthly(5_000), name: 'Suspended: unpaid invoice', enabled: false }],
    },
    {
      userId: 2_002,
      name: 'Tulip Events',
      dailyMessages: 0,
      countries: EUROPE,
      types: MIXED,
      quotas: [{ ...monthly(3_000), startsAt: inDays(7) }],
    },
    {
      userId: 2_003,
      name: 'Atlas Freight',
      dailyMessages: 300,
      countries: WORLD,
      types: MIXED,
      quotas: [{ name: 'Enterprise, unlimited', limit: null }, dailyCap(2_000)],
    },
    {
      userId: 2_004,
      name: 'Meadow Dental',
      dailyMessages: 40,
      countries: EUROPE,
      types: MIXED,
      quotas: [{ ...monthly(1_500), rolloverLimit: 500, overageLimit: 100 }],
    },
  ]
}

export interface Message {
  userId: number
  country: string
  messageType: string
  units: number
  /** Whether it is a code that is entered, which the breaker asks about. */
  isEntered: boolean
}

/** The part of codes that are entered. */
const ENTERED = 0.85

/** When the fraud of user 1042 began, before the time at which the demo is looked at. */
const FRAUD_MS = 7 * 3_600_000

/**
 * The messages of a span of time.
 *
 * @param from its start
 * @param ms its length, at most a few hours: the hour of its start counts
 * @param fraudUntil the time at which the demo is looked at
 */
export function messagesOf(
  customers: readonly Customer[],
  from: EpochMs,
  ms: number,
  fraudUntil: EpochMs,
  random: Random,
): Message[] {
  const busy = busyness(from)
  const messages = customers.flatMap(customer => {
    const expected = (customer.dailyMessages * busy * ms) / DAY_MS
    const count = Math.floor(expected + random.next())
    return Array.from({ length: count }, () => messageOf(customer, random))
  })
  if (from >= fraudUntil - FRAUD_MS) {
    const count = Math.floor((ms / 60_000) * 5 + random.next())
    const pumped = { userId: 1_042, country: 'NG', messageType: 'otp', units: 1, isEntered: false }
    for (let nth = 0; nth < count; nth++) messages.push(pumped)
  }
  return messages
}

function messageOf({ userId, countries, types }: Customer, random: Random): Message {
  const messageType = random.pick(types)
  // Codes fit one segment, advertisements seldom do.
  const units =
    messageType === 'otp'
      ? 1
      : random.pick([
          [1, 60],
          [2, 30],
          [3, 10],
        ])
  const isEntered = messageType === 'otp' && random.next() < ENTERED
  return { userId, country: random.pick(countries), messageType, units, isEntered }
}

/** How busy an hour is, on average 1: nights and weekends are quiet. */
function busyness(at: EpochMs): number {
  const date = new Date(at)
  const hour = date.getUTCHours()
  const isWeekend = date.getUTCDay() % 6 === 0
  const ofDay = hour < 5 ? 0.2 : hour < 8 ? 0.8 : hour < 19 ? 1.6 : 0.7
  return ofDay * (isWeekend ? 0.6 : 1.15)
}
