import type { Author } from '../../admin/author.ts'
import type { BulkOutcome } from '../../admin/bulk-change.ts'
import type { BulkRecord } from '../../contract/bulk.ts'
import { MAX_LISTED_FAILURES, MAX_SAMPLES } from '../../domain/bounds.ts'
import { viewOf } from '../../domain/view.ts'
import type { Problem } from '../../errors.ts'
import { problemOf } from '../platform/problems.ts'
import { noSuchQuota, refusal } from './responses.ts'
import type { StepPacer } from './step-pacer.ts'

/** How often progress is reported. */
const PROGRESS_MS = 1_000

export interface BulkOptions {
  /** Who changes the quotas, as of now: each step has a time of its own. */
  author: () => Author
  pacer: StepPacer
  /** Changes quotas in one transaction, or in a dry run decides what would change. */
  step(ids: readonly number[], author: Author): Promise<BulkOutcome[]>
  isDryRun: boolean
  /** Called with an error that stops the bulk change. */
  onStopped(error: unknown): void
}

/**
 * Changes selected quotas, step by step, and yields the records of the response. It selects further quotas only after a step
 * has committed. If the call breaks off, the steps so far stay.
 *
 * @param selected ids in parts of any size, also empty ones
 */
export async function* bulkOf(
  selected: AsyncIterable<readonly number[]>,
  options: BulkOptions,
): AsyncGenerator<BulkRecord, void> {
  const run = new Bulk(options)
  try {
    for await (const ids of selected) {
      yield* run.add(ids)
      yield* run.progress()
    }
    yield* run.finish()
    yield { record: 'end', ...run.counts }
  } catch (error) {
    options.onStopped(error)
    const { code, message } = problemOf(error, Number.POSITIVE_INFINITY)
    yield { record: 'stopped', ...run.counts, code, detail: message }
  }
}

class Bulk {
  readonly counts = { changed: 0, changed_before: 0, unchanged: 0, failed: 0 }
  private readonly options: BulkOptions
  private waiting: number[] = []
  private samples = 0
  private reportedAt = performance.now()

  constructor(options: BulkOptions) {
    this.options = options
  }

  /** Adds quotas, and carries out the steps that are full. */
  async *add(ids: readonly number[]): AsyncGenerator<BulkRecord, void> {
    this.waiting.push(...ids)
    while (this.waiting.length >= this.options.pacer.rows)
      yield* this.step(this.waiting.splice(0, this.options.pacer.rows))
  }

  /** Carries out what is left. */
  async *finish(): AsyncGenerator<BulkRecord, void> {
    if (this.waiting.length > 0) yield* this.step(this.waiting)
  }

  *progress(): Generator<BulkRecord, void> {
    if (performance.now() - this.reportedAt < PROGRESS_MS) return
    this.reportedAt = performance.now()
    yield { record: 'progress', ...this.counts }
  }

  private async *step(ids: readonly number[]): AsyncGenerator<BulkRecord, void> {
    const { pacer, step, author } = this.options
    const outcomes = await pacer.run(ids, part => step(part, author()))
    for (const [index, id] of ids.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) throw new Error(`quota ${id} has no outcome`)
      yield* this.report(id, outcome)
    }
    yield* this.progress()
  }

  private *report(id: number, outcome: BulkOutcome): Generator<BulkRecord, void> {
    switch (outcome.outcome) {
      case 'changed':
        this.counts.changed += 1
        yield* this.sample(outcome)
        return
      case 'changed_before':
      case 'unchanged':
        this.counts[outcome.outcome] += 1
        return
      case 'not_found':
        yield* this.fail(id, null, noSuchQuota(id))
        return
      default:
        yield* this.fail(id, outcome.userId, refusal(outcome))
    }
  }

  private *sample({ before, after }: Extract<BulkOutcome, { outcome: 'changed' }>): Generator<BulkRecord, void> {
    if (!this.options.isDryRun || this.samples >= MAX_SAMPLES) return
    this.samples += 1
    const { now } = this.options.author()
    yield { record: 'sample', before: viewOf(before, now), after: viewOf(after, now) }
  }

  private *fail(quotaId: number, userId: number | null, { code, message }: Problem): Generator<BulkRecord, void> {
    this.counts.failed += 1
    if (this.counts.failed > MAX_LISTED_FAILURES) return
    yield { record: 'failed', quota_id: quotaId, user_id: userId, code, detail: message }
  }
}
