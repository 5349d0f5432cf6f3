/**
 * A PostgreSQL server of the service's own, used when there is no DATABASE_URL. The first start creates it in the data
 * folder; later starts find it running or start it. The service restarts it if it dies, and ends it when it stops
 * itself.
 *
 * A service that is killed leaves its server running; the next one adopts it. Nothing here ever removes data.
 */
import { realpath } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../connection/database.ts'
import { readPassword } from './data-directory.ts'
import { type Folders, foldersIn, openDataFolder, removeLeftovers } from './folders.ts'
import { FolderInUse, takeLock } from './lock.ts'
import { giveFolderToAccount } from './owner.ts'
import { endServer, readPidFile } from './postmaster.ts'
import { bringUp, findRunning, NotInTime, type Server, type StartTimes } from './server.ts'
import { prepareServiceRole } from './service-role.ts'
import { finishUpgrade, removeUpgrade } from './upgrade-folder.ts'

export interface Embedded {
  /** For `openDatabase` and `migrate`: of a role that owns the database and is no superuser. A restart of the server does not change it. */
  readonly url: string
  /** Of a superuser, for administration. The service does not use it. */
  readonly adminUrl: string
  /** PostgreSQL's version, for example `18.4`. */
  readonly version: string
  /** How its programs were compiled: `-O2` or `-Os`. */
  readonly optimization: string
  /** The server was running already: a killed service left it behind. */
  readonly adopted: boolean
  /** Ends the server and waits until it is gone. Close its users first. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  readonly log: Log
  /** Longest, in ms, that the server may take to shut down. Then it is ended at once and recovers at its next start. */
  readonly stopTimeout?: number
  /** How long, in ms, a server that was lost may recover before it is taken for one that hangs, and is ended. */
  readonly recoveryTimeout?: number
  /** How long, in ms, the start waits for a service that holds the folder. */
  readonly lockTimeout?: number
  /** How often, in ms, the service checks whether another process has signalled the server to end. */
  readonly checkInterval?: number
  /** Under root: the folder has its owner, and is not given to another account. */
  readonly ownerIsSettled?: boolean
}

/**
 * Starts the database of a data folder and keeps it up until `stop`. Fails if another service uses the folder. Every
 * error names the cause and the remedy.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, log, stopTimeout = 5_000, recoveryTimeout = 120_000 } = options
  const { lockTimeout, checkInterval = 15_000, ownerIsSettled = false } = options
  const folders = await openDataFolder(dataDir)
  await removeLeftovers(folders)
  if (!ownerIsSettled) await giveFolderToAccount(folders, log)
  await finishUpgrade(folders)
  const first = await startLocked(folders, log, { stopTimeout, lockTimeout })
  await removeUpgrade(folders)
  const { url, adminUrl, version, optimization, pid, adopted } = first.server
  log.info(
    { version, optimization, folder: folders.dataDir, pid },
    adopted ? 'embedded database: adopted a running server' : 'embedded database: started',
  )

  const stopping = new AbortController()
  const { signal } = stopping
  const supervision = supervise(first, folders, log, { signal, stopTimeout, recoveryTimeout })
  const checks = setInterval(
    () =>
      finishShutdown(folders, stopTimeout, signal).catch(error =>
        log.error({ reason: reasonOf(error) }, 'embedded database: check failed'),
      ),
    checkInterval,
  )

  return {
    url,
    adminUrl,
    version,
    optimization,
    adopted,
    async stop() {
      stopping.abort()
      clearInterval(checks)
      // The lock is held to the end, so that no other service adopts a server that is about to end.
      const ended = await endServer(folders, stopTimeout)
      await supervision.release()
      if (!ended)
        return log.error({ folder: folders.dataDir }, 'embedded database: did not end, the next start adopts it')
      await supervision.finished
      // If the server had just been lost, another one may have been starting.
      await endServer(folders, stopTimeout)
    },
  }
}

interface Times {
  readonly signal: AbortSignal
  readonly stopTimeout: number
  readonly recoveryTimeout: number
}

interface Supervision {
  /** Settles when the loop has ended, after the signal and the loss of the server. */
  readonly finished: Promise<void>
  /** Releases the lock of the server that runs now. */
  release(): Promise<void>
}

/**
 * Restarts the server and takes its lock again whenever it is lost, until the signal. The lock's connection ends when
 * the server does, for any reason.
 */
function supervise(first: LockedServer, folders: Folders, log: Log, times: Times): Supervision {
  const { signal } = times
  let locked = first

  async function loop(): Promise<void> {
    // Checked each time: a stop that found no server to end waits for this loop before it ends one that has started
    // since.
    while (!signal.aborted) {
      await locked.lost
      if (signal.aborted) return
      log.warn({ folder: folders.dataDir }, 'embedded database: lost, restarting')
      const restarted = await restart(folders, log, times)
      if (restarted === undefined) return
      locked = restarted
      log.info({ pid: locked.server.pid }, 'embedded database: running again')
    }
  }

  return { finished: loop(), release: () => locked.release() }
}

/**
 * Tries until the server runs again; undefined after the signal. One that hangs as it recovers is ended and started again (PostgreSQL 18 was
 * seen to: its checkpointer waited for a lock of a process that was gone). Each time it gets twice as long, so that a recovery which is only slow ends.
 */
async function restart(
  folders: Folders,
  log: Log,
  { signal, stopTimeout, recoveryTimeout }: Times,
): Promise<LockedServer | undefined> {
  let startTimeout = recoveryTimeout
  for (let wait = 100; !signal.aborted; wait = Math.min(wait * 2, 10_000)) {
    try {
      return await startLocked(folders, log, { signal, stopTimeout, startTimeout })
    } catch (error) {
      if (signal.aborted) return undefined
      log.error({ reason: reasonOf(error) }, 'embedded database: restart failed, retrying')
      if (error instanceof NotInTime) {
        await endServer(folders, stopTimeout)
        startTimeout *= 2
      }
      await pause(wait, undefined, { signal }).catch(() => {})
    }
  }
  return undefined
}

/**
 * A server that another process has signalled to end (a plain `kill`) accepts no connection any more, but waits until
 * the service has closed its own. This ends it, so that it can be restarted.
 */
async function finishShutdown(folders: Folders, stopTimeout: number, signal: AbortSignal): Promise<void> {
  if ((await readPidFile(folders))?.status === 'stopping' && !signal.aborted) await endServer(folders, stopTimeout)
}

/**
 * The address of the database that runs in a data folder, for a short use beside the service; undefined if none runs.
 * Takes no lock, starts and changes nothing: a service of an earlier version may use the database, before its owner exists.
 */
export async function connectionOf(dataDir: string): Promise<string | undefined> {
  const real = await realpath(dataDir).catch(() => undefined)
  const server = real === undefined ? undefined : await findRunning(foldersIn(real))
  return server?.isPrepared ? server.url : server?.adminUrl
}

/** A running server, and the lock that makes this service the only one on its folder. */
interface LockedServer {
  readonly server: Server
  /** Settles when the lock's connection ends. */
  readonly lost: Promise<void>
  release(): Promise<void>
}

async function startLocked(
  folders: Folders,
  log: Log,
  { lockTimeout, ...times }: StartTimes & { lockTimeout?: number | undefined },
): Promise<LockedServer> {
  for (let n = 1; ; n++) {
    const server = await bringUp(folders, log, times)
    const client = new pg.Client({
      connectionString: server.adminUrl,
      application_name: `sms-quota, process ${process.pid}`,
      connectionTimeoutMillis: 3_000,
    })
    const lost = new Promise<void>(resolve => client.once('end', resolve))
    client.on('error', () => {})
    try {
      await client.connect()
      await takeLock(client, folders, lockTimeout)
      await prepareServiceRole(client, await readPassword(folders))
      return { server, lost, release: () => Promise.race([client.end(), pause(1_000, undefined, { ref: false })]) }
    } catch (error) {
      await client.end().catch(() => {})
      // A service that is ending ends its server too: then try again.
      if (error instanceof FolderInUse || n === 5) throw error
      await pause(200)
    }
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
