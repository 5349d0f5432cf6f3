/** The server's process: its `postmaster.pid`, how to recognize it, how it starts and ends. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants, lstat, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Account, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { SERVER_ENV } from './data-directory.ts'
import { type Folders, isAlive } from './folders.ts'
import { ForeignFile, openOrMake, openOwn, withFolder, within } from './own-files.ts'

export const PORT = 5432

/** The content of `postmaster.pid`. A server that was killed leaves the file behind. */
export interface PidFile {
  readonly pid: number
  /** Undefined until the server listens. */
  readonly socketFolder: string | undefined
  /** `starting`, `ready`, `stopping` or `standby`. */
  readonly status: string | undefined
}

export async function readPidFile({ cluster }: Folders): Promise<PidFile | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n').map(line => line.trim())
  return { pid: Number(lines[0] || Number.NaN), socketFolder: lines[4] || undefined, status: lines[7] || undefined }
}

/**
 * Whether the process is the server of this folder. An id alone proves nothing: after a crash it may belong to another
 * process, which must never be signalled.
 */
export async function isServerOf({ cluster }: Folders, pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false
  if (process.platform === 'linux') {
    const [program = '', ...args] = (await commandOf(pid)).split('\0')
    return basename(program) === 'postgres' && args[0] === '-D' && args[1] === cluster
  }
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return stdout.includes(`postgres -D ${cluster} `)
}

/** A process gives its memory back within this time after its command line is gone: a server has 256 MB to give back. */
const ENDING_MS = 1_000

/** The command line of a process on Linux; empty if there is no such process. */
async function commandOf(pid: number): Promise<string> {
  for (const end = Date.now() + ENDING_MS; ; await pause(2)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    // It is empty, too, while the process ends and still has its files open.
    if (command !== '' || (await hasEnded(pid)) || Date.now() > end) return command
  }
}

/** Whether there is no such process on Linux, or nothing left of it but an exit status. */
async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat === undefined || /^.*\) [ZX] /s.test(stat)
}

/** A server that this process started. */
export interface Child {
  readonly pid: number | undefined
  /** The log it wrote before it ended; undefined while it runs. */
  finalOutput(): Promise<string | undefined>
}

/**
 * Starts a server; the caller makes sure that none answers. It outlives this process if that is killed: the next
 * service adopts it.
 */
export async function launch(folders: Folders, binaries: Binaries, account: Account | undefined): Promise<Child> {
  const sockets = await makeSocketFolder(folders, account)
  await removeIfStale(folders, folders.cluster, 'postmaster.pid')
  await removeIfStale(folders, sockets, `.s.PGSQL.${PORT}.lock`)
  await rotateLog(folders)
  const log = await openOrMake(folders.log, constants.O_WRONLY | constants.O_APPEND, 0o640)
  try {
    const { size } = await log.stat()
    const args = [
      '-D',
      folders.cluster,
      ...Object.entries(settings(sockets)).map(([name, value]) => `--${name}=${value}`),
    ]
    // Detached, so that a Ctrl-C in the terminal reaches the service alone, which ends the database last.
    const child = spawn(join(binaries.bin, 'postgres'), args, {
      ...runAs(account),
      env: SERVER_ENV,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    let failure: string | undefined
    child.on('error', error => {
      failure = error.message
    })
    child.unref()
    return {
      pid: child.pid,
      async finalOutput() {
        if (failure === undefined && child.exitCode === null && child.signalCode === null) return undefined
        const output = (await readLog(folders)).subarray(size).toString().trim()
        return failure ?? (output || `it ended with ${child.signalCode ?? child.exitCode}`)
      },
    }
  } finally {
    await log.close()
  }
}

async function readLog(folders: Folders): Promise<Buffer> {
  const log = await openOwn(folders.log, constants.O_RDONLY)
  return log.readFile().finally(() => log.close())
}

/**
 * Settings passed at every start; the cluster's own postgresql.conf stays as initdb wrote it. Operators who want to
 * tune more run a PostgreSQL of their own and set DATABASE_URL.
 */
function settings(socketFolder: string): Record<string, string> {
  return {
    // Reachable through the socket only, and only by the server's user (and root).
    listen_addresses: '',
    port: String(PORT),
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    // A confirmed commit is on the disk, regardless of postgresql.conf.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    // For a small machine shared with the service: enough for some hundred thousand quotas, allocated only when used.
    shared_buffers: '256MB',
    max_connections: '100',
    // Statements are short: JIT and parallel workers cost more than they gain, and parallel workers need shared memory,
    // which containers are short of.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    // The first write to a page after a checkpoint logs the whole page: fewer checkpoints, and compressed pages.
    max_wal_size: '4GB',
    wal_compression: 'on',
    // The log is about the server itself. The service logs the error of a failed statement, so the user's data that it
    // quotes stays out of a second file.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    lc_messages: 'C',
    cluster_name: 'sms-quota',
  }
}

/** The longest path of a socket that every platform accepts, less the socket's own name. */
const MAX_FOLDER_BYTES = 100 - '/.s.PGSQL.5432'.length

/**
 * Makes the socket's folder: in the data folder, or in /tmp if that path is too long for a socket. Not in
 * `os.tmpdir()`, which depends on the environment: the next start must find it again.
 */
async function makeSocketFolder({ dataDir }: Folders, account: Account | undefined): Promise<string> {
  const inside = join(dataDir, 'socket')
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const folder = Buffer.byteLength(inside) <= MAX_FOLDER_BYTES ? inside : `/tmp/sms-quota-${hash}`
  await mkdir(folder, { mode: 0o700 }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  await withFolder(folder, async handle => {
    // Every account may make folders in /tmp: a server found in another account's folder could be anything.
    const { uid } = await handle.stat()
    if (![process.getuid?.(), account?.uid].includes(uid)) throw foreignSockets(folder)
    if (account !== undefined) await handle.chown(account.uid, account.gid)
    await handle.chmod(0o700)
  }).catch(error => {
    throw error instanceof ForeignFile ? foreignSockets(folder) : error
  })
  return folder
}

const foreignSockets = (folder: string) =>
  new Error(`${folder}, the folder for the database's socket, belongs to another user: remove it`)

const MAX_LOG_BYTES = 1_000_000

async function rotateLog({ log }: Folders): Promise<void> {
  const { size } = await lstat(log).catch(() => ({ size: 0 }))
  if (size > MAX_LOG_BYTES) await rename(log, `${log}.1`)
}

/**
 * PostgreSQL refuses to start if a lock file names a living process of its user, or is empty. After a crash the id may
 * belong to another program: then, and only if no server answers, this removes the file.
 */
async function removeIfStale(folders: Folders, folder: string, name: string): Promise<void> {
  await within(folder, async at => {
    const file = join(at, name)
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text === undefined) return
    const pid = Number.parseInt(text, 10)
    // A file without an id is being written, or was when the machine failed.
    const stale = Number.isNaN(pid)
      ? Date.now() - (await stat(file)).mtimeMs > 2_000
      : isAlive(pid) && !(await isServerOf(folders, pid))
    if (stale) await rm(file, { force: true })
  })
}

/** After 5 seconds the server kills those of its processes that do not end. */
const AT_ONCE_MS = 7_000

/**
 * Ends the server: it closes connections, rolls transactions back and flushes everything. If that takes longer than
 * `timeoutMs`, it is ended at once, which costs a recovery at the next start. Returns whether it is gone.
 */
export async function endServer(folders: Folders, timeoutMs: number): Promise<boolean> {
  for (const [signal, wait] of [
    ['SIGINT', timeoutMs],
    ['SIGQUIT', AT_ONCE_MS],
  ] as const) {
    const file = await readPidFile(folders)
    if (file === undefined || !(await isServerOf(folders, file.pid))) return true
    process.kill(file.pid, signal)
    for (const end = Date.now() + wait; Date.now() < end; await pause(20)) {
      if (!(await isServerOf(folders, file.pid))) return true
    }
  }
  return false
}
