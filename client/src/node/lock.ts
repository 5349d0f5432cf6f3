/** Lets one process at a time use a file. */
import { createHash, randomBytes } from 'node:crypto'
import { lstat, readdir, readlink, realpath, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** macOS allows the shortest addresses: 104 bytes. */
const MAX_ADDRESS = 103
const RANDOM_BYTES = 4
/** How often, and after how many milliseconds, processes that came at the same time try again. */
const TRIES = 5
const PAUSE_MS = 50

/**
 * Listens on a socket beside the file, with a name of its own, and then looks for the sockets of others: who became visible
 * later sees the earlier one, so that two never have it. The system ends a socket with its process, also after SIGKILL and in a
 * container, where another process may get the number of an earlier one. A socket has a file before it answers: it becomes visible, by
 * another name, only then. So a visible one without a listener is never used again.
 *
 * @returns what unlocks it
 * @throws Error if another process has it
 */
export async function lock(path: string): Promise<() => Promise<void>> {
  const file = await realPath(path)
  for (let tries = 1; ; tries++) {
    const unlock = await tryLock(file)
    if (unlock !== null) return unlock
    if (tries === TRIES) throw new Error(`${path} is open already, here or in another process`)
    await pause(Math.random() * PAUSE_MS)
  }
}

/** The path of a file, which need not exist, without symbolic links: two paths to one file become the same. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  const folder = dirname(resolve(path))
  // A link may lead to a file that does not exist yet.
  const target = await readlink(path).catch(() => null)
  if (target !== null) return realPath(resolve(folder, target))
  return join(await realpath(folder), basename(path))
}

/** @returns null if another process has it */
async function tryLock(file: string): Promise<(() => Promise<void>) | null> {
  const server = createServer(socket => socket.destroy())
  const { hidden, address } = addressesOf(file)
  if (!(await listen(server, hidden))) return null
  server.unref()
  const unlock = async () => {
    if (address !== hidden) await rm(address, { force: true })
    await new Promise<void>(resolve => server.close(() => resolve()))
  }
  try {
    if ((await show(hidden, address)) && !(await isLockedByAnother(file, address))) return unlock
  } catch (error) {
    await unlock()
    throw error
  }
  await unlock()
  return null
}

/** Where a socket begins to listen, and where others see it. */
function addressesOf(file: string): { hidden: string; address: string } {
  if (process.platform === 'win32') {
    // A pipe ends with its process, and has no file.
    const pipe = `\\\\.\\pipe\\${createHash('sha256').update(file).digest('hex')}`
    return { hidden: pipe, address: pipe }
  }
  const id = randomBytes(RANDOM_BYTES).toString('hex')
  const address = `${file}${VISIBLE}${id}`
  if (Buffer.byteLength(address) <= MAX_ADDRESS) return { hidden: `${file}${HIDDEN}${id}`, address }
  const added = Buffer.byteLength(address) - Buffer.byteLength(file)
  throw new RangeError(`the path of a journal has at most ${MAX_ADDRESS - added} bytes: ${file}`)
}

/** What follows the path of the file. Both are of one length. */
const [VISIBLE, HIDDEN] = ['.lock', '.wait']

/** @returns false if another process took the socket for one of an ended process, before it answered, and removed it */
async function show(hidden: string, address: string): Promise<boolean> {
  if (hidden === address) return true
  try {
    await rename(hidden, address)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Looks for the sockets of others, and removes those of ended processes. */
async function isLockedByAnother(file: string, own: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const folder = dirname(file)
  const names = await readdir(folder)
  const [visible, hidden] = [VISIBLE, HIDDEN].map(added => `${basename(file)}${added}`)
  for (const name of names) {
    const isVisible = name.startsWith(visible ?? '')
    if (!isVisible && !name.startsWith(hidden ?? '')) continue
    const address = join(folder, name)
    if (address === own || !(await isSocket(address))) continue
    const isTaken = await isAnswered(address)
    if (isVisible && isTaken) return true
    if (!isTaken) await rm(address, { force: true })
  }
  return false
}

async function isSocket(address: string): Promise<boolean> {
  const found = await lstat(address).catch(() => null)
  return found?.isSocket() === true
}

/** @returns false if the address is taken */
function listen(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error))
    server.once('error', fail)
    server.listen(address, () => {
      server.off('error', fail)
      resolve(true)
    })
  })
}

/** Only a socket that is there, and refuses, belongs to an ended process. */
function isAnswered(address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', error => {
      if (hasCode(error, 'ECONNREFUSED') || hasCode(error, 'ENOENT')) resolve(false)
      else if (hasCode(error, 'EAGAIN') || hasCode(error, 'ECONNRESET')) resolve(true)
      else reject(error)
    })
  })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
