import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { retryDelayOf } from '../../../api/problem.ts'
import { type Job, Stopped } from '../../../queries/many.ts'

export type JobState = 'running' | 'waiting' | 'paused' | 'failed' | 'done'

/** Attempts without any progress before the user is asked: a minute of an outage. */
const MAX_ATTEMPTS = 30
const RETRY_MS = 2_000

/** How many jobs run, and what renders again when that changes. */
let running = 0
const listeners = new Set<() => void>()

function addRunning(change: 1 | -1): void {
  running += change
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether a job runs on the page: what would replace it is not offered meanwhile. */
export function useIsJobRunning(): boolean {
  return useSyncExternalStore(subscribe, () => running > 0)
}

/**
 * Runs a job from the first render on. While the service is away it is repeated; another error, or the user, stops it.
 *
 * @param job as of the first render
 * @param nothing the progress before it begins
 * @param onEnd called each time the job stops: when all is done, or for another reason, such as an error
 */
export function useJob<P>(job: Job<P>, nothing: P, onEnd: (isDone: boolean, error: Error | null) => void = () => {}) {
  const [run] = useState(() => job)
  const [state, setState] = useState<JobState>('running')
  const [progress, setProgress] = useState(nothing)
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
    let failure: Error | null = null
    const report = (next: P) => {
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
        const reason = caught instanceof Error ? caught : new Error(String(caught))
        setError(reason)
        if (delayMs === null || attempts > MAX_ATTEMPTS) {
          failure = reason
          setState('failed')
          break
        }
        setState('waiting')
        await new Promise(resolve => setTimeout(resolve, delayMs))
      }
    }
    end.current(isDone, failure)
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
  const isBusy = state === 'running' || state === 'waiting'
  useEffect(() => {
    if (!isBusy) return
    addRunning(1)
    return () => addRunning(-1)
  }, [isBusy])
  return { state, isBusy, progress, error, pause, resume: () => void start() }
}
