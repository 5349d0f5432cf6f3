import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Tests of processes come first. Without durations of an earlier run, vitest starts with the largest files; these are small and
 * take long, so that one of the last would keep a single worker busy.
 */
class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isOfProcess = ({ moduleId }: TestSpecification) => moduleId.includes('/test/process/')
    return [...sorted.filter(isOfProcess), ...sorted.filter(file => !isOfProcess(file))]
  }
}

/**
 * There, changes by administrators and jobs commit in two phases, and take ten times as long. A test that times out goes on
 * beside the next one: a rollup then met a truncate, and the coordinator reported a distributed deadlock.
 */
const ON_CLUSTER = process.env.TEST_CLUSTER_URL !== undefined

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // One database server for the whole run; each test file makes its own database on it. And the console, as it is now.
    globalSetup: ['test/support/cluster.ts', 'test/support/build-console.ts'],
    // Processes, not threads: tests start, kill and adopt processes of their own.
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: ProcessesFirst },
    // The files of a worker share its modules: to load the service anew for each of 140 files takes a third of the run.
    isolate: false,
    // These end only what hangs: a machine with other work may take ten times as long as usual.
    testTimeout: ON_CLUSTER ? 600_000 : 120_000,
    hookTimeout: ON_CLUSTER ? 600_000 : 240_000,
    expect: { poll: { timeout: 30_000 } },
    watch: false,
    // What .ci/run counts.
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results.json' }]] : ['default'],
  },
})
