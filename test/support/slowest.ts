import type { Reporter } from 'vitest/node'

const SHOWN = 20
const SLOW_MS = 1_000

/** Prints the tests that took longest: where the time of a run goes. */
export const slowest: Reporter = {
  onTestRunEnd(modules) {
    const slow = modules
      .flatMap(module => Array.from(module.children.allTests(), test => ({ module, test })))
      .map(({ module, test }) => ({
        name: `${module.relativeModuleId} > ${test.fullName}`,
        ms: test.diagnostic()?.duration ?? 0,
      }))
      .filter(({ ms }) => ms >= SLOW_MS)
      .toSorted((one, other) => other.ms - one.ms)
      .slice(0, SHOWN)
    const lines = slow.map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}\n`)
    if (lines.length > 0) process.stdout.write(`\nThe slowest tests:\n${lines.join('')}`)
  },
}
