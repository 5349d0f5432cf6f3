/**
 * Two senders: a polite one at about 30 % of what the service can do, alone and beside a greedy one that sends as much as it
 * can. The goal is that the polite one's p99 stays within twice of what it is alone.
 */
import type { Job, LoadResult } from '../load-generator/job.ts'
import { median } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { FULL_LOAD, mintFor, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, type Findings, latencyRow } from './bench.ts'

/** The part of the full rate at which the polite sender calls. */
const POLITE = 0.3
const POLITE_LOAD = { connections: 64, depth: 1, operations: 1 }
/** Each sends again when it has its answers: as many calls wait as the connections and their depth allow. */
const GREEDY: Record<string, Pick<Job, 'connections' | 'depth' | 'operations'>> = {
  'single calls': { ...FULL_LOAD, operations: 1 },
  'batches of 1,000': { connections: 32, depth: 1, operations: 1_000 },
}

export async function greedySenderCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, loadGenerator, secret, token } = await startTestBed(bench, 'greedy')
  const other = startWorker('load-generator.ts', { flags: bench.flagsFor('greedy') })
  bench.cleanup.add(() => other.stop())
  const shared = { urls: [service.url], users: USERS, warmupMs: settings.warmupMs, measureMs: settings.measureMs }
  let jobs = 0
  const prefix = () => {
    jobs += 1
    return `g${jobs}-`
  }

  say('the full rate')
  const all: Job = { ...shared, ...FULL_LOAD, operations: 1, token, rate: null, prefix: prefix() }
  // The second one is measured.
  await loadGenerator.ask<LoadResult>({ ...all, prefix: prefix() } satisfies Job)
  const full = await loadGenerator.ask<LoadResult>(all)
  const rate = Math.round((full.operations / full.seconds) * POLITE)
  const polite = async () => {
    const job: Job = {
      ...shared,
      ...POLITE_LOAD,
      token: await mintFor('sender', secret, 'polite'),
      rate,
      prefix: prefix(),
    }
    return loadGenerator.ask<LoadResult>(job)
  }
  const greedyToken = await mintFor('sender', secret, 'greedy')

  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const [name, load] of Object.entries(GREEDY)) {
    say(`${rate} calls/s, alone and beside ${name}`)
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    for (let round = 0; round < settings.rounds; round++) {
      alone.push(await polite())
      const greedy: Job = { ...shared, ...load, token: greedyToken, rate: null, prefix: prefix() }
      const [own] = await Promise.all([polite(), other.ask<LoadResult>(greedy)])
      beside.push(own)
    }
    const p99 = (results: LoadResult[]) => median(results.map(result => result.p99))
    findings.rows.push(
      latencyRow(`beside a greedy sender (${name}), latency p99`, 'the same sender alone', {
        ours: p99(beside),
        theirs: p99(alone),
        max: 2,
      }),
    )
    const refused = beside.reduce((sum, result) => sum + result.refused, 0)
    findings.notes.push(`Beside ${name}: ${refused} of the polite sender's calls were refused.`)
  }
  return findings
}
