/**
 * The import of a file: its time and memory, and what senders notice. Then the service and the command are killed in the
 * middle of one, and the same command has to end in the state of an undisturbed import.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { writeQuotaFile } from '../import-file.ts'
import type { Job, LoadResult } from '../load-generator/job.ts'
import { median } from '../measure.ts'
import { megabytes, PROJECT, peakBytes } from '../servers/processes.ts'
import { mintFor, newSecret, startService, startTestBed, type Target, USERS } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

/** The senders' load, in calls per second. */
const SENDERS = { connections: 64, depth: 1, operations: 1, rate: 1_000, users: USERS }
/** Beyond the users of the test bed. */
const FIRST_USER = 1_000_000

export async function importCase(bench: Bench): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-bench-import-'))
  bench.cleanup.add(() => rm(folder, { recursive: true, force: true }))
  const rows = bench.settings.isQuick ? 50_000 : 1_000_000
  const besideSenders = await importBesideSenders(bench, join(folder, 'all.csv'), rows)
  const killed = await importKilled(bench, join(folder, 'some.csv'), bench.settings.isQuick ? 20_000 : 100_000)
  return { rows: [...besideSenders.rows, killed], details: [], notes: besideSenders.notes }
}

/* ── Beside senders ─────────────────────────────────────────────────────────────────────────────────────────────── */

async function importBesideSenders(
  bench: Bench,
  file: string,
  rows: number,
): Promise<Pick<Findings, 'rows' | 'notes'>> {
  const { settings, say } = bench
  const { service, loadGenerator, secret, token } = await startTestBed(bench, 'import')
  await writeQuotaFile(file, { rows, firstUser: FIRST_USER })
  let jobs = 0
  const send = () => {
    jobs += 1
    const { warmupMs, measureMs } = settings
    const job: Job = { urls: [service.url], token, ...SENDERS, warmupMs, measureMs, prefix: `i${jobs}-` }
    return loadGenerator.ask<LoadResult>(job)
  }
  const alone: LoadResult[] = []
  const sendAlone = async () => {
    say('senders alone')
    for (let round = 0; round < settings.rounds; round++) alone.push(await send())
  }
  await sendAlone()

  say(`importing ${rows.toLocaleString('en')} rows beside ${SENDERS.rate} reserves/s`)
  const before = await peakBytes(service.processes.service?.pid)
  const command = startImport(service, file, await mintFor('admin', secret))
  const beside: LoadResult[] = []
  while (command.isRunning()) beside.push(await send())
  const { seconds, peak, output } = await command.ended
  const after = await peakBytes(service.processes.service?.pid)
  // Before and after, because the machine may be busy with other work for a part of the time.
  await sendAlone()
  say('again, unchanged')
  const again = await startImport(service, file, await mintFor('admin', secret)).ended
  const p99 = (results: readonly LoadResult[]) => median(results.map(result => result.p99))
  const worst = Math.max(...beside.map(result => result.p99))
  const refused = beside.reduce((sum, result) => sum + result.refused, 0)
  return {
    rows: [
      {
        what: `import of ${rows.toLocaleString('en')} rows beside ${SENDERS.rate} reserves/s`,
        peer: 'the goal',
        ours: `${Math.round(seconds)} s, ${Math.round(rows / seconds).toLocaleString('en')} rows/s`,
        theirs: '1,000 rows/s',
        ratio: rows / seconds / 1_000,
        goal: '≥ 1×',
        isMet: rows / seconds >= 1_000,
      },
      {
        what: "senders' p99 during the import",
        peer: 'the same senders alone',
        ours: `${p99(beside).toFixed(1)} ms, at worst ${worst.toFixed(1)}`,
        theirs: `${p99(alone).toFixed(1)} ms`,
        ratio: p99(beside) / p99(alone),
        goal: 'none',
        isMet: null,
      },
    ],
    notes: [
      `The import printed: ${output.trim()}. ${refused} of the senders' calls were refused meanwhile.`,
      `Peak memory of the command: ${megabytes(peak)}. Of the service: ${megabytes(before)} before, ${megabytes(after)} with the import.`,
      `The same file again, unchanged: ${again.seconds.toFixed(0)} s, and the command's peak was ${megabytes(again.peak)}.`,
    ],
  }
}

interface RunningImport {
  pid: number
  isRunning(): boolean
  ended: Promise<{ seconds: number; peak: number; output: string }>
}

function startImport(service: Target, file: string, token: string): RunningImport {
  const startedAt = performance.now()
  const child = spawn(`${PROJECT}bin/sms-quota`, ['import', file], {
    env: { PATH: process.env.PATH ?? '', SMS_QUOTA_URL: service.url, SMS_QUOTA_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    complaints += text
  })
  let peak = 0
  const watching = setInterval(async () => {
    peak = Math.max(peak, await peakBytes(child.pid))
  }, 200)
  let isRunning = true
  const ended = once(child, 'close').then(([code]) => {
    isRunning = false
    clearInterval(watching)
    // Null: killed.
    if (code !== 0 && code !== null) throw new Error(`the import failed: ${complaints}`)
    return { seconds: (performance.now() - startedAt) / 1_000, peak, output }
  })
  return { pid: child.pid ?? 0, isRunning: () => isRunning, ended }
}

/* ── Killed ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

async function importKilled(bench: Bench, file: string, rows: number): Promise<Row> {
  const { say, postgres } = bench
  await writeQuotaFile(file, { rows, firstUser: FIRST_USER })
  const secret = newSecret()
  const token = await mintFor('admin', secret)
  say(`importing ${rows.toLocaleString('en')} rows undisturbed`)
  const one = await postgres.make('bench_import_undisturbed')
  await startImport(await startService(bench, one.url, secret), file, token).ended

  say('the same, killed in the middle')
  const other = await postgres.make('bench_import_killed')
  const service = await startService(bench, other.url, secret)
  const command = startImport(service, file, token)
  while ((await countQuotas(other.db)) < rows / 2) await pause(20)
  for (const pid of [service.processes.service?.pid, command.pid]) if (pid !== undefined) process.kill(pid, 'SIGKILL')
  await command.ended
  const whenKilled = await countQuotas(other.db)
  await startImport(await startService(bench, other.url, secret), file, token).ended

  const [checksum, ofKilled] = [await checksumOf(one.db), await checksumOf(other.db)]
  const { differences } = await verify(other.db)
  const isEqual = checksum === ofKilled && differences.length === 0
  return {
    what: `kill -9 of service and command at ${whenKilled.toLocaleString('en')} of ${rows.toLocaleString('en')} rows, then the same command`,
    peer: 'an undisturbed import',
    ours: `checksum ${ofKilled.slice(0, 8)}, ${differences.length} differences by verify`,
    theirs: `checksum ${checksum.slice(0, 8)}`,
    ratio: null,
    goal: 'equal',
    isMet: isEqual,
  }
}

async function countQuotas(db: Database): Promise<number> {
  const [row] = await db.query<{ count: number }>({ text: sql`select count(*) as count from quota` })
  return row?.count ?? 0
}

/** Of all quotas without their ids and times, and of how many changes and events there are. */
async function checksumOf(db: Database): Promise<string> {
  const [row] = await db.query<{ checksum: string }>({
    text: sql`select md5(string_agg(line, ',' order by line)) as checksum from (
             select concat_ws('|', user_id, external_ref, version, kind, name, "limit", period, time_zone, countries, window_end,
               used, reserved, deleted_at is null) as line from quota
             union all select 'changes ' || count(*) from quota_change
             union all select 'events ' || count(*) from event
             union all select 'accounts ' || count(*) || ' live ' || sum(live) from account
             union all select 'grants ' || sum(grants) || ' numbers ' || sum(last_event) from shard_head
           ) lines`,
  })
  return row?.checksum ?? ''
}
