import type { Slice } from './lease-settlements.ts'
import type { Later } from './timers.ts'

/** The API takes no more with one call. */
export const MAX_MESSAGES = 1_000_000

interface HeldSlice extends Slice {
  readonly cancelRetirement: () => void
}

export interface SlicesOptions {
  later: Later
  /** Gets each slice that is held no more, because all is spent or because it is old. */
  onEnd(slice: Slice): void
}

/** The slices that a lease holds: which units can be spent, and which go back. */
export interface Slices {
  /** Units that can be spent. */
  readonly held: number
  /** Units that were given back after their slice had ended. */
  readonly spare: number
  /** @param lifeMs for how long units of it may be spent; null for any time */
  add(number: number, units: number, lifeMs: number | null): void
  /** Takes all of the units for a message, or none. */
  take(units: number): boolean
  /** @throws RangeError if more than is spent, or the slices that paid are forgotten */
  giveBack(units: number, isWholeMessage: boolean): void
  /** Agrees to forget a settled slice, unless units that were given back may have to be refunded of it. */
  forget(charged: number): boolean
  endAll(): void
}

export function createSlices(options: SlicesOptions): Slices {
  return new SliceQueue(options)
}

class SliceQueue implements Slices {
  held = 0
  spare = 0
  /** Units that can be given back: they were spent, of slices that are not forgotten. */
  private spent = 0
  private hasForgotten = false
  /** Messages that were spent for, and are not counted with a slice yet. */
  private messages = 0
  /** The oldest first. Each has units left. */
  private readonly slices: HeldSlice[] = []
  private readonly options: SlicesOptions

  constructor(options: SlicesOptions) {
    this.options = options
  }

  add(number: number, units: number, lifeMs: number | null): void {
    const cancelRetirement = lifeMs === null ? () => {} : this.options.later(Math.max(0, lifeMs), () => this.end(slice))
    const slice: HeldSlice = { number, units, spent: 0, messages: 0, cancelRetirement }
    this.slices.push(slice)
    this.held += units
  }

  take(units: number): boolean {
    if (units > this.held) return false
    this.messages += 1
    this.held -= units
    this.spent += units
    const ofSpare = Math.min(this.spare, units)
    this.spare -= ofSpare
    for (let rest = units - ofSpare; rest > 0; ) {
      const slice = this.slices[0]
      if (slice === undefined) throw new Error('the slices hold less than their sum')
      const taken = Math.min(rest, slice.units - slice.spent)
      slice.spent += taken
      rest -= taken
      if (slice.spent === slice.units) this.end(slice)
    }
    return true
  }

  giveBack(units: number, isWholeMessage: boolean): void {
    if (units > this.spent) {
      const older = this.hasForgotten ? ', of the slices that the lease remembers' : ''
      throw new RangeError(`only ${this.spent} units were spent${older}`)
    }
    if (isWholeMessage) this.messages -= 1
    this.spent -= units
    const [slice] = this.slices
    const ofSlice = Math.min(units, slice?.spent ?? 0)
    if (slice !== undefined) slice.spent -= ofSlice
    this.spare += units - ofSlice
    this.held += units
  }

  forget(charged: number): boolean {
    if (charged > this.spent) return false
    this.spent -= charged
    this.hasForgotten ||= charged > 0
    return true
  }

  endAll(): void {
    for (const slice of [...this.slices]) this.end(slice)
  }

  private end(slice: HeldSlice): void {
    this.slices.splice(this.slices.indexOf(slice), 1)
    this.held -= slice.units - slice.spent
    slice.cancelRetirement()
    slice.messages = Math.max(0, Math.min(this.messages, slice.spent, MAX_MESSAGES))
    this.messages -= slice.messages
    this.options.onEnd(slice)
  }
}
