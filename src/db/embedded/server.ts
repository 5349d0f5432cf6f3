/** Finds the running server of a data folder, or starts it. */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../connection/database.ts'
import { SQLSTATE, sqlStateOf } from '../connection/errors.ts'
import { sql } from '../connection/sql.ts'
import { accountFor } from './account.ts'
import { findBinaries } from './binaries.ts'
import { makeCluster, readPassword } from './data-directory.ts'
import type { Folders } from './folders.ts'
import { within } from './own-files.ts'
import { type Child, endServer, isServerOf, launch, type PidFile, PORT, readPidFile } from './postmaster.ts'
import { IS_PREPARED, NAME, SERVICE_ROLE, servicePassword } from './service-role.ts'

export interface Server {
  /** Opens the service's database as its owner, which is no superuser. */
  readonly url: string
  /** Opens it as the superuser. */
  readonly adminUrl: string
  /** Whether the owner exists: not before the first start of a version that has it. */
  readonly isPrepared: boolean
  readonly pid: number
  /** PostgreSQL's, for example `18.4`. */
  readonly version: string
  /** The compiler's level of optimization, `-O2` or `-Os`: how fast it is depends on that. Empty if the server does not say. */
  readonly optimization: string
  /** It was running already. */
  readonly adopted: boolean
}

/** Longest that a server may take to recover from a crash, or to end, before the start fails, if left out. */
const START_TIMEOUT_MS = 300_000
const PROGRESS_EVERY_MS = 5_000

/** All in ms. */
export interface StartTimes {
  readonly signal?: AbortSignal | undefined
  readonly stopTimeout: number
  readonly startTimeout?: number | undefined
}

/** A server runs, and accepts no connections. */
export class NotInTime extends Error {
  constructor(reason: string, log: string) {
    super(`the embedded database did not start in time (${reason}); see ${log}`)
  }
}

/**
 * Returns a server of the folder that accepts connections: the running one, or one that it starts. One that is ending for longer than
 * `stopTimeout`, in ms, hangs: it is ended at once.
 */
export async function bringUp(
  folders: Folders,
  log: Log,
  { signal, stopTimeout, startTimeout = START_TIMEOUT_MS }: StartTimes,
): Promise<Server> {
  const begin = Date.now()
  let nextProgress = begin + PROGRESS_EVERY_MS
  let child: Child | undefined
  for (let wait = 10; ; wait = Math.min(wait * 1.5, 250)) {
    const file = await readPidFile(folders)
    const found = await probe(folders, file)
    if (found.state === 'up') return { ...found.server, adopted: found.server.pid !== child?.pid }
    // Not between a start and its pid file: the caller that aborts could not find the server to end it.
    if (child === undefined || child.pid === file?.pid) signal?.throwIfAborted()

    const now = Date.now()
    if (now - begin > startTimeout) throw new NotInTime(found.reason, folders.log)
    if (now > nextProgress) {
      log.info(
        { reason: found.reason, seconds: Math.round((now - begin) / 1000) },
        'embedded database: waiting for the server',
      )
      nextProgress = now + PROGRESS_EVERY_MS
    }

    if (file?.status === 'stopping' && now - begin > stopTimeout) await endServer(folders, 0)
    if (found.state === 'down') {
      const output = await child?.finalOutput()
      if (output !== undefined && !TRANSIENT.test(output))
        throw new Error(`the embedded database does not start: ${output}`)
      if (child === undefined || output !== undefined) child = await start(folders, log)
    }
    await pause(wait)
  }
}

/** Another process started the server first, or the processes of a killed server have not all ended yet. */
const TRANSIENT = /lock file "postmaster\.pid" (already exists|is empty)|pre-existing shared memory block/

async function start(folders: Folders, log: Log): Promise<Child> {
  const account = await accountFor(folders)
  const binaries = await findBinaries(folders, account, log)
  await makeCluster(folders, binaries, account, log)
  // Before the server runs, which could not be used or ended without the password.
  await readPassword(folders)
  return launch(folders, binaries, account)
}

/** The server that runs in the folder; undefined if none answers. */
export async function findRunning(folders: Folders): Promise<Omit<Server, 'adopted'> | undefined> {
  const found = await probe(folders, await readPidFile(folders))
  return found.state === 'up' ? found.server : undefined
}

/** `busy`: there is a server, but it is starting, recovering or ending. */
type Finding = { state: 'up'; server: Omit<Server, 'adopted'> } | { state: 'busy' | 'down'; reason: string }

async function probe(folders: Folders, file: PidFile | undefined): Promise<Finding> {
  if (file === undefined) return { state: 'down', reason: 'it has not started' }
  const { pid, socketFolder, status } = file
  const ours = await isServerOf(folders, pid)
  if (ours && status !== 'ready') return { state: 'busy', reason: `it is ${status ?? 'starting'}` }
  if (socketFolder === undefined) return { state: 'down', reason: 'it has ended' }
  // Connects even if there is no such process here: it may run in another container on the same volume.
  const answer = await connect(folders, socketFolder)
  if ('url' in answer) return { state: 'up', server: { pid, ...answer } }
  return { state: ours ? 'busy' : 'down', ...answer }
}

type Answer = Omit<Server, 'pid' | 'adopted'> | { reason: string }

/** Checks that the server behind a socket is the folder's, and creates the service's database if it is missing. */
async function connect(folders: Folders, socketFolder: string): Promise<Answer> {
  const password = await readPassword(folders)
  const urlOf = (database: string, role = NAME, secret = password) =>
    `postgresql://${role}:${secret}@localhost:${PORT}/${database}?host=${encodeURIComponent(socketFolder)}&sslmode=disable`
  const client = new pg.Client({ connectionString: urlOf('postgres'), connectionTimeoutMillis: 3_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    if (!(await servesFolder(client, folders))) return { reason: 'the server of another folder answers' }
    const { rows } = await client.query<{
      version: string
      optimization: string | null
      made: boolean
      prepared: boolean
    }>(
      sql`select split_part(current_setting('server_version'), ' ', 1) as version,
        (select substring(setting from '.*(-O[0-9a-z]+)') from pg_config where name = 'CFLAGS') as optimization,
        exists (select from pg_database where datname = '${NAME}') as made, ${IS_PREPARED} as prepared`,
    )
    if (!rows[0]?.made) await client.query(sql`create database ${NAME}`)
    return {
      url: urlOf(NAME, SERVICE_ROLE, servicePassword(password)),
      adminUrl: urlOf(NAME),
      isPrepared: rows[0]?.prepared ?? false,
      version: rows[0]?.version ?? '',
      optimization: rows[0]?.optimization ?? '',
    }
  } catch (error) {
    if (sqlStateOf(error) === SQLSTATE.invalidPassword) {
      throw new Error(`the database in ${folders.dataDir} rejects the password in ${folders.password}`)
    }
    return { reason: error instanceof Error ? error.message : String(error) }
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Whether the server's files are those in this folder: it must see a file that is created here. Paths prove nothing: a
 * copy of the folder still names the original's server, and another container may mount the same folder elsewhere.
 */
async function servesFolder(client: pg.Client, { cluster }: Folders): Promise<boolean> {
  const name = `sms-quota-${randomUUID()}`
  return within(cluster, async at => {
    await writeFile(join(at, name), '', { flag: 'wx' })
    try {
      const { rowCount } = await client.query('select from pg_stat_file($1, true) where size is not null', [name])
      return rowCount === 1
    } finally {
      await rm(join(at, name), { force: true })
    }
  })
}
