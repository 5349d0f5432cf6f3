import type { Log } from '../../db/connection/database.ts'

/** How often the service checks whether it can serve, in milliseconds. */
const CHECK_MS = 1_000
/** A check that takes longer counts as failed, in milliseconds. */
const TIMEOUT_MS = 2_000

const NO_ANSWER = 'the database does not answer'

/**
 * The readiness of the service, as `/readyz` answers it. One check a second sets it, so that a call costs no query.
 *
 * | state    | ready                   | leaves it by |
 * |----------|-------------------------|--------------|
 * | starting | no                      | `watch`      |
 * | watched  | as the latest check says | `refuse`    |
 * | refusing | no, for good            |              |
 */
export interface Readiness {
  /** Why the service is not ready; null if it is. */
  readonly reason: string | null
  /**
   * Checks now, and then once a second until `stop`. Resolves after the first check.
   * @param check resolves to the reason against readiness, null if there is none; a rejection stands for no answer
   */
  watch(check: () => Promise<string | null>, log: Log): Promise<void>
  /** From now on the service is not ready, for this reason. */
  refuse(reason: string): void
  /** Ends the checks. Resolves when none runs. */
  stop(): Promise<void>
}

/** Runs `run` after some milliseconds. Returns what cancels it. */
type Later = (ms: number, run: () => void) => () => void

const byTimer: Later = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

export function createReadiness(later: Later = byTimer): Readiness {
  let reason: string | null = 'the service is starting'
  let isFinal = false
  let isStopped = false
  let hasChecked = false
  let cancelNext = () => {}
  let checking = Promise.resolve()

  function set(next: string | null, log: Log): void {
    if (isFinal || next === reason) return
    if (next !== null) log.warn({ reason: next }, 'readiness: not ready')
    else if (hasChecked) log.info({}, 'readiness: ready again')
    reason = next
  }

  async function run(check: () => Promise<string | null>, log: Log): Promise<void> {
    const cancelTimeout = later(TIMEOUT_MS, () => set(NO_ANSWER, log))
    const due = Promise.withResolvers<void>()
    cancelNext = later(CHECK_MS, due.resolve)
    const next = await check().catch(() => NO_ANSWER)
    cancelTimeout()
    set(next, log)
    hasChecked = true
    void due.promise.then(() => {
      if (!isStopped) checking = run(check, log)
    })
  }

  return {
    get reason() {
      return reason
    },
    watch(check, log) {
      checking = run(check, log)
      return checking
    },
    refuse(why) {
      reason = why
      isFinal = true
    },
    async stop() {
      isStopped = true
      cancelNext()
      await checking
    },
  }
}
