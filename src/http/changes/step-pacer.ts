/** Lets the steps of a process take turns, and bounds how much a step delays senders. */
import { concernsRows } from '../../db/connection/errors.ts'
import { createSlots, type Slots } from '../platform/slots.ts'

/** The tools that imports and bulk changes share. */
export interface Steps {
  pacer: StepPacer
  slots: Slots
}

/** Imports and bulk changes that run at a time. Each holds at most a step in memory. */
const MAX_RUNNING = 8

/** Rows of a step, and how long it should take: docs/import-export.md has the figures. */
const STEP_SIZE = { minRows: 50, maxRows: 200, targetMs: 100 }

export function createSteps(): Steps {
  return { pacer: createStepPacer(STEP_SIZE), slots: createSlots(MAX_RUNNING, 'imports and bulk changes') }
}

export interface StepPacer {
  /** How many rows the next step may have. */
  readonly rows: number
  /**
   * Runs a step when no other runs. A step that takes too long for a statement, or whose rows are locked by others, is
   * divided.
   *
   * @returns the outcome of each item, in their order
   */
  run<Item, Outcome>(items: readonly Item[], step: (items: readonly Item[]) => Promise<Outcome[]>): Promise<Outcome[]>
}

export interface StepPacerOptions {
  /** The fewest and the most rows of a step. Below the fewest, what a commit costs by itself would outweigh them. */
  minRows: number
  maxRows: number
  /** How long a step should take, in milliseconds: as long it keeps users' rows and the ends of outboxes locked. */
  targetMs: number
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/**
 * One step runs at a time, however many imports and bulk changes there are. A slow client takes no turn while its rows
 * arrive. A step that takes longer than `targetMs`, because the database is busy with senders, makes the next one smaller.
 */
export function createStepPacer(options: StepPacerOptions): StepPacer {
  const { minRows, maxRows, targetMs, now = () => performance.now() } = options
  let perStep = maxRows
  let last: Promise<unknown> = Promise.resolve()

  async function timed<Result>(rows: number, step: () => Promise<Result>): Promise<Result> {
    const startedAt = now()
    try {
      return await step()
    } finally {
      const inTime = (rows * targetMs) / Math.max(1, now() - startedAt)
      perStep = Math.round(Math.max(minRows, perStep / 2, Math.min(maxRows, perStep * 2, inTime)))
    }
  }

  function inTurn<Result>(rows: number, step: () => Promise<Result>): Promise<Result> {
    const result = last.then(() => timed(rows, step))
    last = result.catch(() => {})
    return result
  }

  async function run<Item, Outcome>(
    items: readonly Item[],
    step: (items: readonly Item[]) => Promise<Outcome[]>,
  ): Promise<Outcome[]> {
    try {
      return await inTurn(items.length, () => step(items))
    } catch (error) {
      if (items.length === 1 || !concernsRows(error)) throw error
      const half = Math.ceil(items.length / 2)
      const first = await run(items.slice(0, half), step)
      return [...first, ...(await run(items.slice(half), step))]
    }
  }

  return {
    get rows() {
      return perStep
    },
    run,
  }
}
