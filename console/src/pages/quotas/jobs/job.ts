import { useEffect, useRef, useState } from 'react'
import { retryDelayOf } from '../../../api/problem.ts'

/** What became of the rows or quotas so far. */
export interface Progress {
  done: number
  counts: Readonly<Partial<Record<CountName, number>>>
  failed: number
  /** The failures that the service lists: the first 1,000 of each call. */
  failures: readonly Failure[]
}
export type CountName = 'created' | 'updated' | 'changed' | 'unchanged'

export interface Failure {
  /** For example "Line 3" or "Quota 12 of user 7". */
  place: string
  reason: string
  /** What differs among failures with the same reason, such as the name of a quota. */
  detail?: string
  /** What failed: the place of the row, or the id of the quota. */
  subject?: string | number
}

/** The reason with its detail. */
export function whyOf({ reason, detail }: Failure): string {
  return detail === undefined ? reason : `${reason} ${detail}`
}

/**
 * A change of many rows or quotas. Called again after a break, it goes on where it was and changes nothing twice.
 *
 * @throws ApiProblem, Unreachable, Stopped
 */
export type Job = (context: { report(progress: Progress): void; signal: AbortSignal }) => Promise<void>

/** The service ended its answer before all was done. */
export class Stopped extends Error {}

export const NOTHING_DONE: Progress = { done: 0, counts: {}, failed: 0, failures: [] }

export function sumOf(parts: readonly Progress[]): Progress {
  const counts: Partial<Record<CountName, number>> = {}
  for (const part of parts) {
    for (const [name, count] of Object.entries(part.counts)) {
      const known = name as CountName
      counts[known] = (counts[known] ?? 0) + count
    }
  }
  return {
    done: parts.reduce((sum, { done }) => sum + done, 0),
    counts,
    failed: parts.reduce((sum, { failed }) => sum + failed, 0),
    failures: parts.flatMap(({ failures }) => failures),
  }
}

export type JobState = 'running' | 'waiting' | 'paused' | 'failed' | 'done'

/** Attempts without any progress before the user is asked: a minute of an outage. */
const MAX_ATTEMPTS = 30
const RETRY_MS = 2_000

/**
 * Runs a job from the first render on. While the service is away it is repeated; another error, or the user, stops it.
 *
 * @param job as of the first render
 * @param onEnd called each time the job stops: when all is done, or for another reason
 */
export function useJob(job: Job, onEnd: (isDone: boolean) => void) {
  const [run] = useState(() => job)
  const [state, setState] = useState<JobState>('running')
  const [progress, setProgress] = useState(NOTHING_DONE)
  const [error, setError] = useState<Error | null>(null)
  const controller = useRef<AbortController>(null)
  const end = useRef(onEnd)
  end.current = onEnd

  async function start(): Promise<void> {
    const stop = new AbortController()
    const { signal } = stop
    controller.current = stop
    setError(null)
    let attempts = 0
    let isDone = false
    const report = (next: Progress) => {
      attempts = 0
      setProgress(next)
    }
    while (!signal.aborted) {
      setState('running')
      try {
        await run({ report, signal })
        isDone = true
        setState('done')
        break
      } catch (caught) {
        if (signal.aborted) break
        attempts += 1
        const delayMs = caught instanceof Stopped ? RETRY_MS : retryDelayOf(caught)
        setError(caught instanceof Error ? caught : new Error(String(caught)))
        if (delayMs === null || attempts > MAX_ATTEMPTS) {
          setState('failed')
          break
        }
        setState('waiting')
        await new Promise(resolve => setTimeout(resolve, delayMs))
      }
    }
    end.current(isDone)
  }
  function pause(): void {
    controller.current?.abort()
    setState('paused')
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the job starts once.
  useEffect(() => {
    void start()
    return () => controller.current?.abort()
  }, [])
  return { state, progress, error, pause, resume: () => void start() }
}
