import { problemOf } from '../platform/problems.ts'
import type { StepPacer } from './step-pacer.ts'

/** How often progress is reported. */
const PROGRESS_MS = 1_000

export interface StepStreamOptions<Outcome, Line, Counts extends object> {
  pacer: StepPacer
  /** Carries out a step: one outcome for each id, in their order. */
  step(ids: readonly number[]): Promise<Outcome[]>
  /** Counts an outcome, and answers its lines. */
  linesOf(id: number, outcome: Outcome): Iterable<Line>
  /** The counts so far. */
  counts(): Counts
  /** Called with an error that stops the work. */
  onStopped(error: unknown): void
}

/**
 * Works through selected ids, step by step, and yields the lines of the response. It selects further ones only after a step has committed. If
 * the call breaks off, the steps so far stay.
 *
 * @param selected ids in parts of any size, also empty ones
 */
export async function* streamSteps<Outcome, Line, Counts extends object>(
  selected: AsyncIterable<readonly number[]>,
  { pacer, step, linesOf, counts, onStopped }: StepStreamOptions<Outcome, Line, Counts>,
) {
  const waiting: number[] = []
  let reportedAt = performance.now()
  function* progress() {
    if (performance.now() - reportedAt < PROGRESS_MS) return
    reportedAt = performance.now()
    yield { record: 'progress' as const, ...counts() }
  }
  async function* carryOut(ids: readonly number[]) {
    const outcomes = await pacer.run(ids, step)
    for (const [index, id] of ids.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) throw new Error(`${id} has no outcome`)
      yield* linesOf(id, outcome)
    }
    yield* progress()
  }
  try {
    for await (const ids of selected) {
      waiting.push(...ids)
      while (waiting.length >= pacer.rows) yield* carryOut(waiting.splice(0, pacer.rows))
      yield* progress()
    }
    if (waiting.length > 0) yield* carryOut(waiting)
    yield { record: 'end' as const, ...counts() }
  } catch (error) {
    onStopped(error)
    const { code, message } = problemOf(error, Number.POSITIVE_INFINITY)
    yield { record: 'stopped' as const, ...counts(), code, detail: message }
  }
}
