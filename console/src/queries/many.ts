import type { Answer, Input, Stream } from '../api/operations.ts'
import type { Progress } from '../model/job.ts'
import { callLines } from '../session/client.ts'
import { problemTexts } from '../texts/problems.ts'
import { texts } from '../texts/texts.ts'

/** Changes of many, whose answers are streams of records. */

/**
 * Work of many calls, by default a change of many rows or quotas. Called again after a break, it goes on where it was and changes
 * nothing twice.
 *
 * @throws ApiProblem, Unreachable, Stopped
 */
export type Job<P = Progress> = (context: { report(progress: P): void; signal: AbortSignal }) => Promise<void>

/** The service ended its answer before all was done. */
export class Stopped extends Error {}

/** What a look before a change keeps: what is confirmed is what was shown, and each look begins with what is stored now. */
export const LOOKED_AT = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 } as const

/** An operation that changes many. */
type Many = Extract<Stream, `POST ${string}`>

/**
 * The records of a change, up to the last one, which has the counts.
 *
 * @throws ApiProblem, Unreachable; Stopped after the record that says so, or if the answer broke off
 */
export async function* recordsOf<O extends Many>(operation: O, input: Input<O>): AsyncGenerator<Answer<O>, void> {
  for await (const record of callLines(operation, input)) {
    yield record
    if (record.record === 'stopped') throw new Stopped(reasonOf(record))
    if (record.record === 'end') return
  }
  throw new Stopped(texts.manyQuotas.jobs.brokenOff)
}

/** Why the service refused or stopped: in the language of the page, or in its own words for a code of a newer service. */
export function reasonOf({ code, detail }: { code: string; detail: string }): string {
  return problemTexts(code)?.text ?? detail
}
