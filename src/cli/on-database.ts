/** Commands that work on the database themselves, beside the running service. */
import pino, { type Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { isUnavailable } from '../db/connection/database.ts'
import { SQLSTATE, sqlStateOf } from '../db/connection/errors.ts'
import { connectionOf, startEmbedded } from '../db/embedded/embedded.ts'
import { exists, foldersIn } from '../db/embedded/folders.ts'
import { dropRootBeside } from '../drop-root.ts'
import { safe, safeLines } from './safe.ts'

/** The log of a command. Stdout is for the result, so it goes to stderr. */
export const createLog = (): Logger =>
  pino({ level: 'warn', base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))

/**
 * Works on the configured database, or on the service's own, which is started for that time if it is not running. Under root the
 * process goes on as the account of the data folder.
 */
export async function onDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  await dropRootBeside(config)
  const { databaseUrl, dataDir } = config
  const url = databaseUrl ?? (await connectionOf(dataDir))
  if (url !== undefined) return work(url)
  if (!(await exists(foldersIn(dataDir).cluster))) {
    throw new Error(`there is no database in ${dataDir}; set DATABASE_URL, or DATA_DIR to the folder of the service`)
  }
  return onEmbedded(dataDir, work)
}

/** Works on the database of a data folder, which no service uses meanwhile. It is created if it is missing. */
export async function onEmbedded<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded({ dataDir, log: createLog() })
  try {
    return await work(embedded.url)
  } finally {
    await embedded.stop()
  }
}

/** SQLSTATE of a table or a column that does not exist. */
const OTHER_SCHEMA: ReadonlySet<string | undefined> = new Set([SQLSTATE.undefinedTable, SQLSTATE.undefinedColumn])

/** Runs a command. An expected failure is printed on stderr as `cannot …`, with its reason, and gives the exit code 1. */
export async function reportFailure(what: string, config: Config, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    const reason = reasonOf(error, config)
    if (reason === undefined) throw error
    process.stderr.write(`${safeLines(`sms-quota: cannot ${what}: ${reason}`)}\n`)
    return 1
  }
}

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

export const CLEAR_LINE = '\r\x1b[K'

/** A function that shows a line on the terminal in place of the one before; undefined without a terminal. */
export function progressLine(): ((text: string) => void) | undefined {
  if (!process.stderr.isTTY) return undefined
  let last = 0
  return text => {
    const now = performance.now()
    if (text !== '' && now - last < 100) return
    last = now
    process.stderr.write(CLEAR_LINE + safe(text))
  }
}
