/** A database server and two services on it, which a test kills while it calls them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SignJWT } from 'jose'
import { type Database, openDatabase } from '../../../src/db/connection/database.ts'
import { foldersIn } from '../../../src/db/embedded/folders.ts'
import { isServerOf, readPidFile } from '../../../src/db/embedded/postmaster.ts'
import type { EpochMs } from '../../../src/domain/time/time.ts'
import { whenDone } from '../cleanup.ts'
import { ownServer } from '../database.ts'
import { PROJECT } from '../paths.ts'
import { clockFrom } from './clock.ts'

/** How much faster than real time the services' clocks run, if left out: an hour in three seconds. */
const SPEED = 1_200
/** Seconds of real time after which retention deletes a settled reservation. */
export const RETENTION_S = 30
/** Seconds of real time by which the second service's clock lags. */
const LAG_S = 0.2

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))
const SECRET = 'a secret for tests only, long enough for HS256'

export interface Answer {
  status: number
  /** Parsed JSON of any shape; of an answer of several lines, the last one. */
  body: ReturnType<typeof JSON.parse>
}

/** A call, its times on `performance.now()`. */
export interface SeenCall {
  readonly client: string | undefined
  readonly service: number
  readonly method: string
  readonly path: string
  readonly body: object | undefined
  readonly key: string | undefined
  readonly invoked: number
  readonly returned: number
  readonly answer: Answer | undefined
}

/** A database server that ends with the tests. `url` is that of a superuser. */
interface DatabaseServer {
  readonly url: string
  readonly serviceUrl: string
  readonly dataDir: string
}

interface DeploymentOptions {
  /** The server, by default one of its own. */
  readonly server?: DatabaseServer
  /** How long a caller waits for an answer. */
  readonly timeoutMs?: number
  /** Changes the database before the services start. They then follow its clock, as the product does. */
  readonly prepare?: (db: Database) => Promise<void>
}

export interface Deployment {
  readonly db: Database
  /** For connections beside the services'. */
  readonly url: string
  /** The data folder of the database server. */
  readonly dataDir: string
  /** The services' clock. */
  now(): EpochMs
  /** When that clock shows this, on `performance.now()`. */
  when(time: EpochMs): number
  /** The clock of the service that is behind. */
  earliestNow(): EpochMs
  /** An administrator's, who may also send and force. */
  readonly token: string
  /** Where a service, 0 or 1, listens; undefined while it does not run. */
  port(service: number): number | undefined
  /**
   * Calls a service, 0 or 1. Undefined if there is no answer.
   * @param client whose call it is, for those who watch the calls
   */
  call(
    service: number,
    method: string,
    path: string,
    body?: object,
    key?: string,
    client?: string,
  ): Promise<Answer | undefined>
  /** Calls that may have reached a service are seen from now on, in the order of their ends. */
  watch(watcher: (call: SeenCall) => void): void
  /** Calls of a service go to this port from now on, where a proxy listens; undefined: to the service. */
  lead(service: number, port: number | undefined): void
  /** Kills a service, which starts again, and waits until it is dead. */
  killService(service: number): Promise<void>
  /** Kills both services, and lets them start again after `work`. */
  whileStopped<T>(work: () => Promise<T>): Promise<T>
  /** Sends a signal to a service that runs. */
  signal(service: number, name: 'SIGSTOP' | 'SIGCONT'): void
  /** Kills the database server, which starts again. Returns whether it ran. */
  killPostmaster(): Promise<boolean>
  /** Responses with a 5xx status except 503, and unexpected exits. */
  readonly serviceErrors: string[]
  /** The end of the services' error output. */
  output(): string
}

/** @param speed how much faster than real time the services' clocks run, if they do not follow the database's */
export async function createDeployment(speed = SPEED, options: DeploymentOptions = {}): Promise<Deployment> {
  const { url, serviceUrl, dataDir } = options.server ?? (await ownServer())
  const { timeoutMs = 20_000 } = options
  const db = openDatabase({ url, maxConnections: 3, statementTimeout: 60_000 })
  await options.prepare?.(db)
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: serviceUrl,
    AUTH_SECRET: SECRET,
    RATE_LIMIT_PER_MINUTE: '0',
    BREAKER_INTERVAL_SECONDS: '5',
    AUTO_USERS: 'true',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    // More than the test makes: a call that finds no room is denied.
    DEFAULT_PLAN_USERS_PER_MINUTE: '1000000',
  }
  const fast = {
    CHAOS_BEGAN: String(Date.now()),
    CHAOS_SPEED: String(speed),
    CHAOS_RETENTION_MS: String(RETENTION_S * 1_000 * SPEED),
  }
  const ofClock = options.prepare === undefined ? fast : {}
  const now = clockFrom(fast)
  const token = await new SignJWT({
    sub: '1',
    roles: ['sms-quota:admin', 'sms-quota:sender', 'sms-quota:force'],
    exp: Math.floor(now() / 1_000) + 5 * 365 * 86_400,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(SECRET))
  const serviceErrors: string[] = []
  let output = ''
  let isStopped = false
  let held: Promise<unknown> = Promise.resolve()
  const watchers: ((call: SeenCall) => void)[] = []
  const proxies: (number | undefined)[] = []

  const services = [createService(0), createService(LAG_S * 1_000 * speed)]
  whenDone(async () => {
    isStopped = true
    for (const service of services) await service.end()
    await db.close()
  })
  await Promise.all(services.map(service => service.ready()))

  /** Keeps a service running: starts it again whenever it exits. */
  function createService(lag: number) {
    let child: ReturnType<typeof launch>
    let port: number | undefined
    function launch() {
      const process = spawn(join(PROJECT, 'bin/node'), [SERVER], {
        env: { ...env, ...ofClock, CHAOS_LAG_MS: String(lag) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      process.stdout.setEncoding('utf8').on('data', text => {
        port = Number(/listening on (\d+)/.exec(text)?.[1] ?? port)
      })
      let stderr = ''
      process.stderr.setEncoding('utf8').on('data', text => {
        stderr = `${stderr}${text}`.slice(-2_000)
        output = `${output}${text}`.slice(-20_000)
      })
      process.on('close', code => {
        port = undefined
        if (isStopped) return
        // It may exit by itself only if it cannot reach the database at its start.
        if (code !== null && !/database|ECONN|ENOENT/.test(stderr))
          serviceErrors.push(`a service exited with ${code}: ${stderr}`)
        setTimeout(async () => {
          await held
          if (!isStopped) child = launch()
        }, 200)
      })
      return process
    }
    child = launch()
    return {
      port: () => port,
      async ready() {
        while (port === undefined) await pause(20)
      },
      async end() {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'close')
      },
      signal: (name: NodeJS.Signals) => void child.kill(name),
    }
  }

  return {
    db,
    url,
    dataDir,
    now,
    when: time => performance.now() + (time - now()) / speed,
    earliestNow: () => now() - LAG_S * 1_000 * speed,
    serviceErrors,
    output: () => output,
    token,
    port: service => services[service]?.port(),

    async call(service, method, path, body, key, client) {
      const port = proxies[service] ?? services[service]?.port()
      if (port === undefined) return undefined
      const invoked = performance.now()
      const answer = await fetchJson(`http://127.0.0.1:${port}${path}`, { method, token, timeoutMs, body, key })
      if (answer === NOT_SENT) return undefined
      if (answer !== undefined && answer.status >= 500 && answer.status !== 503) {
        serviceErrors.push(`${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
      }
      const seen = { client, service, method, path, body, key, invoked, returned: performance.now(), answer }
      for (const watcher of watchers) watcher(seen)
      return answer
    },

    watch: watcher => void watchers.push(watcher),

    lead(service, port) {
      proxies[service] = port
    },

    killService: async service => services[service]?.end(),

    async whileStopped(work) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      try {
        await Promise.all(services.map(service => service.end()))
        return await work()
      } finally {
        resolve()
      }
    },

    signal: (service, name) => services[service]?.signal(name),

    async killPostmaster() {
      const folders = foldersIn(dataDir)
      const pid = (await readPidFile(folders))?.pid
      if (pid === undefined || !(await isServerOf(folders, pid))) return false
      process.kill(pid, 'SIGKILL')
      return true
    },
  }
}

/** Stands for a call that found no one who listens: nothing was done. */
const NOT_SENT = Symbol('not sent')

interface JsonCall {
  readonly method: string
  readonly token: string
  readonly timeoutMs: number
  readonly body: object | undefined
  readonly key: string | undefined
}

async function fetchJson(
  url: string,
  { method, token, timeoutMs, body, key }: JsonCall,
): Promise<Answer | undefined | typeof NOT_SENT> {
  try {
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      body: text === '' ? undefined : JSON.parse(text.trim().split('\n').at(-1) ?? ''),
    }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED' ? NOT_SENT : undefined
  }
}
