/**
 * Limits how many batches are in flight. Each batch in flight has a slot, and at most `workers` slots exist at a time.
 *
 * | slot     | meaning                                        | entered by                        | left by         |
 * |----------|------------------------------------------------|-----------------------------------|-----------------|
 * | running  | the batch makes progress                       | `start`                           | stalled, `end`  |
 * | stalled  | it has taken longer than its commands explain: | a time after the start that grows | `end`           |
 * |          | it waits for a disk or a lock                  | with the batch                    |                 |
 * | isolated | the batch may wait for as long as a lock lasts | `start`                           | `end`           |
 *
 * Bounds: a batch starts only while fewer than `concurrency` slots are running, and none while few commands wait, so that commands
 * gather into large batches, and a stalled one makes room for another. Batches that run isolated have at most half of the workers (rounded
 * down, but at least one): locks cannot take all of them.
 */

export interface LimiterOptions {
  /** The maximum number of batches in flight. */
  readonly workers: number
  /** The maximum number of running slots; all workers if left out. */
  readonly concurrency?: number
  /** While fewer commands wait than this, one batch runs at a time; 0 if left out. */
  readonly few?: number
  /** After how many milliseconds a running slot counts as stalled: this many, and this many more per command. */
  readonly stallMs?: number
  readonly stallMsPerCommand?: number
  /** A slot has become free, or has stalled: another batch may be able to start. */
  onRoom(): void
}

export interface Limiter {
  readonly inFlight: number
  /** Commands of the batches in flight. */
  readonly commands: number
  /** @param waiting the commands that wait */
  canStart(isIsolated: boolean, waiting: number): boolean
  /** Takes a slot for a batch of this many commands; the function that it returns frees it. */
  start(isIsolated: boolean, commands: number): () => void
}

type SlotState = 'running' | 'stalled' | 'isolated'

/** @throws RangeError if `workers` or `concurrency` is below 1: no batch would ever run. */
export function createLimiter(options: LimiterOptions): Limiter {
  const { workers, concurrency = workers, few = 0, stallMs = 100, stallMsPerCommand = 0, onRoom } = options
  if (!(workers >= 1)) throw new RangeError('workers must be at least 1')
  if (!(concurrency >= 1)) throw new RangeError('concurrency must be at least 1')
  const isolatedWorkers = Math.max(1, Math.floor(workers / 2))
  const slots: Record<SlotState, number> = { running: 0, stalled: 0, isolated: 0 }
  let inFlight = 0
  let commandsInFlight = 0

  return {
    get inFlight() {
      return inFlight
    },
    get commands() {
      return commandsInFlight
    },

    canStart(isIsolated, waiting) {
      if (inFlight >= workers) return false
      return isIsolated ? slots.isolated < isolatedWorkers : slots.running < (waiting < few ? 1 : concurrency)
    },

    start(isIsolated, commands) {
      let state: SlotState = isIsolated ? 'isolated' : 'running'
      inFlight += 1
      commandsInFlight += commands
      slots[state] += 1
      const stall = () => {
        slots.running -= 1
        slots.stalled += 1
        state = 'stalled'
        onRoom()
      }
      const stalling = isIsolated ? undefined : setTimeout(stall, stallMs + stallMsPerCommand * commands)
      return () => {
        clearTimeout(stalling)
        slots[state] -= 1
        inFlight -= 1
        commandsInFlight -= commands
        onRoom()
      }
    },
  }
}
