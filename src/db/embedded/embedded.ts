/**
 * A PostgreSQL of the service's own, for those who bring none: made in the data folder at the first start, found again
 * or started at every other, kept alive while the service runs and ended with it.
 *
 * A service that is killed leaves its server running; the next one adopts it. Nothing here ever removes data.
 */
import { realpath } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../database.ts'
import { type Folders, foldersIn, openDataFolder, removeLeftovers } from './folders.ts'
import { endServer, readPidFile } from './postmaster.ts'
import { bringUp, findRunning, type Server } from './server.ts'

export interface Embedded {
  /** For `openDatabase` and `migrate`. It stays the same when the server is started again. */
  readonly url: string
  /** PostgreSQL's version, for example `18.4`. */
  readonly version: string
  /** The server ran already: a killed service left it behind. */
  readonly adopted: boolean
  /** Ends the server and waits until it is gone. Close what uses it first. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  readonly log: Log
  /** Longest, in ms, that the server may take to end properly; then it is ended at once and recovers at its next start. */
  readonly stopTimeout?: number
  /** How often, in ms, it is made sure that nobody else has told the server to end. */
  readonly checkInterval?: number
}

/**
 * Brings up the database of a data folder and keeps it up until `stop`. Fails if another service uses the folder, or
 * with what is in the way and what to do.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, log, stopTimeout = 5_000, checkInterval = 15_000 } = options
  const folders = await openDataFolder(dataDir)
  await removeLeftovers(folders)
  let held = await hold(folders, log)
  const { url, version, adopted } = held.server
  log.info(
    { version, folder: folders.dataDir, pid: held.server.pid },
    adopted ? 'database adopted' : 'database started',
  )

  const stopping = new AbortController()
  const { signal } = stopping
  const supervision = supervise()
  const checks = setInterval(
    () => hurry().catch(error => log.error({ reason: reasonOf(error) }, 'check failed')),
    checkInterval,
  )

  /** A server that was told to end by somebody else (a plain `kill`) lets nobody in any more, but waits for us to go. */
  async function hurry(): Promise<void> {
    if ((await readPidFile(folders))?.status === 'stopping' && !signal.aborted) await endServer(folders, stopTimeout)
  }

  /** The lock's connection ends when the server does, however that came about; then both are brought back. */
  async function supervise(): Promise<void> {
    // Asked each time: a stop that found no server to end waits for us before it ends one that is up since.
    while (!signal.aborted) {
      await held.lost
      if (signal.aborted) return
      log.warn({ folder: folders.dataDir }, 'the database went away: bringing it back')
      await bringBack()
    }
  }

  async function bringBack(): Promise<void> {
    for (let wait = 100; !signal.aborted; wait = Math.min(wait * 2, 10_000)) {
      try {
        held = await hold(folders, log, signal)
        log.info({ pid: held.server.pid }, 'the database is back')
        return
      } catch (error) {
        if (signal.aborted) return
        log.error({ reason: reasonOf(error) }, 'the database stays away')
        await pause(wait, undefined, { signal }).catch(() => {})
      }
    }
  }

  return {
    url,
    version,
    adopted,
    async stop() {
      stopping.abort()
      clearInterval(checks)
      // The lock is held to the end, so that no other service adopts a server that is about to go.
      const ended = await endServer(folders, stopTimeout)
      await held.release()
      if (!ended) return log.error({ folder: folders.dataDir }, 'the database does not end: the next start adopts it')
      await supervision
      // One more may have been on its way up, if the server had just been lost.
      await endServer(folders, stopTimeout)
    },
  }
}

/**
 * The address of the database that runs in a data folder, for a short errand beside the service; undefined if none
 * does. Takes no lock and starts nothing.
 */
export async function connectionOf(dataDir: string): Promise<string | undefined> {
  const real = await realpath(dataDir).catch(() => undefined)
  return real === undefined ? undefined : findRunning(foldersIn(real))
}

/** A running server, and the lock that makes this service the only one on its folder. */
interface Held {
  readonly server: Server
  /** Settles when the lock's connection ends. */
  readonly lost: Promise<void>
  release(): Promise<void>
}

async function hold(folders: Folders, log: Log, signal?: AbortSignal): Promise<Held> {
  for (let n = 1; ; n++) {
    const server = await bringUp(folders, log, signal)
    const client = new pg.Client({
      connectionString: server.url,
      application_name: `sms-quota, process ${process.pid}`,
      connectionTimeoutMillis: 3_000,
    })
    const lost = new Promise<void>(resolve => client.once('end', resolve))
    client.on('error', () => {})
    try {
      await client.connect()
      await takeLock(client, folders)
      return { server, lost, release: () => Promise.race([client.end(), pause(1_000, undefined, { ref: false })]) }
    } catch (error) {
      await client.end().catch(() => {})
      // A service that is ending takes its server along: then begin again.
      if (error instanceof FolderInUse || n === 5) throw error
      await pause(200)
    }
  }
}

/** The same in every service; the number has no meaning. */
const LOCK_KEY = 7_670_812

/** A service that was killed is seen for a moment longer. */
const LOCK_TIMEOUT = 2_000

class FolderInUse extends Error {}

async function takeLock(client: pg.Client, { dataDir }: Folders): Promise<void> {
  for (const end = Date.now() + LOCK_TIMEOUT; ; await pause(100)) {
    const taken = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK_KEY])
    if (taken.rows[0]?.taken) return
    if (Date.now() < end) continue
    const holders = await client.query<{ application_name: string }>(
      `select application_name from pg_stat_activity join pg_locks using (pid)
        where locktype = 'advisory' and objid = $1::bigint::oid and granted`,
      [LOCK_KEY],
    )
    const who = holders.rows[0]?.application_name ?? 'another process'
    throw new FolderInUse(
      `the data folder ${dataDir} is in use by another service (${who}): stop it, or set DATA_DIR to another folder`,
    )
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
