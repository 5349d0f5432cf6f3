import { afterMs, type Timers } from '../../client/src/timers.ts'

const FASTER = 10

/** In these, ten seconds pass in one: for pauses that a test waits for. */
export const FAST: Timers = {
  now: () => performance.now() * FASTER,
  later: (ms, run, keepsAlive) => afterMs(ms / FASTER, run, keepsAlive),
}

/** The clock of a process, which a test moves. */
export function createTimers() {
  let time = 0
  const timers = new Map<object, { at: number; run: () => void }>()
  return {
    now: () => time,
    later(ms: number, run: () => void) {
      const timer = {}
      timers.set(timer, { at: time + ms, run })
      return () => timers.delete(timer)
    },
    pass(ms: number) {
      time += ms
      for (const [timer, { at, run }] of timers) {
        if (at > time) continue
        timers.delete(timer)
        run()
      }
    },
    timers: () => timers.size,
  }
}
