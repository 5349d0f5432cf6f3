/** The layout of the data folder, and how files appear in it complete or not at all. */
import { statfsSync } from 'node:fs'
import { access, constants, mkdir, mkdtemp, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ForeignFile, pathOf, removeTree, withFolder } from './own-files.ts'

export interface Folders {
  /** The data folder's real path. */
  readonly dataDir: string
  /** PostgreSQL's own folder; it exists only when it is complete. */
  readonly cluster: string
  /** Holds the password of the database; only the service's user may read it. */
  readonly password: string
  readonly log: string
  /** Exists while a restore makes and fills the database, and after one that was killed. */
  readonly restoring: string
}

/** Creates the data folder if need be, and returns the paths in it. */
export async function openDataFolder(path: string): Promise<Folders> {
  // initdb passes its path to a shell, between double quotes.
  const [forbidden] = /["$`\\\p{Cc}]/u.exec(path) ?? []
  if (forbidden !== undefined)
    throw new Error(`DATA_DIR must not contain ${JSON.stringify(forbidden)}: PostgreSQL cannot handle it in a path`)
  try {
    // Under root, other accounts may enter the folders above it: the service's account has to.
    await mkdir(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    await access(path, constants.W_OK | constants.X_OK)
    return foldersIn(await realpath(path))
  } catch (error) {
    throw new Error(`the data folder cannot be used (set DATA_DIR to another): ${String(error)}`)
  }
}

export function foldersIn(dataDir: string): Folders {
  return {
    dataDir,
    cluster: join(dataDir, 'database'),
    password: join(dataDir, 'postgres-password'),
    log: join(dataDir, 'postgresql.log'),
    restoring: join(dataDir, 'restore-under-way'),
  }
}

/** Holds the new database while an upgrade makes it. */
export const upgradeFolder = ({ dataDir }: Folders): string => join(dataDir, 'upgrade')

const PREPARING = '.preparing-'

/**
 * Gives `work` a temporary folder within the data folder. `work` makes something in it and renames it to its place, so
 * that it is there complete or not at all, even if a process is killed or two start at the same time.
 *
 * `at` is its path for this process. Under root the folder is root's, and others may only enter it: the owner of the data
 * folder can give its name, `folder`, to something else.
 */
export async function prepareAside<T>(
  { dataDir }: Folders,
  work: (at: string, folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(dataDir, `${PREPARING}${process.pid}-`))
  try {
    if (process.getuid?.() !== 0) return await work(folder, folder)
    return await withFolder(folder, async handle => {
      if ((await handle.stat()).uid !== 0) throw new ForeignFile(folder, 'was exchanged by another user')
      await handle.chmod(0o711)
      return work(pathOf(handle, folder), folder)
    })
  } finally {
    await removeTree(folder)
  }
}

/** Removes temporary folders of processes that were killed. */
export async function removeLeftovers({ dataDir }: Folders): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(PREPARING)) continue
    const pid = Number.parseInt(name.slice(PREPARING.length), 10)
    // This process has made none yet, so a folder with its id is another's of before. One that cannot be removed is
    // harmless.
    if (pid === process.pid || !isAlive(pid)) await removeTree(join(dataDir, name)).catch(() => {})
  }
}

/** Whether a process with this id runs, of any user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Flushes a file or folder to the disk, so that it survives a power failure. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Which part of the disk of a folder is free for others than root; NaN if the system does not say. */
export function freeRatioOf(folder: string): number {
  try {
    const { bavail, blocks } = statfsSync(folder)
    return bavail / blocks
  } catch {
    return Number.NaN
  }
}
