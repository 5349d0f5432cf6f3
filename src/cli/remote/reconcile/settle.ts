/** Settles messages of a bill, in batches. Each operation names a total, so a batch whose answer was lost is sent again. */
import { createRowFaults } from '../../../domain/basics/row-faults.ts'
import { safe } from '../../safe.ts'
import type { Connection } from '../connection.ts'

/** Operations of a call: a message has three at most, and a call takes 1,000. */
const BATCH = 900
const MAX_KINDS = 20

/** A message with the operations that settle it, in this order. */
interface Unsettled {
  steps: readonly object[]
  /** Gets "yes", or why not. */
  done(settled: string): Promise<void>
  /** Where it is. */
  shown: string
  line: number
}

export interface Settling {
  readonly settled: number
  readonly refused: number
  readonly isInterrupted: boolean
  /** Whether all that was added was tried. */
  readonly isDone: boolean
  /** @throws as calls do */
  add(message: Unsettled): Promise<void>
  /** Settles the rest. */
  flush(): Promise<void>
  /** Why messages were refused, by kind. */
  faults(): readonly string[]
}

interface Answer {
  results: readonly { status: number; body: { detail?: string } }[]
}

/** @param signal ends it between two calls */
export function createSettling({ call }: Connection, signal: AbortSignal): Settling {
  const faults = createRowFaults()
  let waiting: Unsettled[] = []
  let [operations, settled, refused] = [0, 0, 0]
  let isDone = false

  async function send(): Promise<void> {
    if (waiting.length === 0 || signal.aborted) return
    const { results } = (await call('batch', { operations: waiting.flatMap(({ steps }) => steps) })) as Answer
    let at = 0
    for (const { steps, done, shown, line } of waiting) {
      const own = results.slice(at, at + steps.length)
      at += steps.length
      const bad = own.find(({ status }) => status >= 300)
      if (bad === undefined) settled += 1
      else {
        refused += 1
        faults.add(line, '', bad.body.detail ?? '', safe(`${shown}: ${bad.body.detail}`))
      }
      await done(bad === undefined ? 'yes' : (bad.body.detail ?? 'refused'))
    }
    waiting = []
    operations = 0
  }

  return {
    get settled() {
      return settled
    },
    get refused() {
      return refused
    },
    get isInterrupted() {
      return signal.aborted
    },
    get isDone() {
      return isDone
    },
    async add(message) {
      waiting.push(message)
      operations += message.steps.length
      if (operations >= BATCH) await send()
    },
    async flush() {
      await send()
      isDone = waiting.length === 0
    },
    faults: () => faults.shown(MAX_KINDS).lines,
  }
}
