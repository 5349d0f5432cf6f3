/** The server's process: what it tells of itself in `postmaster.pid`, whether it is ours, how it begins and ends. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Account, giveTo, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { SERVER_ENV } from './cluster.ts'
import { type Folders, giveToOwner, isAlive } from './folders.ts'

export const PORT = 5432

/** What `postmaster.pid` says. A server that was killed leaves it behind. */
export interface PidFile {
  readonly pid: number
  /** Known from the moment at which the server listens. */
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
 * Whether the process is a server of this folder. A number alone proves nothing: after a crash it may have become
 * somebody else's, who must never be signalled.
 */
export async function isServerOf({ cluster }: Folders, pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false
  if (process.platform === 'linux') {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    const [program = '', ...args] = command.split('\0')
    return basename(program) === 'postgres' && args[0] === '-D' && args[1] === cluster
  }
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return stdout.includes(`postgres -D ${cluster} `)
}

/** A server that was started here. */
export interface Child {
  readonly pid: number | undefined
  /** What it wrote before it ended; undefined while it runs. */
  lastWords(): Promise<string | undefined>
}

/**
 * Starts a server where none answers. It outlives this process if need be: a killed service's database is adopted by
 * the next.
 */
export async function launch(folders: Folders, binaries: Binaries, account: Account | undefined): Promise<Child> {
  const sockets = await makeSocketFolder(folders, account)
  await removeIfStale(folders, join(folders.cluster, 'postmaster.pid'))
  await removeIfStale(folders, join(sockets, `.s.PGSQL.${PORT}.lock`))
  await shortenLog(folders)
  const log = await open(folders.log, 'a', 0o640)
  try {
    await giveToOwner(folders, folders.log)
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
      async lastWords() {
        if (failure === undefined && child.exitCode === null && child.signalCode === null) return undefined
        const words = (await readFile(folders.log)).subarray(size).toString().trim()
        return failure ?? (words || `it ended with ${child.signalCode ?? child.exitCode}`)
      },
    }
  } finally {
    await log.close()
  }
}

/**
 * What the server is told at every start; the cluster's own postgresql.conf stays as initdb wrote it.
 * Whoever wants to tune more runs a PostgreSQL of their own and sets DATABASE_URL.
 */
function settings(socketFolder: string): Record<string, string> {
  return {
    // Reached through the socket alone, and that only by the server's user (and root).
    listen_addresses: '',
    port: String(PORT),
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    // What is confirmed is on the disk: whatever postgresql.conf says.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    // A small machine shared with the service: enough for some hundred thousand quotas, taken only when used.
    shared_buffers: '256MB',
    max_connections: '60',
    // Statements are short: compiling them, or spreading them over processes, costs more than it gains, and parallel
    // workers need shared memory that containers are short of.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    // Each page's first write after a checkpoint goes to the log whole: fewer checkpoints and smaller pages.
    max_wal_size: '4GB',
    wal_compression: 'on',
    // The log is for what happens to the server. A failed statement's error goes to the service, which logs it, and
    // the user's data that it quotes stays out of a second file.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    lc_messages: 'C',
    cluster_name: 'sms-quota',
  }
}

/** The longest path of a socket that every platform takes, less the socket's own name. */
const LONGEST_FOLDER = 100 - '/.s.PGSQL.5432'.length

/**
 * In the data folder; or, where that path is too long for a socket, in a folder of its own that is as private. Not in
 * `os.tmpdir()`, which the environment decides: the next start must find it again.
 */
async function makeSocketFolder({ dataDir }: Folders, account: Account | undefined): Promise<string> {
  const inside = join(dataDir, 'socket')
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const folder = Buffer.byteLength(inside) <= LONGEST_FOLDER ? inside : `/tmp/sms-quota-${hash}`
  await mkdir(folder, { mode: 0o700 }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  // Anybody may make folders in /tmp: a server found in one that is not ours would not be ours either.
  const entry = await lstat(folder)
  if (!entry.isDirectory() || ![process.getuid?.(), account?.uid].includes(entry.uid)) {
    throw new Error(`${folder}, where the database's socket belongs, is somebody else's: remove it`)
  }
  await giveTo(account, folder)
  await chmod(folder, 0o700)
  return folder
}

const LONGEST_LOG = 1_000_000

async function shortenLog({ log }: Folders): Promise<void> {
  const { size } = await stat(log).catch(() => ({ size: 0 }))
  if (size > LONGEST_LOG) await rename(log, `${log}.1`)
}

/**
 * PostgreSQL refuses to start over a lock file that names a living process of its user, or none. After a crash the
 * number may have gone to another program: then, and only where no server answers, such a file is removed.
 */
async function removeIfStale(folders: Folders, file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const pid = Number.parseInt(text, 10)
  // One without a number is being written, or was when the machine failed.
  const stale = Number.isNaN(pid)
    ? Date.now() - (await stat(file)).mtimeMs > 2_000
    : isAlive(pid) && !(await isServerOf(folders, pid))
  if (stale) await rm(file, { force: true })
}

/**
 * Ends the server: connections are cut, transactions rolled back, everything written out. If that takes longer than
 * `patience` ms, it is ended at once, which costs a recovery at the next start. Answers whether it is gone.
 */
export async function endServer(folders: Folders, patience: number): Promise<boolean> {
  for (const [signal, wait] of [
    ['SIGINT', patience],
    ['SIGQUIT', 2_000],
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
