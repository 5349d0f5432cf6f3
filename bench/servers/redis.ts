/** A Redis for a benchmark, if one is installed. It keeps an append-only file. */
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Cleanup, type Running, startServer } from './processes.ts'

export interface Redis extends Running {
  readonly socket: string
  readonly version: string
}

/**
 * Null if there is no `redis-server` on the PATH.
 * @param appendfsync when the append-only file is synced: every second, which is usual, or before each response
 */
export async function startRedis(
  cleanup: Cleanup,
  appendfsync: 'everysec' | 'always' = 'everysec',
): Promise<Redis | null> {
  const program = await findProgram('redis-server')
  if (program === null) return null
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-redis-'))
  cleanup.add(() => rm(folder, { recursive: true, force: true }))
  const socket = join(folder, 'redis.sock')
  const settings = {
    port: '0',
    unixsocket: socket,
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync,
    daemonize: 'no',
  }
  const server = await startServer(program, {
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    ready: /Redis version=([\d.]+)[\s\S]*[Rr]eady to accept connections/,
  })
  cleanup.add(() => server.stop())
  return { pid: server.pid, stop: server.stop, socket, version: server.readyMatch }
}

async function findProgram(name: string): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file
  }
  return null
}
