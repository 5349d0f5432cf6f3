/** How the slices of a lease end: what was spent is committed, the rest is released, again and again until the service answers. */
import type { Settled } from './api.ts'
import { hasCode, isNotFound, UnavailableError } from './errors.ts'
import { giveBack } from './giving-back.ts'
import type { Timers } from './timers.ts'
import type { MessageName, UserName } from './user.ts'

/** A reservation whose units are spent in this process. */
export interface Slice {
  /** The reservation is the one of this number; `idOf` names it. */
  readonly number: number
  readonly units: number
  spent: number
  /** For which its spent units are counted in usage; known when it ends. */
  messages: number
}

interface Settling extends MessageName {
  /** All that can be, if left out. */
  totalUnits?: number
}

export interface SettlementCalls {
  commit(input: Settling & { messages?: number }): Promise<Settled>
  release(input: Settling): Promise<Settled>
  refund(input: Settling): Promise<Settled>
}

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/**
 * Settled slices that are remembered, because units that were spent of them may still be given back. They take 80 KB.
 */
const MAX_REMEMBERED = 10_000
/** For how long a request whose answer was lost may still arrive. */
const MAY_ARRIVE_MS = 10_000

export interface Settlements {
  /** Slices that are not settled yet. */
  open(): number
  /** Settles a slice from which nothing more is spent. */
  add(slice: Slice): void
  /**
   * Gives back a slice that may have been reserved, or may still be, and that no caller spends.
   *
   * @param lostAt when the answer to the last request for it was lost
   */
  lose(number: number, lostAt: number): void
  /** Tries no more: what is not settled is charged when it expires. */
  giveUp(): void
  /**
   * Settles what is left, and refunds units that were given back after their slices were settled.
   *
   * @param given units that were given back; what is refunded is taken off
   * @throws what the service answers; then it may be called again
   */
  finish(given: { spare: number }): Promise<void>
}

interface SettlementOptions {
  readonly user: UserName
  /** The id of the reservation of a slice. */
  readonly idOf: (number: number) => string
  readonly timers: Timers
  /** Asks whether a slice with this many charged units may be forgotten: these cannot be given back then. */
  readonly mayForget: (charged: number) => boolean
}

export function createSettlements(
  calls: SettlementCalls,
  { user, idOf, timers: { now, later }, mayForget }: SettlementOptions,
): Settlements {
  const open = new Set<Slice>()
  const lost = createLost(number => giveBack(calls, { ...user, id: idOf(number) }), now)
  const charges = new Charges()
  let pauseMs = FIRST_PAUSE_MS
  let cancel: (() => void) | undefined

  /** Both calls go out together. @throws what the service answers; then the slice stays open */
  async function settle(slice: Slice): Promise<void> {
    const { number, units, spent, messages } = slice
    const id = idOf(number)
    const rest = units - spent
    const [charged, refunded] = await Promise.all([
      spent > 0 ? commit(calls, { ...user, id, totalUnits: spent, messages }) : 0,
      rest > 0 ? release(calls, { ...user, id, totalUnits: rest }) : 0,
    ])
    // It may have been settled twice at a time, which changes nothing.
    if (open.delete(slice)) charges.add(number, { charged, refunded }, mayForget)
  }

  const settleAll = () => [...Array.from(open, settle), ...lost.close()]

  function tryAgainLater(): void {
    const isDone = open.size + lost.size() === 0
    if (isDone) pauseMs = FIRST_PAUSE_MS
    if (isDone || cancel !== undefined) return
    cancel = later(pauseMs, async () => {
      cancel = undefined
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      await Promise.allSettled(settleAll())
      tryAgainLater()
    })
  }

  return {
    open: (): number => open.size + lost.size(),

    add(slice: Slice): void {
      open.add(slice)
      settle(slice).catch(tryAgainLater)
    },

    lose(number: number, lostAt: number): void {
      lost.add(number, lostAt)
      tryAgainLater()
    },

    giveUp(): void {
      cancel?.()
      cancel = undefined
      open.clear()
      lost.clear()
    },

    async finish(given: { spare: number }): Promise<void> {
      cancel?.()
      cancel = undefined
      await Promise.all(settleAll())
      await charges.refund(given, (number, totalUnits) => refund(calls, { ...user, id: idOf(number), totalUnits }))
    },
  }
}

/** Requests for slices that may have arrived, or may still. @param giveBack says whether the service knows the slice */
function createLost(giveBack: (number: number) => Promise<boolean>, now: () => number) {
  /** When their answers were lost. */
  const lost = new Map<number, number>()

  /** @throws what the service answers, and UnavailableError if it may still arrive */
  async function close(number: number, lostAt: number): Promise<void> {
    const isKnown = await giveBack(number)
    if (!isKnown && now() - lostAt < MAY_ARRIVE_MS) {
      const message = 'a request whose answer was lost may still arrive at the service'
      throw new UnavailableError(message, { mayHaveTakenEffect: true, isOutage: false })
    }
    lost.delete(number)
  }

  return {
    size: () => lost.size,
    add: (number: number, lostAt: number) => lost.set(number, lostAt),
    clear: () => lost.clear(),
    close: () => Array.from(lost, ([number, lostAt]) => close(number, lostAt)),
  }
}

interface Charge {
  /** Units that are charged. */
  readonly charged: number
  readonly refunded: number
}

/** What settled slices have charged. Slices are settled about in the order of their numbers. */
class Charges {
  /** The number of the first slice that is remembered. */
  private first = 1
  /** By number. Numbers without a slice have no units. */
  private readonly charged: number[] = []
  private readonly refunded = new Map<number, number>()

  add(number: number, { charged, refunded }: Charge, mayForget: (charged: number) => boolean): void {
    const index = number - this.first
    while (this.charged.length <= index) this.charged.push(0)
    this.charged[index] = charged
    if (refunded > 0) this.refunded.set(number, refunded)
    while (this.charged.length > MAX_REMEMBERED && mayForget(this.charged[0] ?? 0)) {
      this.refunded.delete(this.first)
      this.charged.shift()
      this.first += 1
    }
  }

  /** Refunds units that were given back, from the newest slices first. @param given what is refunded is taken off */
  async refund(
    given: { spare: number },
    refundTo: (number: number, totalUnits: number) => Promise<unknown>,
  ): Promise<void> {
    for (let index = this.charged.length - 1; index >= 0 && given.spare > 0; index--) {
      const number = this.first + index
      const charged = this.charged[index] ?? 0
      const units = Math.min(given.spare, charged)
      if (units === 0) continue
      const refunded = (this.refunded.get(number) ?? 0) + units
      await refundTo(number, refunded)
      this.charged[index] = charged - units
      this.refunded.set(number, refunded)
      given.spare -= units
    }
  }
}

/** @returns the units that are charged: none if the service has no such reservation any more, of an erased user */
async function commit(
  calls: SettlementCalls,
  part: Settling & { totalUnits: number; messages: number },
): Promise<number> {
  try {
    await calls.commit(part)
    return part.totalUnits
  } catch (error) {
    if (isNotFound(error)) return 0
    throw error
  }
}

/** @returns the units that were refunded, because the reservation had expired, which committed them */
async function release(calls: SettlementCalls, rest: Settling & { totalUnits: number }): Promise<number> {
  try {
    await calls.release(rest)
    return 0
  } catch (error) {
    // Of an erased user, there is nothing to release.
    if (isNotFound(error)) return 0
    if (!hasCode(error, 'reservation_closed')) throw error
    await refund(calls, rest)
    return rest.totalUnits
  }
}

async function refund(calls: SettlementCalls, part: Settling): Promise<void> {
  try {
    await calls.refund(part)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
