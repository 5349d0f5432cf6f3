/** What the breaker does with made-up traffic: what it pauses wrongly, and how soon it stops an attack. */
import { type Budgets, DEFAULT_BUDGETS } from '../../src/domain/breaker.ts'
import { replay } from '../../src/domain/breaker-replay.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time.ts'
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
export function runHonest(
  traffic: HonestTraffic,
  times: number,
  seed: number,
  budgets = DEFAULT_BUDGETS,
): HonestResult {
  const result = { destinationDays: 0, codes: 0, pausedDays: 0, stopped: 0, replayedDays: 0 }
  for (let index = 0; index < traffic.destinations * times; index++) {
    const random = createRandom(seed * 1_000_003 + index)
    const entered = between(random, 0.85, 0.95)
    const codes = honestCodes(random, {
      days: DAYS,
      perDay: traffic.perDay,
      entered,
      ...traffic.options?.(random),
    })
    const { pauses, stopped } = runLive(codes, DAYS, budgets)
    result.destinationDays += DAYS
    result.codes += codes.length
    result.pausedDays += pausedDaysOf(pauses).size
    for (const { verifiedAt } of stopped) if (verifiedAt < Number.POSITIVE_INFINITY) result.stopped++
    result.replayedDays += pausedDaysOf(replay(quartersOf(codes, DAYS), FIRST_DAY, budgets)).size
  }
  return result
}

export interface Attack {
  readonly name: string
  readonly pumped: Omit<PumpedOptions, 'start'>
  /** Countries that it spreads over, each with the rate above. */
  readonly countries?: number
}

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
  /** Hours from the first code to the first pause. */
  readonly hours: number
  /** The part of all pumped codes that was stopped, and the honest ones that were stopped, on average. */
  readonly stopped: number
  readonly honestStopped: number
  /** The part of all pumped codes that a replay of usage says were stopped. */
  readonly replayed: number
}

/** @param times how many attacks */
export function runAttack(
  { pumped, countries = 1 }: Attack,
  base: number,
  times: number,
  seed: number,
  budgets: Budgets = DEFAULT_BUDGETS,
): AttackResult {
  const befores: number[] = []
  const hours: number[] = []
  const sums = { pumped: 0, stopped: 0, honestStopped: 0, replayed: 0 }
  for (let index = 0; index < times; index++) {
    const random = createRandom(seed * 1_000_003 + index)
    const days = 20
    const honest = base === 0 ? [] : honestCodes(random, { days, perDay: base, entered: 0.9, busyDays: 0 })
    const start = FIRST_DAY + 16 * DAY_MS + random() * DAY_MS
    const attack = pumpedCodes(random, { start, ...pumped })
    const codes = mixed(honest, attack)
    const { pauses, stopped } = runLive(codes, days, budgets)
    const first = pauses.find(({ until }) => until > start)
    if (first !== undefined) {
      const passed = attack.filter(code => code.at < first.until && !stopped.has(code)).length
      befores.push(passed * countries)
      hours.push((first.from - start) / HOUR_MS)
    }
    sums.pumped += attack.length
    for (const { isPumped, verifiedAt } of stopped) {
      if (isPumped) sums.stopped++
      else if (verifiedAt < Number.POSITIVE_INFINITY) sums.honestStopped++
    }
    const replayed = replay(quartersOf(codes, days), start - DAY_MS, budgets)
    const isReplayed = (code: Code) => replayed.some(({ from, until }) => code.at >= from && code.at < until)
    sums.replayed += attack.filter(isReplayed).length
  }
  return {
    attacks: times,
    caught: befores.length,
    before: { median: medianOf(befores), most: Math.max(...befores) },
    hours: medianOf(hours),
    stopped: sums.stopped / sums.pumped,
    honestStopped: sums.honestStopped / times,
    replayed: sums.replayed / sums.pumped,
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
