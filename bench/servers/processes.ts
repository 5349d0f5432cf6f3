/** The processes of a benchmark: started, watched for what CPU they use, and ended again whatever happens. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** What is to be undone, in the reverse of the order in which it was done. */
export interface Cleanup {
  add(undo: () => Promise<unknown>): void
  /** Never rejects: what cannot be undone is told, and the rest goes on. */
  run(): Promise<void>
}

export function createCleanup(): Cleanup {
  const steps: (() => Promise<unknown>)[] = []
  return {
    add: undo => steps.push(undo),
    async run() {
      for (let undo = steps.pop(); undo !== undefined; undo = steps.pop()) {
        await undo().catch(error => console.error('could not tidy up:', error))
      }
    },
  }
}

export interface Running {
  readonly pid: number
  stop(): Promise<void>
}

/** A child of this project that answers messages. It ends with us: a broken channel ends it. */
export interface Worker extends Running {
  /** Sends a message and answers the child's reply; what the child tells meanwhile goes to `onNote`. */
  ask<A>(message: object, onNote?: (note: string) => Promise<void>): Promise<A>
}

/** What a worker sends. */
export type WorkerMessage = { note: string } | { answer: unknown } | { failure: string }

export function startWorker(file: string, options: { flags?: string[]; env?: Record<string, string> } = {}): Worker {
  const child = fork(new URL(file, new URL('../', import.meta.url)), [], {
    execArgv: options.flags ?? [],
    env: { PATH: process.env.PATH ?? '', ...options.env },
    // Not for the terminal's Ctrl-C, which we pass on in good order.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = endOf(child)
  return {
    pid: pidOf(child),
    stop: () => stop(child, ended),
    ask(message, onNote) {
      return new Promise((resolve, reject) => {
        const finish = (settle: () => void) => {
          child.off('message', onMessage)
          settle()
        }
        // What a note sets off is part of the job: the answer waits for it.
        let noted = Promise.resolve()
        const onMessage = (reply: WorkerMessage) => {
          if ('answer' in reply) finish(() => noted.then(() => resolve(reply.answer as never), reject))
          else if ('failure' in reply) finish(() => reject(new Error(`${file}: ${reply.failure}`)))
          else noted = noted.then(() => onNote?.(reply.note))
        }
        child.on('message', onMessage)
        ended.then(code => finish(() => reject(new Error(`${file} has ended with ${code}`))))
        child.send(message)
      })
    },
  }
}

export interface ServerOptions {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Found in what it prints when it is up; the first group is what is answered. */
  ready: RegExp
}

/** A server that says on its output when it is up. */
export async function startServer(
  program: string,
  { args, env, ready }: ServerOptions,
): Promise<Running & { said: string }> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = endOf(child)
  let printed = ''
  const said = new Promise<string>((resolve, reject) => {
    const onText = (text: string) => {
      // Of a server that goes on talking only the end is kept.
      printed = (printed + text).slice(-20_000)
      const match = ready.exec(printed)
      if (match !== null) resolve(match[1] ?? '')
    }
    child.stdout.setEncoding('utf8').on('data', onText)
    child.stderr.setEncoding('utf8').on('data', onText)
    child.on('error', reject)
    ended.then(code => reject(new Error(`${program} has ended with ${code}:\n${printed}`)))
  })
  return { pid: pidOf(child), said: await said, stop: () => stop(child, ended) }
}

function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`${spawnfile} cannot be started`)
  return pid
}

async function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  if (child.pid === undefined) return 1
  const [code, signal] = await once(child, 'exit')
  return code ?? signal
}

/** Longest that a process may take to end by itself. */
const END_MS = 15_000

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const patience = new AbortController()
  await Promise.race([ended, pause(END_MS, undefined, { signal: patience.signal }).catch(() => {})])
  patience.abort()
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await ended
}

/**
 * Seconds of CPU that a process has used so far, and with `family` all that it started: those that have ended are
 * counted with it. Null where the system does not say.
 */
export async function cpuSeconds(pid: number, family = false): Promise<number | null> {
  const stat = await statOf(pid)
  if (stat === null) return null
  let ticks = stat.own
  if (family) {
    ticks += stat.ended
    for (const name of await readdir('/proc')) {
      const other = /^\d+$/.test(name) ? await statOf(Number(name)) : null
      if (other?.parent === pid) ticks += other.own
    }
  }
  return ticks / TICKS_PER_SECOND
}

/** Linux's for programs, on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100

async function statOf(pid: number): Promise<{ parent: number; own: number; ended: number } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // Behind the name, which may hold anything: state, parent, …
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return { parent: fields[1] ?? 0, own: user + system, ended: childUser + childSystem }
}

/** Bytes of memory that a process holds. Null where the system does not say. */
export async function residentBytes(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}
