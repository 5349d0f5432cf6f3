/** What the breaker does with made-up traffic: what it pauses wrongly, and how soon it stops an attack. */
import { type Budgets, DEFAULT_BUDGETS } from '../../src/domain/pauses/breaker.ts'
import { replay } from '../../src/domain/pauses/breaker-replay.ts'
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { pausedDaysOf, quartersOf, runLive } from './breaker-runs.ts'
import {
  between,
  type Code,
  createRandom,
  FIRST_DAY,
  type HonestOptions,
  honestCodes,
  mixed,
  type PumpedOptions,
  pumpedCodes,
  type Random,
} from './code-traffic.ts'

export interface HonestTraffic {
  readonly name: string
  readonly perDay: number
  /** Destinations of one run; a test does several. */
  readonly destinations: number
  readonly options?: (random: Random) => Partial<HonestOptions>
  /** Whether messages that came back count as sent. */
  readonly countsReturned?: boolean
}

/** Four weeks, the first of a destination: it begins without a history. */
const DAYS = 28

/** A day after two weeks and a half, on which something happens. */
const SPECIAL_DAY = FIRST_DAY + 17 * DAY_MS

const isBetween = (from: EpochMs, to: EpochMs) => (at: EpochMs) => at >= from && at < to

export const HONEST: readonly HonestTraffic[] = [
  { name: '2 codes a day', perDay: 2, destinations: 300 },
  { name: '10 codes a day', perDay: 10, destinations: 300 },
  { name: '50 codes a day', perDay: 50, destinations: 200 },
  { name: '300 codes a day', perDay: 300, destinations: 40 },
  { name: '2,000 codes a day', perDay: 2_000, destinations: 1 },
]

/** Honest traffic that looks like an attack, or is seldom. */
export const UNUSUAL: readonly HonestTraffic[] = [
  {
    name: '50 codes a day, 75 % entered',
    perDay: 50,
    destinations: 40,
    options: () => ({ entered: 0.75 }),
  },
  {
    name: 'a campaign: 50 codes a day, and 200 an hour for four hours',
    perDay: 50,
    destinations: 40,
    options: random => ({ factor: bySpecial(random, 4, 96) }),
  },
  {
    name: 'a campaign: 50 codes a day, and 1,000 an hour for four hours',
    perDay: 50,
    destinations: 20,
    options: random => ({ factor: bySpecial(random, 4, 480) }),
  },
  {
    name: 'a new country: nothing, then 2,000 codes a day',
    perDay: 2_000,
    destinations: 4,
    options: () => ({ factor: at => (at < SPECIAL_DAY ? 0 : 1) }),
  },
  {
    name: '300 codes a day, and an outage of the provider for 30 minutes',
    perDay: 300,
    destinations: 20,
    options: random => {
      const start = SPECIAL_DAY + between(random, 0, DAY_MS)
      return { isOut: isBetween(start, start + HOUR_MS / 2) }
    },
  },
]

/** Outages of a carrier by how long, each after how long its reports say so. */
export const OUTAGES: readonly (readonly HonestTraffic[])[] = [50, 300, 2_000].flatMap(perDay =>
  [30, 120].map(minutes =>
    (
      [
        ['within a minute', 5_000, 60_000],
        ['within an hour', 300_000, HOUR_MS],
      ] as const
    ).map(([when, soonest, latest]) => ({
      name: `${perDay.toLocaleString('en')} codes a day, ${minutes} minutes, refunded ${when}`,
      perDay,
      destinations: perDay > 1_000 ? 2 : 20,
      options: (random: Random) => {
        const start = SPECIAL_DAY + between(random, 0, DAY_MS)
        return {
          isOut: isBetween(start, start + minutes * MINUTE_MS),
          refundDelayMs: () => between(random, soonest, latest),
        }
      },
    })),
  ),
)

const asSent = (codes: Code[]) => codes.map(code => ({ ...code, returnedAt: Number.POSITIVE_INFINITY }))

/** A factor for some hours of the special day. */
function bySpecial(random: Random, hours: number, factor: number): (at: EpochMs) => number {
  const start = SPECIAL_DAY + Math.floor(between(random, 0, 24 - hours)) * HOUR_MS
  const isSpecial = isBetween(start, start + hours * HOUR_MS)
  return at => (isSpecial(at) ? factor : 1)
}

export interface HonestResult {
  readonly destinationDays: number
  readonly codes: number
  /** Days of a destination on which it is paused for some time. */
  readonly pausedDays: number
  /** Codes that would have been entered, and were stopped. */
  readonly stopped: number
  /** The same by a replay of usage. */
  readonly replayedDays: number
}

/** @param times how many times the usual number of destinations */
function* codesOf(
  { destinations, perDay, options, countsReturned }: HonestTraffic,
  times: number,
  seed: number,
): Generator<Code[]> {
  for (let index = 0; index < destinations * times; index++) {
    const random = createRandom(seed * 1_000_003 + index)
    const entered = between(random, 0.85, 0.95)
    const codes = honestCodes(random, { days: DAYS, perDay, entered, ...options?.(random) })
    yield countsReturned ? asSent(codes) : codes
  }
}

/** Of 10,000 days of all honest traffic, those on which each of the budgets pauses it. */
export function comparePaused(compared: readonly Budgets[], times: number, seed: number): number[] {
  const runs = HONEST.flatMap(traffic =>
    Array.from(codesOf(traffic, times, seed), codes =>
      compared.map(budgets => pausedDaysOf(runLive(codes, DAYS, budgets).pauses).size),
    ),
  )
  return compared.map(
    (_, index) => (10_000 * runs.reduce((sum, run) => sum + (run[index] ?? 0), 0)) / (DAYS * runs.length),
  )
}

export function runHonest(traffic: HonestTraffic, times: number, seed: number): HonestResult {
  const result = { destinationDays: 0, codes: 0, pausedDays: 0, stopped: 0, replayedDays: 0 }
  for (const codes of codesOf(traffic, times, seed)) {
    const { pauses, stopped } = runLive(codes, DAYS, DEFAULT_BUDGETS)
    result.destinationDays += DAYS
    result.codes += codes.length
    result.pausedDays += pausedDaysOf(pauses).size
    for (const { verifiedAt } of stopped) if (verifiedAt < Number.POSITIVE_INFINITY) result.stopped++
    result.replayedDays += pausedDaysOf(replay(quartersOf(codes, DAYS), FIRST_DAY, DEFAULT_BUDGETS)).size
  }
  return result
}

export interface Attack {
  readonly name: string
  readonly pumped: Omit<PumpedOptions, 'start'>
  /** Countries that it spreads over, each with the rate above. */
  readonly countries?: number
  /** Whether messages that came back count as sent. */
  readonly countsReturned?: boolean
}

/** Attacks of which a part goes to numbers that are not in service. */
export const UNDELIVERED: readonly Attack[] = [
  { name: 'a burst of 10 a minute', perHour: 600, hours: 6 },
  { name: '30 an hour', perHour: 30, hours: 24 },
  { name: 'a trickle of 5 an hour', perHour: 5, hours: 48 },
].flatMap(({ name, ...attack }) =>
  [0.3, 0.6].map(undelivered => ({
    name: `${name}, ${100 * undelivered} % undelivered`,
    pumped: { ...attack, undelivered },
  })),
)

export const ATTACKS: readonly Attack[] = [
  { name: 'a burst of 60 a minute', pumped: { perHour: 3_600, hours: 2 } },
  { name: 'a burst of 10 a minute', pumped: { perHour: 600, hours: 6 } },
  { name: 'numbers in sequence, 2 a minute', pumped: { perHour: 120, hours: 24 } },
  { name: '30 an hour', pumped: { perHour: 30, hours: 24 } },
  { name: 'a trickle of 5 an hour', pumped: { perHour: 5, hours: 48 } },
  { name: 'a trickle of 2 an hour', pumped: { perHour: 2, hours: 48 } },
  { name: 'a trickle of 1 an hour', pumped: { perHour: 1, hours: 48 } },
  { name: '600 an hour over 20 countries', pumped: { perHour: 30, hours: 24 }, countries: 20 },
  { name: '600 an hour over 200 countries', pumped: { perHour: 3, hours: 24 }, countries: 200 },
  { name: 'a burst of 10 a minute, half of the codes entered', pumped: { perHour: 600, hours: 6, entered: 0.5 } },
  { name: 'a burst of 10 a minute, 80 % of the codes entered', pumped: { perHour: 600, hours: 6, entered: 0.8 } },
]

/** Honest codes a day, beside which an attack comes. */
export const BASES = [0, 10, 100, 1_000] as const

export interface AttackResult {
  readonly attacks: number
  readonly caught: number
  /** Pumped codes that left before the first pause, of those that were caught, over all countries: median and most. */
  readonly before: { median: number; most: number }
  /** Those of them that were delivered: the median. */
  readonly delivered: number
  /** Hours from the first code to the first pause. */
  readonly hours: number
  /** The part of all pumped codes that was stopped, and the honest ones that were stopped, on average. */
  readonly stopped: number
  readonly honestStopped: number
  /** The part of all pumped codes that a replay of usage says were stopped. */
  readonly replayed: number
}

const ATTACKED_DAYS = 20

/** Honest codes, and when an attack begins beside them. */
interface Victim {
  readonly honest: Code[]
  readonly start: EpochMs
  readonly random: Random
}

/** The same ones for each attack: their codes take a third of the time of an attack on many. */
export function victims(perDay: number, times: number, seed: number): Victim[] {
  return Array.from({ length: times }, (_, index) => {
    const random = createRandom(seed * 1_000_003 + index)
    const honest = perDay === 0 ? [] : honestCodes(random, { days: ATTACKED_DAYS, perDay, entered: 0.9, busyDays: 0 })
    return { honest, start: FIRST_DAY + 16 * DAY_MS + random() * DAY_MS, random }
  })
}

export function runAttack(
  { pumped, countries = 1, countsReturned = false }: Attack,
  attacked: readonly Victim[],
  budgets: Budgets = DEFAULT_BUDGETS,
): AttackResult {
  const befores: number[] = []
  const delivered: number[] = []
  const hours: number[] = []
  const sums = { pumped: 0, stopped: 0, honestStopped: 0, replayed: 0 }
  for (const { honest, start, random } of attacked) {
    const made = pumpedCodes(random.copy(), { start, ...pumped })
    const attack = countsReturned ? asSent(made) : made
    const codes = mixed(honest, attack)
    const { pauses, stopped } = runLive(codes, ATTACKED_DAYS, budgets)
    const first = pauses.find(({ until }) => until > start)
    if (first !== undefined) {
      const hasPassed = (code: Code | undefined) => code !== undefined && code.at < first.until && !stopped.has(code)
      befores.push(attack.filter(hasPassed).length * countries)
      const { length } = made.filter(
        (code, index) => code.returnedAt === Number.POSITIVE_INFINITY && hasPassed(attack[index]),
      )
      delivered.push(length * countries)
      hours.push((first.from - start) / HOUR_MS)
    }
    sums.pumped += attack.length
    for (const { isPumped, verifiedAt } of stopped) {
      if (isPumped) sums.stopped++
      else if (verifiedAt < Number.POSITIVE_INFINITY) sums.honestStopped++
    }
    const replayed = replay(quartersOf(codes, ATTACKED_DAYS), start - DAY_MS, budgets)
    const isReplayed = (code: Code) => replayed.some(({ from, until }) => code.at >= from && code.at < until)
    sums.replayed += attack.filter(isReplayed).length
  }
  return {
    attacks: attacked.length,
    caught: befores.length,
    before: { median: medianOf(befores), most: Math.max(...befores) },
    delivered: medianOf(delivered),
    hours: medianOf(hours),
    stopped: sums.stopped / sums.pumped,
    honestStopped: sums.honestStopped / attacked.length,
    replayed: sums.replayed / sums.pumped,
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
