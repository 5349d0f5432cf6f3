/** How the slices of a lease end: what was spent is committed, the rest is released, again and again until the service answers. */
import type { Settled } from './api.ts'
import type { Clockwork } from './clockwork.ts'
import { hasCode, UnavailableError } from './errors.ts'
import { giveBack } from './giving-back.ts'

/** A reservation whose units are spent in this process. */
export interface Slice {
  /** The reservation is the one of this number; `idOf` names it. */
  readonly number: number
  readonly units: number
  spent: number
  /** For which its spent units are counted in usage; known when it ends. */
  messages: number
}

interface Settling {
  userId: number
  id: string
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

export type Settlements = ReturnType<typeof createSettlements>

interface SettlementOptions {
  readonly userId: number
  /** The id of the reservation of a slice. */
  readonly idOf: (number: number) => string
  readonly clockwork: Clockwork
  /** Asks whether a slice with so many charged units may be forgotten: these cannot be given back then. */
  readonly mayForget: (charged: number) => boolean
}

export function createSettlements(
  calls: SettlementCalls,
  { userId, idOf, clockwork: { now, later }, mayForget }: SettlementOptions,
) {
  const open = new Set<Slice>()
  /** Requests for slices that may have arrived, or may still, and when they were last made. */
  const lost = new Map<number, number>()
  const charges = new Charges()
  let pauseMs = FIRST_PAUSE_MS
  let cancel: (() => void) | undefined

  /** Both calls go out together. @throws what the service answers; then the slice stays open */
  async function settle(slice: Slice): Promise<void> {
    const { number, units, spent, messages } = slice
    const id = idOf(number)
    const rest = units - spent
    const [, refunded] = await Promise.all([
      spent > 0 ? calls.commit({ userId, id, totalUnits: spent, messages }) : undefined,
      rest > 0 ? release(calls, { userId, id, totalUnits: rest }) : 0,
    ])
    // It may have been settled twice at a time, which changes nothing.
    if (open.delete(slice)) charges.add(number, { charged: spent, refunded }, mayForget)
  }

  /** Gives back a slice that was not used. @throws what the service answers, and UnavailableError if it may still arrive */
  async function close(number: number, askedAt: number): Promise<void> {
    const isKnown = await giveBack(calls, { userId, id: idOf(number) })
    if (!isKnown && now() - askedAt < MAY_ARRIVE_MS) {
      const message = 'a request whose answer was lost may still arrive at the service'
      throw new UnavailableError(message, { mayHaveTakenEffect: true })
    }
    lost.delete(number)
  }

  const settleAll = () => [...Array.from(open, settle), ...Array.from(lost, ([number, at]) => close(number, at))]

  function tryAgainLater(): void {
    const isDone = open.size + lost.size === 0
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
    /** Slices that are not settled yet. */
    open: (): number => open.size + lost.size,

    /** Settles a slice from which nothing more is spent. */
    add(slice: Slice): void {
      open.add(slice)
      settle(slice).catch(tryAgainLater)
    },

    /** Gives back a slice that may have been reserved, or may still be, and that nobody spends. */
    lose(number: number): void {
      lost.set(number, now())
      tryAgainLater()
    },

    /** Tries no more: what is not settled is charged when it expires. */
    giveUp(): void {
      cancel?.()
      cancel = undefined
      open.clear()
      lost.clear()
    },

    /**
     * Settles what is left, and refunds units that were given back after their slices were settled.
     *
     * @param given units that were given back; what is refunded is taken off
     * @throws what the service answers; then it may be called again
     */
    async finish(given: { spare: number }): Promise<void> {
      cancel?.()
      cancel = undefined
      await Promise.all(settleAll())
      for (const { number, charged, refunded } of charges.newestFirst()) {
        const units = Math.min(given.spare, charged)
        if (units === 0) continue
        await calls.refund({ userId, id: idOf(number), totalUnits: refunded + units })
        charges.refund(number, units)
        given.spare -= units
      }
    },
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

  refund(number: number, units: number): void {
    const index = number - this.first
    this.charged[index] = (this.charged[index] ?? 0) - units
    this.refunded.set(number, (this.refunded.get(number) ?? 0) + units)
  }

  *newestFirst(): Generator<Charge & { number: number }> {
    for (let index = this.charged.length - 1; index >= 0; index--) {
      const number = this.first + index
      yield { number, charged: this.charged[index] ?? 0, refunded: this.refunded.get(number) ?? 0 }
    }
  }
}

/** @returns the units that were refunded, because the reservation had expired, which committed them */
async function release(calls: SettlementCalls, rest: Settling & { totalUnits: number }): Promise<number> {
  try {
    await calls.release(rest)
    return 0
  } catch (error) {
    if (!hasCode(error, 'reservation_closed')) throw error
    await calls.refund(rest)
    return rest.totalUnits
  }
}
