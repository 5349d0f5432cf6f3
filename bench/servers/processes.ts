/** Starts the processes of a benchmark, measures their CPU and memory, and stops them. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** Steps that undo what a benchmark started, run in reverse order. */
export interface Cleanup {
  add(undo: () => Promise<unknown>): void
  /** Never rejects: a failing step is printed, and the others run. */
  run(): Promise<void>
}

export function createCleanup(): Cleanup {
  const steps: (() => Promise<unknown>)[] = []
  return {
    add: undo => steps.push(undo),
    async run() {
      for (let undo = steps.pop(); undo !== undefined; undo = steps.pop()) {
        await undo().catch(error => console.error('cleanup failed:', error))
      }
    },
  }
}

export interface Running {
  readonly pid: number
  stop(): Promise<void>
}

/** A child process that answers messages. It exits when the channel to this process closes. */
export interface Worker extends Running {
  /** Sends a message and resolves with the child's answer. Notes that arrive before it go to `onNote`. */
  ask<A>(message: object, onNote?: (note: string) => Promise<void>): Promise<A>
}

/** A message from a worker. */
export type WorkerMessage = { note: string } | { answer: unknown } | { failure: string }

export function startWorker(file: string, options: { flags?: string[]; env?: Record<string, string> } = {}): Worker {
  const child = fork(new URL(file, new URL('../', import.meta.url)), [], {
    execArgv: options.flags ?? [],
    env: { PATH: process.env.PATH ?? '', ...options.env },
    // In a process group of its own: the terminal's Ctrl-C does not reach it, and Cleanup stops it in order.
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
        // The answer waits for the handlers of the notes before it.
        let notesHandled = Promise.resolve()
        const onMessage = (reply: WorkerMessage) => {
          if ('answer' in reply) finish(() => notesHandled.then(() => resolve(reply.answer as never), reject))
          else if ('failure' in reply) finish(() => reject(new Error(`${file}: ${reply.failure}`)))
          else notesHandled = notesHandled.then(() => onNote?.(reply.note))
        }
        child.on('message', onMessage)
        ended.then(code => finish(() => reject(new Error(`${file} exited with ${code}`))))
        child.send(message)
      })
    },
  }
}

export interface ServerOptions {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Matches its output once it is ready; the first group becomes `readyMatch`. */
  ready: RegExp
}

/** Starts a server and waits until its output matches `ready`. */
export async function startServer(
  program: string,
  { args, env, ready }: ServerOptions,
): Promise<Running & { readyMatch: string }> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = endOf(child)
  let printed = ''
  const readyMatch = new Promise<string>((resolve, reject) => {
    const onText = (text: string) => {
      // Keeps only the end of a long output.
      printed = (printed + text).slice(-20_000)
      const match = ready.exec(printed)
      if (match !== null) resolve(match[1] ?? '')
    }
    child.stdout.setEncoding('utf8').on('data', onText)
    child.stderr.setEncoding('utf8').on('data', onText)
    child.on('error', reject)
    ended.then(code => reject(new Error(`${program} exited with ${code}:\n${printed}`)))
  })
  return { pid: pidOf(child), readyMatch: await readyMatch, stop: () => stop(child, ended) }
}

function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`${spawnfile} could not be started`)
  return pid
}

async function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  if (child.pid === undefined) return 1
  const [code, signal] = await once(child, 'exit')
  return code ?? signal
}

/** How long a process may take to exit after SIGTERM. */
const STOP_TIMEOUT_MS = 15_000

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timeout = new AbortController()
  await Promise.race([ended, pause(STOP_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => {})])
  timeout.abort()
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await ended
}

/**
 * Seconds of CPU that a process has used, and with `withChildren` also those of its running and its exited children. Null
 * on systems without /proc.
 */
export async function cpuSeconds(pid: number, withChildren = false): Promise<number | null> {
  let stat = await statOf(pid)
  if (stat === null || !withChildren) return stat && stat.own / TICKS_PER_SECOND
  // A child that ends meanwhile would be counted neither as living nor as ended.
  for (;;) {
    const living = await ticksOfChildren(pid)
    const after = await statOf(pid)
    if (after === null) return null
    if (after.ended === stat.ended) return (after.own + after.ended + living) / TICKS_PER_SECOND
    stat = after
  }
}

async function ticksOfChildren(pid: number): Promise<number> {
  return (await childrenOf(pid)).reduce((ticks, { own }) => ticks + own, 0)
}

async function childrenOf(pid: number): Promise<{ pid: number; own: number }[]> {
  const children: { pid: number; own: number }[] = []
  for (const name of await readdir('/proc')) {
    const other = /^\d+$/.test(name) ? await statOf(Number(name)) : null
    if (other?.parent === pid) children.push({ pid: Number(name), own: other.own })
  }
  return children
}

/** USER_HZ of Linux, the same on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100

async function statOf(pid: number): Promise<{ parent: number; own: number; ended: number } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // The fields after the name, which may contain spaces: state, parent, …
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return { parent: fields[1] ?? 0, own: user + system, ended: childUser + childSystem }
}

/** Resident memory of a process in bytes. Null on systems without /proc. */
export async function residentBytes(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}

/** The memory of a process and its children in bytes, of shared pages its part; 0 on systems without /proc. */
export async function proportionalBytes(pid: number): Promise<number> {
  let bytes = 0
  for (const one of [{ pid }, ...(await childrenOf(pid))]) {
    const text = await readFile(`/proc/${one.pid}/smaps_rollup`, 'utf8').catch(() => '')
    bytes += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024
  }
  return bytes
}

/** The most memory that a process has had, in bytes; 0 on systems without /proc. */
export async function peakBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
}

export const megabytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`
