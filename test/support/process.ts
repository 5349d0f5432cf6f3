/** Runs the service as operators do: `bin/sms-quota` as a process that tests call, kill and start again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inject } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { foldersIn } from '../../src/db/embedded/folders.ts'
import { endServer, isServerOf, readPidFile } from '../../src/db/embedded/postmaster.ts'
import { ownSecret } from '../../src/http/auth/secrets.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import { whenDone } from './cleanup.ts'
import { copyDataFolder } from './database-server.ts'
import { PROJECT } from './paths.ts'
import type { Answer } from './service.ts'

type Environment = Record<string, string>

/** The result of a process. A process that a signal ended has no code. */
interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

interface CallOptions {
  body?: unknown
  headers?: Record<string, string>
}

/** A running or exited command. */
interface Process {
  readonly pid: number
  /** Its output so far. */
  stdout(): string
  signal(name: NodeJS.Signals): void
  /** Resolves when it has exited. */
  readonly ended: Promise<Outcome>
  /** Sends SIGTERM, and waits until it has exited. */
  stop(): Promise<Outcome>
  /** Sends SIGKILL, and waits until it has exited. */
  kill(): Promise<void>
}

/** A service that accepts requests. */
export interface Service extends Process {
  readonly url: string
  /** An administrator's token, valid for an hour. */
  readonly token: string
  /** Calls it as the administrator. Rejects if there is no response. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

/** A place to run services: a data folder of its own, without the environment variables of the tests. */
export interface Site {
  readonly dataDir: string
  launch(args: string[], env?: Environment, program?: string): Process
  /** Starts a service and waits until it is ready. Rejects with its output if it exits instead. */
  start(env?: Environment, program?: string): Promise<Service>
  /** An administrator's token of a service with these settings, valid for an hour. */
  token(env?: Environment): Promise<string>
  /** The process id of the data folder's database server; undefined if none runs. */
  postmaster(): Promise<number | undefined>
}

interface SiteOptions {
  /** The folder of the version to run, by default this one. */
  project?: string
  /** Whether the data folder has a migrated database already, so that the first start is no slower than the next. */
  prepared?: boolean
  /** The folder for its files, by default that of the run, which may be in memory. */
  parent?: string
}

/**
 * Call this where tests are declared. After those tests it removes all files and all processes, including a database
 * server that a killed service left behind.
 */
export async function createSite(options: SiteOptions = {}): Promise<Site> {
  const { project = PROJECT, prepared = false, parent = tmpdir() } = options
  const home = await realpath(await mkdtemp(join(parent, 'sms-quota-process-')))
  // Under root, the database's user must be able to enter the folder.
  await chmod(home, 0o711)
  const dataDir = join(home, 'data')
  if (prepared) await copyDataFolder(inject('preparedFolder'), dataDir)
  const folders = foldersIn(dataDir)
  const running = new Set<Process>()
  let closed = false
  whenDone(async () => {
    closed = true
    await Promise.all([...running].map(service => service.kill()))
    await endServer(folders, 5_000)
    await rm(home, { recursive: true, force: true })
  })

  function launch(args: string[], env: Environment = {}, program = join(project, 'bin/sms-quota')): Process {
    // A test that timed out may still be running.
    if (closed) throw new Error('the tests of this site have finished')
    const child = spawn(program, args, {
      cwd: home,
      env: environment(dataDir, env),
      // A process group of its own, as in a terminal.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    const ended = once(child, 'close').then(([code]) => {
      running.delete(launched)
      return { code, stdout: withoutRootWarning(stdout), stderr: withoutRootWarning(stderr) }
    })
    const launched: Process = {
      pid: child.pid ?? 0,
      stdout: () => stdout,
      signal: name => child.kill(name),
      ended,
      stop() {
        child.kill('SIGTERM')
        return ended
      },
      async kill() {
        child.kill('SIGKILL')
        await ended
      },
    }
    running.add(launched)
    return launched
  }

  return {
    dataDir,
    launch,

    async start(env = {}, program) {
      const service = launch(['serve'], env, program)
      const url = await urlOf(service)
      const token = await adminToken(environment(dataDir, env))
      return { ...service, url, token, call: (method, path, options) => call(method, url + path, token, options) }
    },

    token: (env = {}) => adminToken(environment(dataDir, env)),

    async postmaster() {
      const pid = (await readPidFile(folders))?.pid
      return pid !== undefined && (await isServerOf(folders, pid)) ? pid : undefined
    },
  }
}

/** Without what a project in the home of root gives rise to; `root.test.ts` looks at that. */
const withoutRootWarning = (output: string) =>
  output.replace(/^.*"service: runs as root, because its account cannot read the project.*\n/gm, '')

async function urlOf({ stdout, ended }: Process): Promise<string> {
  let outcome: Outcome | undefined
  ended.then(result => {
    outcome = result
  })
  for (; ; await pause(10)) {
    const [, url] = /^sms-quota is at (\S+),[\s\S]*^curl .*\n/m.exec(stdout()) ?? []
    if (url !== undefined) return url
    if (outcome !== undefined) throw new Error(`the service exited: ${JSON.stringify(outcome)}`)
  }
}

/** Without a rate limit, because tests make more calls than it allows. */
const environment = (dataDir: string, env: Environment): Environment => ({
  PATH: process.env.PATH ?? '',
  PORT: '0',
  DATA_DIR: dataDir,
  RATE_LIMIT_PER_MINUTE: '0',
  ...env,
})

async function adminToken(env: Environment): Promise<string> {
  const loaded = loadConfig(env)
  if ('issues' in loaded) throw new Error('the configuration of the test is invalid')
  const { auth, dataDir } = loaded.config
  const secret = auth.key.kind === 'secret' ? auth.key.secret : await ownSecret(dataDir)
  const roles = [auth.adminRole]
  return mintToken({ ...auth, secret, userId: 1, subject: '1', roles, ttlSeconds: 3_600, now: Date.now() })
}

async function call(method: string, url: string, token: string, { body, headers }: CallOptions = {}): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json')
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: isJson ? JSON.parse(text) : text,
  }
}
