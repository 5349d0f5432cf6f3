import type { Author } from '../../admin/author.ts'
import type { BulkOutcome } from '../../admin/bulk-change.ts'
import type { BulkRecord } from '../../contract/bulk.ts'
import { MAX_LISTED_FAILURES, MAX_SAMPLES } from '../../domain/bounds.ts'
import { viewOf } from '../../domain/view.ts'
import type { Problem } from '../../errors.ts'
import { refusal } from '../changes/outcomes.ts'
import type { StepPacer } from '../changes/step-pacer.ts'
import { streamSteps } from '../changes/step-stream.ts'
import { quotaOf } from './responses.ts'

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
 * Changes selected quotas, step by step, and yields the records of the response.
 *
 * @param selected ids in parts of any size, also empty ones
 */
export function bulkOf(
  selected: AsyncIterable<readonly number[]>,
  { author, pacer, step, isDryRun, onStopped }: BulkOptions,
): AsyncGenerator<BulkRecord, void> {
  const report = new Report(isDryRun, author)
  return streamSteps(selected, {
    pacer,
    step: ids => step(ids, author()),
    linesOf: (id, outcome) => report.linesOf(id, outcome),
    counts: () => report.counts,
    onStopped,
  })
}

class Report {
  readonly counts = { changed: 0, changed_before: 0, unchanged: 0, failed: 0 }
  private readonly isDryRun: boolean
  private readonly author: () => Author
  private samples = 0

  constructor(isDryRun: boolean, author: () => Author) {
    this.isDryRun = isDryRun
    this.author = author
  }

  *linesOf(id: number, outcome: BulkOutcome): Generator<BulkRecord, void> {
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
        yield* this.fail(id, null, refusal(outcome, quotaOf(id)))
        return
      default:
        yield* this.fail(id, outcome.userId, refusal(outcome))
    }
  }

  private *sample({ before, after }: Extract<BulkOutcome, { outcome: 'changed' }>): Generator<BulkRecord, void> {
    if (!this.isDryRun || this.samples >= MAX_SAMPLES) return
    this.samples += 1
    const { now } = this.author()
    yield { record: 'sample', before: viewOf(before, now), after: viewOf(after, now) }
  }

  private *fail(quotaId: number, userId: number | null, { code, message }: Problem): Generator<BulkRecord, void> {
    this.counts.failed += 1
    if (this.counts.failed > MAX_LISTED_FAILURES) return
    yield { record: 'failed', quota_id: quotaId, user_id: userId, code, detail: message }
  }
}
