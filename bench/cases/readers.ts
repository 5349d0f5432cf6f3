/**
 * A sender's checks, a few a second, beside twenty connections that read: each route of people with its largest
 * parameters, in turn with the list of quotas. The goal is that its p50 stays within three times that beside the list.
 */

import { fillByApi, fillPast } from '../fill-reads.ts'
import type { FloodJob } from '../flood.ts'
import { largestReads } from '../largest-reads.ts'
import type { Job, LoadResult } from '../load-generator/job.ts'
import { median } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { mintFor, startTestBed } from '../servers/test-bed.ts'
import { type Bench, type Findings, latencyRow } from './bench.ts'

const CONNECTIONS = 20
const MAX_RATIO = 3
/** Readers are at full force for this long before the measurement begins. */
const AHEAD_MS = 300
/** A sender's calls a second: few, so that what they wait for is the readers. */
const RATE = 20
const BASELINE = '/quota/list'

export async function readersCase(bench: Bench): Promise<Findings> {
  const { say, settings, now } = bench
  const { service, db, loadGenerator, token, secret } = await startTestBed(bench, 'readers')
  const flood = startWorker('flood.ts', { flags: bench.flagsFor('flood') })
  bench.cleanup.add(() => flood.stop())
  say('readers: filling')
  await fillPast(db, now)
  const admin = await mintFor('admin', secret, '1')
  const reads = largestReads(await fillByApi(service.url, { admin, sender: token }, now))
  const measureMs = settings.isQuick ? 1_500 : 4_000
  const sender: Job = {
    ...{ urls: [service.url], token, rate: RATE, connections: 8, depth: 1, users: 1, firstUser: 5_000, operations: 1 },
    ...{ mix: { check: 100 }, warmupMs: AHEAD_MS, measureMs, prefix: 'r-' },
  }
  async function beside(path: string): Promise<{ p50: number; answers: Record<number, number> }> {
    const job: FloodJob = {
      ...{ kind: 'reads', path: `/api/sms${path}`, url: service.url, token: admin, users: 0 },
      ...{ connections: CONNECTIONS, ms: AHEAD_MS + measureMs },
    }
    const [answers, { p50, refused, firstRefusal }] = await Promise.all([
      flood.ask<Record<number, number>>(job),
      loadGenerator.ask<LoadResult>(sender),
    ])
    if (refused > 0) throw new Error(`${refused} checks failed; the first: ${firstRefusal}`)
    return { p50, answers }
  }

  const findings: Findings = { rows: [], details: [], notes: [] }
  const only = process.env.READS?.split(',')
  for (const [operation, path] of Object.entries(reads)) {
    if (only !== undefined && !only.includes(operation)) continue
    const lists: number[] = []
    const own: number[] = []
    let answered: Record<number, number> = {}
    for (let round = 0; round < settings.rounds; round++) {
      lists.push((await beside(BASELINE)).p50)
      const { p50, answers } = await beside(path)
      own.push(p50)
      answered = answers
    }
    const row = latencyRow(`check p50 beside 20 × ${operation}`, '20 × listMyQuotas', {
      ours: median(own),
      theirs: median(lists),
      max: MAX_RATIO,
    })
    say(`  ${row.what}: ${row.ours}, ${row.theirs}, ${row.ratio?.toFixed(2)}× ${JSON.stringify(answered)}`)
    findings.rows.push(row)
  }
  return findings
}
