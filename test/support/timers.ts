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
