/**
 * More load than the service can handle: batches of a thousand operations, and single calls beside them. The goal is that
 * the service answers 503 within 50 ms and carries out what it accepts.
 */
import type { Job, LoadResult } from '../load-generator/job.ts'
import { startWorker } from '../servers/processes.ts'
import { startTestBed, USERS } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

/** Batch calls per second: two and four times what the service can handle. */
const RATES = [40, 80]
const OPERATIONS = 1_000
/** More connections than calls in flight, so that no response waits behind another on its connection. */
const BATCHES = { connections: 400, depth: 1, operations: OPERATIONS }
const SINGLES = { connections: 100, depth: 1, operations: 1, rate: 200 }
const MAX_MS = 50

export async function overloadCase(bench: Bench): Promise<Findings> {
  const { service, loadGenerator, token } = await startTestBed(bench, 'overload')
  const singleCalls = startWorker('load-generator.ts', { flags: bench.flagsFor('single-calls') })
  bench.cleanup.add(() => singleCalls.stop())
  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const rate of RATES) {
    bench.say(`${rate} batches of ${OPERATIONS.toLocaleString('en')} per second`)
    const shared = { urls: [service.url], token, users: USERS, warmupMs: 2_000, measureMs: bench.settings.engineMs }
    const [many, single] = await Promise.all([
      loadGenerator.ask<LoadResult>({ ...shared, ...BATCHES, rate, prefix: `b${rate}-` } satisfies Job),
      singleCalls.ask<LoadResult>({ ...shared, ...SINGLES, prefix: `s${rate}-` } satisfies Job),
    ])
    findings.rows.push(
      refusalRow(`time to a 503, batch calls at ${rate}/s, p99`, many),
      refusalRow(`time to a 503, single calls beside ${rate} batch calls/s, p99`, single),
    )
    findings.notes.push(noteOf(rate, many, single))
  }
  return findings
}

function refusalRow(what: string, { overloaded }: LoadResult): Row {
  const hasFigures = overloaded.calls > 0
  return {
    what,
    peer: 'the goal',
    ours: hasFigures ? `${overloaded.p99.toFixed(0)} ms` : 'no 503',
    theirs: `${MAX_MS} ms`,
    ratio: hasFigures ? overloaded.p99 / MAX_MS : null,
    goal: '≤ 1×',
    isMet: hasFigures ? overloaded.p99 <= MAX_MS : null,
  }
}

function noteOf(callsPerSecond: number, many: LoadResult, single: LoadResult): string {
  const rate = (many.operations - many.refused) / many.seconds
  return [
    `${callsPerSecond} batches of ${OPERATIONS.toLocaleString('en')} per second: ${Math.round(rate).toLocaleString('en')} operations/s granted,`,
    `${many.refused.toLocaleString('en')} refused, ${many.overloaded.calls.toLocaleString('en')} calls answered with 503 (p50 ${many.overloaded.p50.toFixed(0)} ms).`,
    `Single calls beside them: ${single.operations.toLocaleString('en')}, of which ${single.overloaded.calls.toLocaleString('en')} answered with 503`,
    `(p50 ${single.overloaded.p50.toFixed(0)} ms); all responses p50 ${single.p50.toFixed(0)} ms, p99 ${single.p99.toFixed(0)} ms.`,
  ].join(' ')
}
