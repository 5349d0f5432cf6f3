/**
 * A crowd beyond the queue: batches of a thousand operations come faster than they can be done, and beside them calls
 * with one operation each. Whoever is refused is to know within 50 ms, and what was accepted is to be done.
 */
import type { Called, Job } from '../load-generator/job.ts'
import { startWorker } from '../servers/processes.ts'
import type { Bench, Findings, Row } from './bench.ts'
import { openArena, USERS } from './http.ts'

/** Batch calls a second: two and four times what can be done. */
const RATES = [40, 80]
const OPERATIONS = 1_000
/** More connections than calls are under way, so that no answer stands in line behind another. */
const BATCHES = { connections: 400, depth: 1, operations: OPERATIONS }
const SINGLES = { connections: 100, depth: 1, operations: 1, rate: 200 }
const MAX_MS = 50

export async function crowdCase(bench: Bench): Promise<Findings> {
  const { service, callers, token } = await openArena(bench, [])
  const others = startWorker('load-generator.ts', { flags: bench.flagsFor('single-callers') })
  bench.cleanup.add(() => others.stop())
  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const rate of RATES) {
    bench.say(`${rate} batches of ${OPERATIONS.toLocaleString('en')} a second`)
    const shared = { url: service.url, token, users: USERS, warmupMs: 2_000, measureMs: bench.settings.engineMs }
    const [many, single] = await Promise.all([
      callers.ask<Called>({ ...shared, ...BATCHES, rate, prefix: `b${rate}-` } satisfies Job),
      others.ask<Called>({ ...shared, ...SINGLES, prefix: `s${rate}-` } satisfies Job),
    ])
    findings.rows.push(
      refusalRow(`503 to a batch call, ${rate} of them a second, p99`, many),
      refusalRow(`503 to a single call beside ${rate} batch calls a second, p99`, single),
    )
    findings.notes.push(notedOf(rate, many, single))
  }
  return findings
}

function refusalRow(what: string, { overloaded }: Called): Row {
  const isKnown = overloaded.calls > 0
  return {
    what,
    peer: 'the goal',
    ours: isKnown ? `${overloaded.p99.toFixed(0)} ms` : 'none was refused',
    theirs: `${MAX_MS} ms`,
    ratio: isKnown ? overloaded.p99 / MAX_MS : null,
    goal: '≤ 1×',
    isMet: isKnown ? overloaded.p99 <= MAX_MS : null,
  }
}

function notedOf(asked: number, many: Called, single: Called): string {
  const rate = (many.operations - many.refused) / many.seconds
  return [
    `${asked} batches of ${OPERATIONS.toLocaleString('en')} a second: ${Math.round(rate).toLocaleString('en')} operations/s granted,`,
    `${many.refused.toLocaleString('en')} refused, ${many.overloaded.calls.toLocaleString('en')} calls told 503 (p50 ${many.overloaded.p50.toFixed(0)} ms).`,
    `Single calls beside them: ${single.operations.toLocaleString('en')}, of which ${single.overloaded.calls.toLocaleString('en')} were told 503`,
    `(p50 ${single.overloaded.p50.toFixed(0)} ms); all answers p50 ${single.p50.toFixed(0)} ms, p99 ${single.p99.toFixed(0)} ms.`,
  ].join(' ')
}
