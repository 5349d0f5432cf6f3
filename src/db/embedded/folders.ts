/** What lies in the data folder, and how something half made is never taken for whole. */
import { access, chown, constants, mkdir, mkdtemp, open, readdir, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface Folders {
  /** The data folder's real path. */
  readonly dataDir: string
  /** PostgreSQL's own folder; there only when it is whole. */
  readonly cluster: string
  /** Opens the database to whoever may read it: the service's user alone. */
  readonly password: string
  readonly log: string
}

/** Makes the data folder if need be, and says where things are in it. */
export async function openDataFolder(path: string): Promise<Folders> {
  // initdb hands its path to a shell, between double quotes.
  const [trouble] = /["$`\\\p{Cc}]/u.exec(path) ?? []
  if (trouble !== undefined)
    throw new Error(`DATA_DIR must not contain ${JSON.stringify(trouble)}: PostgreSQL stumbles over it`)
  try {
    // Under root others may pass through, not look: the database's user has its own folders inside.
    await mkdir(path, { recursive: true, mode: IS_ROOT ? 0o711 : 0o700 })
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
  }
}

const IS_ROOT = process.getuid?.() === 0

/** What root makes in somebody's data folder becomes theirs: they may start the service themselves one day. */
export async function giveToOwner({ dataDir }: Folders, path: string): Promise<void> {
  if (!IS_ROOT) return
  const { uid, gid } = await stat(dataDir)
  await chown(path, uid, gid)
}

const PREPARING = '.preparing-'

/**
 * Gives `work` a folder of its own within the data folder, to make something in that is then renamed to where it
 * belongs: so it is there whole or not at all, whoever is killed or starts at the same time.
 */
export async function prepareAside<T>(folders: Folders, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(folders.dataDir, `${PREPARING}${process.pid}-`))
  try {
    await giveToOwner(folders, folder)
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Removes what starters left that were killed while they prepared something. */
export async function removeLeftovers({ dataDir }: Folders): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(PREPARING)) continue
    const pid = Number.parseInt(name.slice(PREPARING.length), 10)
    // Our own number is a former process's: this one has not begun. What cannot be removed does no harm either.
    if (pid === process.pid || !isAlive(pid))
      await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  }
}

/** Whether a process has this number, be it ours or not. */
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

/** Sends a file or folder to the disk, so that it is still there after a power failure. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
