/**
 * Senders at 30 % of what the service can handle, undisturbed and beside each kind of flood. The goal is that their p99 stays
 * within twice the undisturbed one; beside 400 connections that ask for a path without a token, that p50 stays within twice and p99
 * within five times of it.
 */
import type { FloodJob, FloodKind } from '../flood.ts'
import type { Job, LoadResult } from '../load-generator/job.ts'
import { median } from '../measure.ts'
import { OPEN_PATHS } from '../open-paths.ts'
import { cpuSeconds, startWorker } from '../servers/processes.ts'
import { FULL_LOAD, startTestBed, type Target, USERS } from '../servers/test-bed.ts'
import { type Bench, type Findings, latencyRow } from './bench.ts'

const FLOODS: Partial<Record<FloodKind, { connections: number }>> = {
  'slow bodies': { connections: 12 },
  'forged tokens': { connections: 32 },
  'invalid calls': { connections: 32 },
}
const SHARE = 0.3
/** Few enough that a pause of the service leaves none with more requests ahead than it takes. */
const POLITE = { connections: 256, depth: 1, operations: 1, users: USERS }
const MAX_RATIO = 2
const OPEN = { connections: 400, maxP50: 2, maxP99: 5 }
/** A flood is at full force for this long before the measurement begins. */
const AHEAD_MS = 2_000

export async function floodsCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, loadGenerator, token } = await startTestBed(bench, 'floods')
  const flood = startWorker('flood.ts', { flags: bench.flagsFor('flood') })
  bench.cleanup.add(() => flood.stop())
  const base = { urls: [service.url], token, warmupMs: AHEAD_MS, measureMs: settings.isQuick ? 3_000 : 5_000 }
  say('measuring the capacity')
  const full = { ...base, ...FULL_LOAD, users: USERS, operations: 1, rate: null, prefix: 'full-' }
  const capacity = await loadGenerator.ask<LoadResult>(full satisfies Job)
  const rate = Math.round((SHARE * capacity.operations) / capacity.seconds)
  let runs = 0
  const polite = async () => {
    runs += 1
    const before = await busySeconds(service)
    const job = { ...base, ...POLITE, rate, prefix: `p${runs}-` } satisfies Job
    const result = await loadGenerator.ask<LoadResult>(job)
    const seconds = (base.warmupMs + base.measureMs) / 1_000
    return { ...latenciesOf(result), cpu: ((await busySeconds(service)) - before) / seconds }
  }

  const findings: Findings = { rows: [], details: [], notes: [] }
  const floods = { ...FLOODS, ...Object.fromEntries(Object.values(OPEN_PATHS).map(path => [path, OPEN])) }
  for (const [kind, { connections }] of Object.entries(floods) as [FloodKind, { connections: number }][]) {
    say(`senders at ${rate.toLocaleString('en')}/s, beside ${kind}`)
    const calm: Quantities[] = []
    const disturbed: Quantities[] = []
    const answers: Record<number, number> = {}
    for (let round = 0; round < (kind in FLOODS ? settings.rounds : 1); round++) {
      calm.push(await polite())
      const ms = base.warmupMs + base.measureMs
      const job: FloodJob = { kind, url: service.url, token, connections, users: USERS, ms }
      const [answered, result] = await Promise.all([flood.ask<Record<number, number>>(job), polite()])
      disturbed.push(result)
      for (const [status, count] of Object.entries(answered)) {
        answers[Number(status)] = (answers[Number(status)] ?? 0) + count
      }
    }
    const medianOf = (runs: Quantities[], name: keyof Quantities) => median(runs.map(run => run[name]))
    const row = (name: 'p50' | 'p99', max: number) => {
      const sides = { ours: medianOf(disturbed, name), theirs: medianOf(calm, name), max }
      return latencyRow(`${name} of senders beside ${kind}, ${connections} connections`, 'undisturbed', sides)
    }
    findings.rows.push(
      ...(kind in FLOODS ? [row('p99', MAX_RATIO)] : [row('p50', OPEN.maxP50), row('p99', OPEN.maxP99)]),
    )
    const counts = Object.entries(answers).map(([status, count]) => `${count.toLocaleString('en')} × ${status}`)
    const cores = (side: Quantities[]) => `${Math.round(medianOf(side, 'cpu') * 100)} %`
    findings.notes.push(
      `Beside ${kind} the service used ${cores(disturbed)} of a core, undisturbed ${cores(calm)}. Answers: ${counts.join(', ') || 'none'}.`,
    )
  }
  findings.notes.push(`The senders made ${rate.toLocaleString('en')} calls a second, ${SHARE * 100} % of the capacity.`)
  return findings
}

interface Quantities {
  /** Of the senders' calls, in milliseconds. */
  p50: number
  p99: number
  /** CPU of the service, in cores. */
  cpu: number
}

async function busySeconds({ processes }: Target): Promise<number> {
  const { service } = processes
  return (service && (await cpuSeconds(service.pid))) ?? Number.NaN
}

function latenciesOf({ refused, firstRefusal, p50, p99 }: LoadResult): { p50: number; p99: number } {
  if (refused > 0) throw new Error(`${refused} calls of the senders failed; the first: ${firstRefusal}`)
  return { p50, p99 }
}
