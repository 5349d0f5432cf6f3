/**
 * Two senders: a polite one at about 30 % of what the service can do, alone and beside a greedy one that sends as much as it
 * can. The goal is that the polite one's p99 stays within twice of what it is alone.
 */
import type { FloodJob } from '../flood.ts'
import type { Job, LoadResult } from '../load-generator/job.ts'
import { median } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { FULL_LOAD, mintFor, startService, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, type Findings, latencyRow } from './bench.ts'

/** The part of the full rate at which the polite sender calls. */
const POLITE = 0.3
const POLITE_LOAD = { connections: 64, depth: 1, operations: 1 }
/** The part of the full rate that SENDER_OPERATIONS_PER_SECOND allows each sender: more than the polite one needs. */
const LIMIT = 0.4
/** The greedy sender is at full force for this long before the measurement begins, and its first burst is over. */
const AHEAD_MS = 3_000
/** Each sends again when it has its answers: as many calls wait as the connections and their depth allow. */
const UNLIMITED: Record<string, Pick<Job, 'connections' | 'depth' | 'operations'>> = {
  'single calls': { ...FULL_LOAD, operations: 1 },
  'batches of 1,000': { connections: 32, depth: 1, operations: 1_000 },
}

export async function greedySenderCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, databaseUrl, loadGenerator, secret, token } = await startTestBed(bench, 'greedy')
  const other = startWorker('load-generator.ts', { flags: bench.flagsFor('greedy') })
  const flood = startWorker('flood.ts', { flags: bench.flagsFor('flood') })
  for (const worker of [other, flood]) bench.cleanup.add(() => worker.stop())
  const shared = { users: USERS, warmupMs: AHEAD_MS, measureMs: settings.measureMs }
  let jobs = 0
  const prefix = () => {
    jobs += 1
    return `g${jobs}-`
  }

  say('the full rate')
  const all: Job = { ...shared, urls: [service.url], ...FULL_LOAD, operations: 1, token, rate: null, prefix: prefix() }
  // The second one is measured.
  await loadGenerator.ask<LoadResult>({ ...all, prefix: prefix() } satisfies Job)
  const full = await loadGenerator.ask<LoadResult>(all)
  const fullRate = full.operations / full.seconds
  const rate = Math.round(fullRate * POLITE)
  const politeToken = await mintFor('sender', secret, 'polite')
  const greedyToken = await mintFor('sender', secret, 'greedy')
  const polite = (url: string) =>
    loadGenerator.ask<LoadResult>({
      ...shared,
      ...POLITE_LOAD,
      urls: [url],
      token: politeToken,
      rate,
      prefix: prefix(),
    } satisfies Job)

  const findings: Findings = { rows: [], details: [], notes: [] }
  async function compare(name: string, url: string, sendGreedily: () => Promise<string>): Promise<void> {
    say(`${rate} calls/s, alone and beside ${name}`)
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    let greedyOutcome = ''
    // A service that has just started is slower.
    await polite(url)
    await Promise.all([polite(url), sendGreedily()])
    for (let round = 0; round < settings.rounds; round++) {
      alone.push(await polite(url))
      const [own, outcome] = await Promise.all([polite(url), sendGreedily()])
      beside.push(own)
      greedyOutcome = outcome
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
    findings.notes.push(
      `Beside ${name}: ${refused} of the polite sender's calls were refused. The greedy one in the last round: ${greedyOutcome}.`,
    )
  }

  for (const [name, load] of Object.entries(UNLIMITED)) {
    await compare(name, service.url, async () => {
      const job = { ...shared, ...load, urls: [service.url], token: greedyToken, rate: null, prefix: prefix() }
      const { operations, seconds } = await other.ask<LoadResult>({ ...job, isLowPriority: true } satisfies Job)
      return `${Math.round(operations / seconds).toLocaleString('en')} operations/s`
    })
  }

  const limit = Math.round(fullRate * LIMIT)
  const limited = await startService(bench, databaseUrl, secret, { SENDER_OPERATIONS_PER_SECOND: String(limit) })
  await compare('single calls, limited to 40 %', limited.url, async () => {
    const ms = shared.warmupMs + shared.measureMs
    const job: FloodJob = { kind: 'reserves', url: limited.url, token: greedyToken, connections: 256, users: USERS, ms }
    const answers = await flood.ask<Record<number, number>>(job)
    const counts = Object.entries(answers).map(([status, count]) => `${count.toLocaleString('en')} × ${status}`)
    return `${counts.join(', ')} in ${ms / 1_000} s, of ${limit.toLocaleString('en')}/s allowed`
  })
  findings.notes.push(
    `The polite sender makes ${rate.toLocaleString('en')} calls a second, 30 % of the full rate. The greedy one has the lowest priority of the CPU: its own cost is none of the service's.`,
  )
  return findings
}
