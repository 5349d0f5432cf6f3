/** Made-up traffic of codes to one destination, the same for the same seed: honest, and pumped. */
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'

/** A message with a code. */
export interface Code {
  readonly at: EpochMs
  /** When the code is entered; Infinity: never. */
  readonly verifiedAt: EpochMs
  /** When the sender refunds it, because it was not delivered; Infinity: never. */
  readonly returnedAt: EpochMs
  /** Whether artificial traffic sent it. */
  readonly isPumped: boolean
}

/** A Monday. */
export const FIRST_DAY = Date.UTC(2026, 2, 2)

/** Numbers from 0, below 1. */
export interface Random {
  (): number
  /** Gives the same numbers from here on. */
  readonly copy: () => Random
}

/** @param seed a whole number */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: small, and good enough to make up data.
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return Object.assign(random, { copy: () => createRandom(state) })
}

export const between = (random: Random, low: number, high: number): number => low + (high - low) * random()

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function poisson(random: Random, mean: number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > limit; product *= random()) count++
  return count
}

export interface HonestOptions {
  readonly days: number
  /** Codes of an average day. */
  readonly perDay: number
  /** The part of the codes that are entered. */
  readonly entered: number
  /** How many of 100 days have an hour with four to eight times the load. */
  readonly busyDays?: number
  /** How many times the usual load an hour has, from the first day on; 1 if left out. */
  readonly factor?: (at: EpochMs) => number
  /** Whether no code arrives, because the provider has an outage. */
  readonly isOut?: (at: EpochMs) => boolean
  /** How long after it was sent a code is refunded that does not arrive in an outage; Infinity: never. */
  readonly refundDelayMs?: (random: Random) => number
}

const NEVER = Number.POSITIVE_INFINITY

/** The part of its average load that a destination has at an hour of its own day: little at night, most in the afternoon. */
const seasonOf = (hour: number) => Math.max(0.08, 1 + 0.9 * Math.sin(((hour - 8) / 24) * 2 * Math.PI))

/** How much of the load of a day of the week a destination has, from Monday. */
const WEEK = [1.05, 1.05, 1.05, 1.05, 1.05, 0.95, 0.8]

/** Codes that people ask for, in the order of time. */
export function honestCodes(random: Random, options: HonestOptions): Code[] {
  const {
    days,
    perDay,
    entered,
    busyDays = 5,
    factor = () => 1,
    isOut = () => false,
    refundDelayMs = () => NEVER,
  } = options
  const codes: Code[] = []
  const zone = Math.floor(24 * random())
  for (let day = 0; day < days; day++) {
    const load = ((perDay * (WEEK[day % 7] ?? 1)) / 24) * Math.exp(0.25 * normal(random))
    const enteredToday = Math.min(0.98, Math.max(0.5, entered + 0.02 * normal(random)))
    const busyHour = random() < busyDays / 100 ? Math.floor(24 * random()) : undefined
    const busyFactor = between(random, 4, 8)
    for (let hour = 0; hour < 24; hour++) {
      const start = FIRST_DAY + day * DAY_MS + hour * HOUR_MS
      const mean = load * seasonOf((hour + zone) % 24) * factor(start) * (hour === busyHour ? busyFactor : 1)
      for (let left = poisson(random, mean); left > 0; left--) {
        addPerson(codes, random, start + random() * HOUR_MS, enteredToday, { isOut, refundDelayMs })
      }
    }
  }
  return codes.sort((one, other) => one.at - other.at)
}

/** A person who asks for a code, and some of those who do not get it again, up to twice. */
function addPerson(
  codes: Code[],
  random: Random,
  at: EpochMs,
  entered: number,
  { isOut, refundDelayMs }: Required<Pick<HonestOptions, 'isOut' | 'refundDelayMs'>>,
): void {
  for (let times = 0; times < 3; times++) {
    if (random() < entered && !isOut(at)) {
      // Most are entered within two minutes; three of a hundred arrive late.
      const delayMs = random() < 0.03 ? between(random, 60_000, 600_000) : 6_000 - 35_000 * Math.log(1 - random())
      codes.push({ at, verifiedAt: at + delayMs, returnedAt: NEVER, isPumped: false })
      return
    }
    codes.push({ at, verifiedAt: NEVER, returnedAt: isOut(at) ? at + refundDelayMs(random) : NEVER, isPumped: false })
    if (random() >= 0.4) return
    at += between(random, 30_000, 120_000)
  }
}

export interface PumpedOptions {
  readonly start: EpochMs
  readonly perHour: number
  readonly hours: number
  /** The part of the codes that the attacker enters, to look honest. */
  readonly entered?: number
  /** The part of the codes that go to numbers which are not in service, and are refunded after a minute. */
  readonly undelivered?: number
}

/** Codes that an attacker asks for, at an even rate. */
export function pumpedCodes(
  random: Random,
  { start, perHour, hours, entered = 0, undelivered = 0 }: PumpedOptions,
): Code[] {
  const stepMs = HOUR_MS / perHour
  return Array.from({ length: Math.floor(perHour * hours) }, (_, index) => {
    const at = start + stepMs * (index + random())
    const isEntered = random() < entered
    const isReturned = undelivered > 0 && random() < undelivered
    return {
      at,
      verifiedAt: isEntered ? at + between(random, 5_000, 60_000) : NEVER,
      returnedAt: isReturned ? at + 60_000 : NEVER,
      isPumped: true,
    }
  })
}

export const mixed = (...parts: readonly Code[][]): Code[] => parts.flat().sort((one, other) => one.at - other.at)
