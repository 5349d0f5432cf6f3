/** How the slices of a lease end: what was spent is committed, the rest is released, again and again until the service answers. */
import type { Settled } from './api.ts'
import type { Later } from './clockwork.ts'
import { QuotaError } from './errors.ts'

/** A reservation whose units are spent in this process. */
export interface Slice {
  /** The id of the reservation. */
  readonly id: string
  readonly units: number
  spent: number
  /** For which its spent units are counted in usage; known when it ends. */
  messages: number
}

interface Settling {
  userId: number
  id: string
  totalUnits: number
}

export interface SettlementCalls {
  commit(input: Settling & { messages: number }): Promise<Settled>
  release(input: Settling): Promise<Settled>
  refund(input: Settling): Promise<Settled>
}

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** Settled slices that are remembered, because units that were spent of them may still be given back. */
const MAX_REMEMBERED = 64

/** A settled slice. */
interface Remembered {
  readonly id: string
  /** Units that are charged. */
  charged: number
  refunded: number
}

export type Settlements = ReturnType<typeof createSettlements>

export function createSettlements(calls: SettlementCalls, userId: number, later: Later) {
  const open = new Set<Slice>()
  const remembered: Remembered[] = []
  let pauseMs = FIRST_PAUSE_MS
  let cancel: (() => void) | undefined

  /** Both calls go out together. @throws what the service answers; then the slice stays open */
  async function settle(slice: Slice): Promise<void> {
    const { id, units, spent, messages } = slice
    const rest = units - spent
    const [, refunded] = await Promise.all([
      spent > 0 ? calls.commit({ userId, id, totalUnits: spent, messages }) : undefined,
      rest > 0 ? release(calls, { userId, id, totalUnits: rest }) : 0,
    ])
    // It may have been settled twice at a time, which changes nothing.
    if (!open.delete(slice)) return
    remembered.push({ id, charged: spent, refunded })
    if (remembered.length > MAX_REMEMBERED) remembered.shift()
  }

  function tryAgainLater(): void {
    if (open.size === 0) pauseMs = FIRST_PAUSE_MS
    if (open.size === 0 || cancel !== undefined) return
    cancel = later(pauseMs, async () => {
      cancel = undefined
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      await Promise.allSettled([...open].map(settle))
      tryAgainLater()
    })
  }

  return {
    /** Slices that are not settled yet. */
    open: (): number => open.size,

    /** Settles a slice from which nothing more is spent. */
    add(slice: Slice): void {
      open.add(slice)
      settle(slice).catch(tryAgainLater)
    },

    /** Tries no more: what is not settled is charged when it expires. */
    giveUp(): void {
      cancel?.()
      cancel = undefined
      open.clear()
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
      await Promise.all([...open].map(settle))
      for (const slice of remembered.toReversed()) {
        const units = Math.min(given.spare, slice.charged)
        if (units === 0) continue
        await calls.refund({ userId, id: slice.id, totalUnits: slice.refunded + units })
        slice.charged -= units
        slice.refunded += units
        given.spare -= units
      }
    },
  }
}

/** @returns the units that were refunded, because the reservation had expired, which committed them */
async function release(calls: SettlementCalls, rest: Settling): Promise<number> {
  try {
    await calls.release(rest)
    return 0
  } catch (error) {
    if (!(error instanceof QuotaError && error.code === 'reservation_closed')) throw error
    await calls.refund(rest)
    return rest.totalUnits
  }
}
