/**
 * Limits how many batches are in flight. Each batch in flight has a slot, and at most `workers` slots exist at a time.
 *
 * | slot    | meaning                            | entered by                               | left by                 |
 * |---------|------------------------------------|------------------------------------------|-------------------------|
 * | running | the batch makes progress           | `start`                                  | stalled, blocked, `end` |
 * | stalled | it waits for a disk                | `stallMs` after the start                | blocked, `end`          |
 * | blocked | it waits for a lock or tries again | `reportBlocked`; 100 ms after the start; | `end`                   |
 * |         |                                    | `start`, if the lane's last batch        |                         |
 * |         |                                    | reported that it was blocked             |                         |
 *
 * Bounds: a batch starts as running only while fewer than `concurrency` slots are running, so a stalled or a blocked
 * one makes room for another. If the last batch of a lane reported that it was blocked, the next one starts as blocked,
 * and only while the blocked slots are fewer than half of the workers (rounded down, but at least one): locks cannot
 * take all workers.
 */

export interface LimiterOptions {
  /** The maximum number of batches in flight. */
  readonly workers: number
  /** The maximum number of running slots; all workers if left out. With fewer, more commands gather for each batch. */
  readonly concurrency?: number
  /** After how many milliseconds a running slot counts as stalled; 100 if left out. */
  readonly stallMs?: number
  /** A slot has changed its state: another batch may be able to start. */
  onRoom(): void
}

export interface Slot {
  /** The batch waits for a lock, or tries again. Has an effect until `end` only. */
  readonly reportBlocked: () => void
  readonly end: () => void
}

export interface Limiter {
  /** Whether all workers are taken. */
  readonly isFull: boolean
  readonly inFlight: number
  /** Whether a batch of the lane may start now, provided that `isFull` is false. */
  canStart(lane: number): boolean
  start(lane: number): Slot
}

type SlotState = 'running' | 'stalled' | 'blocked'

/** A slot that lasts longer counts as blocked until it ends: a flush to a disk does not take that long. */
const BLOCKED_MS = 100

/** @throws RangeError if `workers` is below 1: no batch would ever run. */
export function createLimiter(options: LimiterOptions): Limiter {
  const { workers, concurrency = workers, stallMs = BLOCKED_MS, onRoom } = options
  if (!(workers >= 1)) throw new RangeError('workers must be at least 1')
  const blockedWorkers = Math.max(1, Math.floor(workers / 2))
  /** The lanes whose last batch reported that it was blocked. */
  const blockedLanes = new Set<number>()
  const slots: Record<SlotState, number> = { running: 0, stalled: 0, blocked: 0 }
  let inFlight = 0

  function start(lane: number): Slot {
    let state: SlotState = blockedLanes.has(lane) ? 'blocked' : 'running'
    let hasReported = false
    let isOver = false
    inFlight += 1
    slots[state] += 1
    const become = (next: SlotState) => {
      if (state === 'blocked') return
      slots[state] -= 1
      state = next
      slots[state] += 1
      onRoom()
    }
    const stalling = setTimeout(become, stallMs, 'stalled')
    const blocking = setTimeout(become, BLOCKED_MS, 'blocked')
    return {
      reportBlocked() {
        if (isOver) return
        hasReported = true
        become('blocked')
      },
      end() {
        isOver = true
        clearTimeout(stalling)
        clearTimeout(blocking)
        slots[state] -= 1
        inFlight -= 1
        if (hasReported) blockedLanes.add(lane)
        else blockedLanes.delete(lane)
      },
    }
  }

  return {
    get isFull() {
      return inFlight === workers
    },
    get inFlight() {
      return inFlight
    },
    canStart: lane => (blockedLanes.has(lane) ? slots.blocked < blockedWorkers : slots.running < concurrency),
    start,
  }
}
