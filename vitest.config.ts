import { readFileSync, statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { filesByNeed } from './test/support/projects.ts'
import { results } from './test/support/results.ts'
import { slowest } from './test/support/slowest.ts'

/** What has to run before the tests of each need. */
const SETUP = {
  long: ['test/support/database-server.ts', 'test/support/build-console.ts'],
  process: ['test/support/database-server.ts', 'test/support/build-console.ts'],
  console: ['test/support/database-server.ts', 'test/support/build-console.ts'],
  database: ['test/support/database-server.ts'],
  transformed: [],
  pure: [],
}

/** Those of processes take longest and come first: one of the last would keep a single worker busy. */
const ORDER = ['long', 'process', 'console', 'database', 'transformed', 'pure'] as const

/** Long ones run if a command asks for all of them, as `npm run test:long` does, or names one of their files. */
const isLongAskedFor = process.argv.some(word => word === '--project=long' || word.includes('.long.'))

/** Those that import modules of the console, which are JSX, or replace a package. */
const TRANSFORMED: ReadonlySet<string> = new Set(['console', 'transformed'])

class ByNeed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return ORDER.flatMap(need => sorted.filter(({ project }) => project.name === need))
  }
}

/**
 * There, changes by administrators and jobs commit in two phases, and take ten times as long. A test that times out goes on
 * beside the next one: a rollup then met a truncate, and the coordinator reported a distributed deadlock.
 */
const ON_CLUSTER = process.env.TEST_CLUSTER_URL !== undefined

const FILES = filesByNeed()

const IN_MEMORY = '/dev/shm'
const ROOM = 6 * 1024 ** 3

/** Whether the temporary files of a run fit into a folder in memory, and programs may run there. */
function hasRoom(folder: string): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find(line => line.split(' ')[1] === folder)
    if (mount === undefined || mount.includes('noexec')) return false
    const { bavail, bsize } = statfsSync(folder)
    return Math.min(bavail * bsize, process.availableMemory()) > ROOM
  } catch {
    return false
  }
}

// The tests make and drop hundreds of databases. On a disk, each takes a third of a second of the processor for its files alone.
if (hasRoom(IN_MEMORY)) process.env.TMPDIR ??= IN_MEMORY

export default defineConfig({
  test: {
    projects: ORDER.filter(need => need !== 'long' || isLongAskedFor).map(need => ({
      extends: true,
      test: {
        name: need,
        include: FILES[need],
        globalSetup: SETUP[need],
        // Node.js loads the modules itself, as it does in the service: nothing is transformed, and the code that it compiled is kept.
        experimental: { viteModuleRunner: TRANSFORMED.has(need), nodeLoader: false },
      },
    })),
    // Processes, not threads: tests start, kill and adopt processes of their own.
    pool: 'forks',
    maxWorkers: 3,
    sequence: { sequencer: ByNeed },
    // The files of a worker share its modules: to load the service anew for each of 140 files takes a third of the run.
    isolate: false,
    // These end only what hangs: a machine with other work may take ten times as long as usual.
    testTimeout: ON_CLUSTER ? 600_000 : 120_000,
    hookTimeout: ON_CLUSTER ? 600_000 : 240_000,
    expect: { poll: { timeout: 30_000 } },
    watch: false,
    // The last one is what .ci/run counts.
    reporters: process.env.CI ? ['default', slowest, results('test-results.txt')] : ['default', slowest],
  },
})
