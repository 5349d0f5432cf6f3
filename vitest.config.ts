import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // One database server for the whole run; each test file makes its own database on it. And the console, as it is now.
    globalSetup: ['test/support/cluster.ts', 'test/support/build-console.ts'],
    // Processes, not threads: tests start, kill and adopt processes of their own.
    pool: 'forks',
    maxWorkers: 2,
    // The files of a worker share its modules: to load the service anew for each of 140 files takes a third of the run.
    isolate: false,
    // These end only what hangs: a machine with other work may take ten times as long as usual.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000 } },
    watch: false,
    // What .ci/run counts.
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'test-results.json' }]] : ['default'],
  },
})
