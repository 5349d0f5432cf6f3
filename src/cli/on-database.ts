/** Commands that work on the database themselves, beside the running service. */
import pino from 'pino'
import type { Config } from '../config/config.ts'
import { isUnavailable, sqlStateOf } from '../db/database.ts'
import { connectionOf, startEmbedded } from '../db/embedded/embedded.ts'
import { exists, foldersIn } from '../db/embedded/folders.ts'

/** Works on the configured database, or on the service's own, which is started for that time if it is not running. */
export async function onDatabase<T>({ databaseUrl, dataDir }: Config, work: (url: string) => Promise<T>): Promise<T> {
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

/** SQLSTATE of a table or a column that does not exist. */
const OTHER_SCHEMA: ReadonlySet<string | undefined> = new Set(['42P01', '42703'])

/** The reason of an expected failure; undefined for a bug. */
export function reasonOf(error: unknown, { databaseUrl }: Config): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (OTHER_SCHEMA.has(sqlStateOf(error))) {
    return 'the database does not have the schema of this version; run "sms-quota migrate"'
  }
  if (isUnavailable(error)) {
    return `the database${databaseUrl === null ? '' : ' of DATABASE_URL'} cannot be used: ${error.message}`
  }
  return [TypeError, RangeError, ReferenceError].some(kind => error instanceof kind) ? undefined : error.message
}
