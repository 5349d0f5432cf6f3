/**
 * Files and folders that another account can exchange at any time. Root, who works in the folder of the service's account
 * before or instead of going on as that account, follows no link there, and changes owners and modes only of what it has opened.
 */
import { constants } from 'node:fs'
import { type FileHandle, lchown, lstat, open, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The file is a link, or belongs to another account: to read or change it could be what its owner wants of root. */
export class ForeignFile extends Error {
  readonly why: string

  constructor(path: string, why: string) {
    super(`${path} ${why}`)
    this.why = why
  }
}

const isRoot = () => process.getuid?.() === 0

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined)

/** The error codes of systems for a link that is not to be followed. */
const LINK: ReadonlySet<unknown> = new Set(['ELOOP', 'EMLINK'])

/** Opens a file itself. Under root it must belong to the owner of its folder, or root's folder keeps others away from it. @throws ForeignFile */
export async function openOwn(path: string, flags: number): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(error => {
    const why = 'is a link, and links are not followed: put the file itself there'
    throw LINK.has(codeOf(error)) ? new ForeignFile(path, why) : error
  })
  try {
    const entry = await handle.stat()
    if (!entry.isFile()) throw new ForeignFile(path, 'is no file: remove it')
    const { uid } = await stat(dirname(path))
    if (isRoot() && uid !== 0 && entry.uid !== uid)
      throw new ForeignFile(path, 'belongs to another user than its folder: give it to that user, or remove it')
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Opens a file, or makes it. Under root a new file is given to the owner of its folder. @throws ForeignFile */
export async function openOrMake(path: string, flags: number, mode: number): Promise<FileHandle> {
  const handle = await make(path, flags, mode).catch(error => {
    if (codeOf(error) !== 'EEXIST') throw error
    return undefined
  })
  return handle ?? openOwn(path, flags)
}

/** Makes a file that was not there, for the owner of its folder. */
export async function makeOwn(path: string, content: string | Uint8Array, owner?: Owner): Promise<void> {
  const handle = await make(path, constants.O_WRONLY, 0o600, owner)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function make(path: string, flags: number, mode: number, owner?: Owner): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode)
  try {
    if (isRoot()) {
      const { uid, gid } = owner ?? (await stat(dirname(path)))
      await handle.chown(uid, gid)
    }
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Opens a folder itself, not what a link leads to, for `work`. @throws ForeignFile */
export async function withFolder<T>(path: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const handle = await open(path, flags).catch(error => {
    const isNoFolder = LINK.has(codeOf(error)) || codeOf(error) === 'ENOTDIR'
    throw isNoFolder ? new ForeignFile(path, 'is a link or no folder: remove it') : error
  })
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}

/** A path that leads to the opened folder even if it is renamed meanwhile, where the system has such paths. */
export const pathOf = (handle: FileHandle, path: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path

/** Does `work` in a folder. Under root by a path that stays that of the folder, which must be no link. @throws ForeignFile */
export function within<T>(folder: string, work: (at: string) => Promise<T>): Promise<T> {
  return isRoot() ? withFolder(folder, handle => work(pathOf(handle, folder))) : work(folder)
}

/** Under root, makes an opened folder root's alone: then no other account can exchange anything in it. */
async function takeOver(handle: FileHandle): Promise<void> {
  await handle.chown(0, 0)
  await handle.chmod(0o700)
}

/** Removes a folder with its content, or a file, if it is there. Under root it follows no link on the way, also if some are made meanwhile. */
export async function removeTree(path: string): Promise<void> {
  if (!isRoot()) return rm(path, { recursive: true, force: true })
  const entry = await lstat(path).catch(() => undefined)
  if (entry === undefined) return
  if (!entry.isDirectory()) return unlink(path)
  await withFolder(path, async handle => {
    await takeOver(handle)
    const at = pathOf(handle, path)
    for (const name of await readdir(at)) await removeTree(join(at, name))
  })
  await rmdir(path)
}

/**
 * Gives a folder with all its content to an account. The folders are root's while that happens, and the outermost one is given
 * last, so that a process that was killed before is repeated. Their modes stay.
 * @param shown the path for messages
 */
export async function giveTree(path: string, owner: Owner, shown = path): Promise<void> {
  await withFolder(path, async handle => {
    const { mode } = await handle.stat()
    await takeOver(handle)
    const at = pathOf(handle, path)
    for (const name of await readdir(at)) await giveEntry(join(at, name), owner, join(shown, name))
    await handle.chmod(mode & 0o777)
    await handle.chown(owner.uid, owner.gid)
  })
}

/** Gives what is in a folder that only root can change by now. */
async function giveEntry(path: string, owner: Owner, shown: string): Promise<void> {
  const entry = await lstat(path)
  if (entry.isDirectory()) return giveTree(path, owner, shown)
  // The other name of such a file may be outside of the folder: a file of the system, for example.
  if (entry.nlink > 1)
    throw new Error(`${shown} has a second name (a hard link), so its owner is not changed: remove one of them`)
  await lchown(path, owner.uid, owner.gid)
}
