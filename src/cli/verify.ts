import pino from 'pino'
import type { Config } from '../config/config.ts'
import { isUnavailable, openDatabase, sqlStateOf } from '../db/database.ts'
import { connectionOf, startEmbedded } from '../db/embedded/embedded.ts'
import { exists, foldersIn } from '../db/embedded/folders.ts'
import { type Difference, type Verification, verify as verifyLedger } from '../db/verify.ts'
import type { Arguments } from './arguments.ts'
import { readConfig } from './environment.ts'
import { readUser } from './token.ts'

/** The number of differences listed: with more, something is wrong that no list explains. */
const MAX_DIFFERENCES = 20

/** Compares the counters with the ledger. Resolves to 0 if all are equal, 1 if some differ or the check failed. */
export async function verify(args: Arguments): Promise<number> {
  const userId = readUser(args.one('user'))
  const config = readConfig(args, { needsKey: false })
  try {
    const seen = await onDatabase(config, url => verifyOn(url, userId))
    process.stdout.write(reportOf(seen, userId))
    return seen.differences.length === 0 ? 0 : 1
  } catch (error) {
    const reason = reasonOf(error, config)
    if (reason === undefined) throw error
    process.stderr.write(`sms-quota: cannot verify: ${reason}\n`)
    return 1
  }
}

/** Works on the configured database, or on the service's own, which is started for that time if it is not running. */
async function onDatabase<T>({ databaseUrl, dataDir }: Config, work: (url: string) => Promise<T>): Promise<T> {
  const url = databaseUrl ?? (await connectionOf(dataDir))
  if (url !== undefined) return work(url)
  if (!(await exists(foldersIn(dataDir).cluster))) {
    throw new Error(`there is no database in ${dataDir}; set DATABASE_URL, or DATA_DIR to the folder of the service`)
  }
  // Stdout is for the result, so the log goes to stderr.
  const log = pino({ level: 'warn', base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))
  const embedded = await startEmbedded({ dataDir, log })
  try {
    return await work(embedded.url)
  } finally {
    await embedded.stop()
  }
}

async function verifyOn(url: string, userId: number | null): Promise<Verification> {
  const db = openDatabase({ url, maxConnections: 1, statementTimeout: 0 })
  try {
    return await verifyLedger(db, {
      ...(userId === null ? {} : { userId }),
      maxDifferences: MAX_DIFFERENCES,
      ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
    })
  } finally {
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE)
    await db.close()
  }
}

const CLEAR_LINE = '\r\x1b[K'

function showProgress({ windows, reservations }: Verification, part: number): void {
  const percent = Math.floor(part * 100)
  process.stderr.write(`${CLEAR_LINE}${percent} %: ${windows} windows, ${reservations} reservations`)
}

function reportOf({ quotas, windows, reservations, differences }: Verification, userId: number | null): string {
  const whose = userId === null ? '' : ` of user ${userId}`
  const seen = `${windows} windows of ${quotas} quotas${whose}`
  if (differences.length === 0) return `All ${seen} equal their ledger (${reservations} reservations).\n`
  const isAll = differences.length < MAX_DIFFERENCES
  const found = `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'} in ${seen}`
  return `${differences.map(describe).join('')}${found}${isAll ? '' : '; the rest was not checked'}.\n`
}

function describe({ user_id, quota_id, window_no, counters, ledger }: Difference): string {
  const whose = user_id === null ? 'that does not exist' : `of user ${user_id}`
  const counted = counters === null ? 'there is no such window' : `counted ${amounts(counters)}`
  return `Quota ${quota_id} ${whose}, window ${window_no}: ${counted}, its ledger has ${amounts(ledger)}.\n`
}

const amounts = ({ used, reserved }: Difference['ledger']) => `${used} used and ${reserved} reserved`

/** SQLSTATE of a table or a column that does not exist. */
const OTHER_SCHEMA: ReadonlySet<string | undefined> = new Set(['42P01', '42703'])

/** The reason of an expected failure; undefined for a bug. */
function reasonOf(error: unknown, { databaseUrl }: Config): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (OTHER_SCHEMA.has(sqlStateOf(error))) {
    return 'the database does not have the schema of this version; run "sms-quota migrate"'
  }
  if (isUnavailable(error)) {
    return `the database${databaseUrl === null ? '' : ' of DATABASE_URL'} cannot be used: ${error.message}`
  }
  return [TypeError, RangeError, ReferenceError].some(kind => error instanceof kind) ? undefined : error.message
}
