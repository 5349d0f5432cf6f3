import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { BackupDamaged } from '../db/backup/records.ts'
import { checkBackup, type OpenBackup, restoreBackup } from '../db/backup/restore.ts'
import { type Written, writeBackup } from '../db/backup/write.ts'
import { assertOnePointInTime } from '../db/cluster/idle.ts'
import { exists } from '../db/embedded/folders.ts'
import { whileRestoring } from '../db/embedded/restoring.ts'
import { upgradeDatabase as upgrade } from '../db/embedded/upgrade.ts'
import { dropRoot } from '../drop-root.ts'
import type { Arguments } from './arguments.ts'
import { readConfig } from './environment.ts'
import { createLog, onDatabase, onEmbedded, progressLine, reportFailure } from './on-database.ts'
import { openRegular } from './regular-file.ts'
import { safe } from './safe.ts'
import type { Terminal } from './terminal.ts'
import { verifyOn } from './verify.ts'

/** Writes a backup. Resolves to 0, or to 1 if it failed; then there is no file. */
export function backup(args: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('back up', config, async () => {
    const now = new Date()
    const file = await fileFor(resolve(args.operand(0)), now)
    const { written, size } = await appearing(file, handle =>
      onDatabase(config, async url => {
        await assertOnePointInTime(url)
        return writeInto(handle, url, now)
      }),
    )
    process.stdout.write(`${file}: ${summary(written)}, ${megabytes(size)} compressed.\n`)
    if (config.databaseUrl === null) {
      process.stdout.write(`The keys in ${config.dataDir} are not in it: keep a copy of them elsewhere.\n`)
    }
    return 0
  })
}

async function fileFor(target: string, now: Date): Promise<string> {
  const isFolder = await stat(target).then(
    entry => entry.isDirectory(),
    () => false,
  )
  const name = `sms-quota-${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`
  const file = isFolder ? join(target, name) : target
  if (await exists(file)) throw new Error(`${file} exists: a backup overwrites nothing`)
  return file
}

/** Lets `work` write a file beside its place, where it appears complete or not at all. */
async function appearing<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const partial = `${file}.partial`
  const folder = await open(dirname(file), 'r')
  // The database holds personal data: only the user who runs this may read it.
  const handle = await open(partial, 'wx', 0o600).catch(error => {
    if (error.code !== 'EEXIST') throw error
    throw new Error(`${partial} exists: another backup writes it, or one was killed; then remove it`)
  })
  const end = namer(partial, file)
  try {
    const written = await work(handle)
    await end('done')
    await folder.sync()
    return written
  } finally {
    await end('').catch(() => {})
    await handle.close().catch(() => {})
    await folder.close()
  }
}

// Unlike `ln`, `link` makes nothing in a folder that is in the place of the file, or that a link there leads to.
const NAME_IT = `read -r word && [ "$word" = done ] && link "$1" "$2"
  code=$?; rm -f -- "$1"; exit "$code"`

/**
 * A shell that gives the file its name in the end, or removes it, also if this process is killed. This process cannot: started
 * by root, it goes on as the account of the service before it reads the database, and the file is root's.
 */
function namer(partial: string, file: string): (word: 'done' | '') => Promise<void> {
  const args = ['-c', NAME_IT, 'sh', partial, file]
  // Detached, so that a Ctrl-C in the terminal leaves it the time to remove the file.
  const shell = spawn('/bin/sh', args, { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'inherit'] })
  shell.stdin.on('error', () => {})
  const ended = once(shell, 'close')
  ended.catch(() => {})
  return async word => {
    shell.stdin.end(word === '' ? '' : `${word}\n`)
    const [code] = await ended
    if (code !== 0) throw new Error(`${file} could not be given its name`)
  }
}

async function writeInto(handle: FileHandle, url: string, now: Date): Promise<{ written: Written; size: number }> {
  const show = progressLine()
  try {
    const target = createWriteStream('', { fd: handle, flush: true, autoClose: true })
    const written = await writeBackup(url, target, now, ({ table, bytes }) => show?.(`${table}: ${megabytes(bytes)}`))
    return { written, size: target.bytesWritten }
  } finally {
    show?.('')
  }
}

/** Restores a backup. Resolves to 0 if the database then verifies, 1 otherwise. */
export function restore(args: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('restore', config, async () => {
    const file = await openRegular(resolve(args.operand(0)))
    try {
      // After the file is open: it may be readable to root only.
      await dropRoot(config, createLog())
      return await restoreFile(file, basename(args.operand(0)), config)
    } finally {
      await file.close()
    }
  })
}

async function restoreFile(file: FileHandle, name: string, config: Config): Promise<number> {
  const openBackup: OpenBackup = () => createReadStream('', { fd: file, start: 0, autoClose: false })
  const { header, written } = await checkBackup(openBackup).catch(error => {
    throw error instanceof BackupDamaged ? new Error(`${name} cannot be used: ${error.message}`) : error
  })
  const { databaseUrl, dataDir } = config
  const on = <T>(work: (url: string) => Promise<T>) =>
    databaseUrl === null ? whileRestoring(dataDir, () => onEmbedded(dataDir, work)) : work(databaseUrl)
  return on(async url => {
    const show = progressLine()
    const onProgress = ({ table, bytes }: { table: string; bytes: number }) =>
      show?.(`${table}: ${megabytes(bytes)} of ${megabytes(written.bytes)}`)
    await restoreBackup({ url, open: openBackup, header, log: createLog(), onProgress }).finally(() => show?.(''))
    process.stdout.write(`Restored ${safe(name)} of ${header.made_at}: ${summary(written)}.\n`)
    return verifyOn(url, null)
  })
}

const summary = ({ tables, rows, bytes }: Written) => `${rows} rows of ${tables} tables, ${megabytes(bytes)}`

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

/** Upgrades the database of the data folder. Resolves to 0 if that is done or was not needed. */
export function upgradeDatabase(args: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('upgrade the database', config, async () => {
    if (config.databaseUrl !== null)
      throw new Error('DATABASE_URL is set: upgrade that PostgreSQL with pg_upgrade, or by a backup and a restore')
    const log = createLog()
    await dropRoot(config, log)
    const verify = async (url: string) => (await verifyOn(url, null)) === 0
    const done = await upgrade({ dataDir: config.dataDir, log, verify })
    process.stdout.write(
      done === undefined
        ? 'Nothing to upgrade.\n'
        : `Upgraded from PostgreSQL ${done.from} to ${done.to}: ${summary(done.written)}.\n`,
    )
    return 0
  })
}
