/**
 * A lease: units that this process has reserved and spends without asking the service.
 *
 * They come in *slices*, which are reservations with `onExpiry: 'commit'`. A slice whose process dies is charged when it expires, so
 * nothing is ever spent that is not charged, whatever the clocks say: a clock only decides when a slice is given back.
 *
 * | slice    | meaning                                        | entered by              | left by                       |
 * |----------|------------------------------------------------|-------------------------|-------------------------------|
 * | asked    | the service has not answered for certain       | `refill`                | an answer to the same request |
 * | held     | units are spent from it                        | a grant                 | all is spent, its age, `close` |
 * | open     | what was spent is committed, the rest released | the end of `held`       | an answer                     |
 */
import type { Denied, Granted, ReserveReq } from './api.ts'
import { UnavailableError } from './errors.ts'
import { createSettlements, type Later, type SettlementCalls, type Slice } from './lease-settlements.ts'

export interface LeaseInput {
  userId: number
  /** How many units to reserve at a time. It asks for the next ones when half of them are left. */
  units: number
  country?: string
  messageType?: string
  /** After how long the units of a process that died are charged; 60 if left out. Units that are not spent in half of it go back. */
  ttlSeconds?: number
}

export interface Lease {
  /**
   * Spends units if this process holds them, without waiting.
   *
   * @throws RangeError if the units are not a positive whole number, and Error after `close`
   */
  trySpend(units?: number): boolean
  /**
   * Spends units, and waits for the next slice if this process does not hold them.
   *
   * @throws UnavailableError if there is none in time, QuotaError, and what `trySpend` throws
   */
  spend(units?: number): Promise<{ granted: true } | Denied>
  /**
   * Gives back units that were spent for a message that was not sent.
   *
   * @throws RangeError if these are more than were spent, and Error after `close`
   */
  giveBack(units?: number): void
  /** Units that can be spent without waiting. */
  held(): number
  /**
   * Commits what was spent and releases the rest. Call it when no send is under way.
   *
   * @throws UnavailableError, QuotaError; then it may be called again, and what is not settled is charged when it expires
   */
  close(): Promise<void>
}

export interface LeaseCalls extends SettlementCalls {
  reserve(input: ReserveReq): Promise<Granted | Denied>
}

export interface Clockwork {
  /** A clock in milliseconds that never steps back. */
  readonly now: () => number
  readonly later: Later
}

const TTL_SECONDS = 60
/** A slice has at most this part of what its quotas have left, so that leases of several processes share the end. */
const PART_OF_REST = 4
/** After a denial no slice is asked for ahead for so long. */
const DRY_MS = 1_000
/** With more slices to settle, no further ones are asked for: the service has trouble. */
const MAX_OPEN = 16

interface HeldSlice extends Slice {
  readonly cancelRetirement: () => void
}

export function createLease(calls: LeaseCalls, input: LeaseInput, { now, later }: Clockwork): Lease {
  const { userId, units: maxSize, ttlSeconds = TTL_SECONDS, ...scope } = input
  assertUnits(maxSize)
  const settlements = createSettlements(calls, userId, later)
  const prefix = `lease:${crypto.randomUUID()}`
  let number = 0
  /** The oldest first. Each has units left. */
  const slices: HeldSlice[] = []
  /** Units that were given back and belong to no slice that is held. */
  let spare = 0
  let held = 0
  let spentInAll = 0
  let size = maxSize
  /** Units that callers wait for. */
  let awaited = 0
  let asked: { request: ReserveReq; at: number } | undefined
  let refilling: Promise<Granted | Denied> | undefined
  let dryUntil = Number.NEGATIVE_INFINITY
  let isClosed = false

  function assertOpen(): void {
    if (isClosed) throw new Error('the lease is closed')
  }

  function take(units: number): boolean {
    if (units > held) return false
    held -= units
    spentInAll += units
    const ofSpare = Math.min(spare, units)
    spare -= ofSpare
    for (let rest = units - ofSpare; rest > 0; ) {
      const slice = slices[0]
      if (slice === undefined) throw new Error('the slices hold less than their sum')
      const taken = Math.min(rest, slice.units - slice.spent)
      slice.spent += taken
      rest -= taken
      if (slice.spent === slice.units) end(slice)
    }
    return true
  }

  /** A slice is held no more. */
  function end(slice: HeldSlice): void {
    const index = slices.indexOf(slice)
    if (index < 0) return
    slices.splice(index, 1)
    held -= slice.units - slice.spent
    slice.cancelRetirement()
    settlements.add(slice)
  }

  function refill(): Promise<Granted | Denied> {
    refilling ??= askForSlice().finally(() => {
      refilling = undefined
    })
    return refilling
  }

  /** A request without a final answer is repeated as it was: it may have reserved a slice. */
  async function askForSlice(): Promise<Granted | Denied> {
    if (asked === undefined && settlements.open() >= MAX_OPEN) {
      throw new UnavailableError(`${MAX_OPEN} slices are not settled yet`, { mayHaveTakenEffect: false })
    }
    asked ??= { request: nextRequest(), at: now() }
    const { request, at } = asked
    const answer = await calls.reserve(request).catch(error => {
      if (!(error instanceof UnavailableError && error.mayHaveTakenEffect)) asked = undefined
      throw error
    })
    asked = undefined
    if (answer.granted) hold(answer, at)
    else dryUntil = now() + DRY_MS
    return answer
  }

  function nextRequest(): ReserveReq {
    number += 1
    const units = Math.max(size, awaited - held)
    return { ...scope, userId, id: `${prefix}:${number}`, units, ttlSeconds, allowPartial: true, onExpiry: 'commit' }
  }

  function hold({ id, units, remaining }: Granted, at: number): void {
    const age = now() - at
    const cancelRetirement = later(Math.max(0, (ttlSeconds * 1_000) / 2 - age), () => end(slice))
    const slice: HeldSlice = { id, units, spent: 0, cancelRetirement }
    slices.push(slice)
    held += units
    size = remaining === null ? maxSize : Math.min(maxSize, Math.max(1, Math.ceil(remaining / PART_OF_REST)))
  }

  function trySpend(units = 1): boolean {
    assertOpen()
    assertUnits(units)
    // Those who wait already come first.
    const isTaken = awaited === 0 && take(units)
    if (held < size / 2 && refilling === undefined && now() >= dryUntil) refill().catch(() => {})
    return isTaken
  }

  return {
    trySpend,
    held: () => held,

    async spend(units = 1) {
      if (trySpend(units)) return { granted: true }
      awaited += units
      try {
        for (;;) {
          const answer = await refill()
          assertOpen()
          if (take(units)) return { granted: true }
          if (!answer.granted) return answer
        }
      } finally {
        awaited -= units
      }
    },

    giveBack(units = 1) {
      assertOpen()
      assertUnits(units)
      if (units > spentInAll) throw new RangeError(`only ${spentInAll} units were spent`)
      spentInAll -= units
      const [slice] = slices
      const ofSlice = Math.min(units, slice?.spent ?? 0)
      if (slice !== undefined) slice.spent -= ofSlice
      spare += units - ofSlice
      held += units
    },

    async close() {
      isClosed = true
      await refilling?.catch(() => {})
      if (asked !== undefined) await refill()
      for (const slice of [...slices]) end(slice)
      await settlements.finish(spare)
      spare = 0
      held = 0
    },
  }
}

function assertUnits(units: number): void {
  if (!(Number.isSafeInteger(units) && units >= 1))
    throw new RangeError(`units must be a positive whole number, not ${units}`)
}
