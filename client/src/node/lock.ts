/** Lets one process at a time use a file. */
import { createHash, randomUUID } from 'node:crypto'
import { lstat, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { resolve } from 'node:path'

/** macOS allows the shortest addresses: 104 bytes. */
const MAX_ADDRESS = 103

/**
 * Listens on a socket beside the file: the system ends that with the process, also after SIGKILL and in a container, where
 * another process may get the number of an earlier one.
 *
 * @returns what unlocks it
 * @throws Error if another process has it
 */
export async function lock(path: string): Promise<() => Promise<void>> {
  const address = addressOf(resolve(path))
  const server = createServer(socket => socket.destroy())
  while (!(await listen(server, address))) {
    if (await isAnswered(address)) throw new Error(`${path} is open already, here or in another process`)
    await removeAbandoned(address)
  }
  server.unref()
  return () => new Promise(resolve => server.close(() => resolve()))
}

function addressOf(path: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\${createHash('sha256').update(path).digest('hex')}`
  const address = `${path}.lock`
  if (Buffer.byteLength(address) <= MAX_ADDRESS) return address
  throw new RangeError(`the path of a journal has at most ${MAX_ADDRESS - '.lock'.length} bytes: ${path}`)
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

function isAnswered(address: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Moves the socket of an ended process away. If another process was faster, and it is its socket now, puts it back. */
async function removeAbandoned(address: string): Promise<void> {
  const found = await lstat(address).catch(() => null)
  if (found === null) return
  if (!found.isSocket()) throw new Error(`${address} is in the way: a socket belongs there`)
  const aside = `${address}.${randomUUID().slice(0, 8)}`
  await rename(address, aside).catch(() => {})
  if (await isAnswered(aside)) await rename(aside, address)
  else await rm(aside, { force: true })
}
