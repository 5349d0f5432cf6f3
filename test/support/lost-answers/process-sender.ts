/** A sender in a process of its own, which is killed now and then and starts again. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { OnUnavailable } from '../../../client/src/main.ts'
import { UnavailableError } from '../../../client/src/main.ts'
import { whenDone } from '../cleanup.ts'
import { PROJECT } from '../paths.ts'
import { sendWithTries } from './attempts.ts'
import { type Message, nameOf } from './message.ts'
import { type Asked, type Expiry, type SendOutcome, TTL_SECONDS } from './send-outcome.ts'
import { type Sender, TIMEOUT_MS, type World } from './senders.ts'

/** What a process gets at its start, as its argument, in JSON. */
export interface Run {
  readonly url: string
  readonly token: string
  /** Where the provider is. */
  readonly provider: string
  readonly onUnavailable: OnUnavailable
  /** The path of the journal, if there are debts. */
  readonly journal: string | null
  readonly timeoutMs: number
  readonly ttlSeconds: number
  /** Of the client for Python. */
  readonly isAsync: boolean
}

/** What a process gets on a line of its input. `close` settles what is left. */
export type Order = { readonly call: number } & (({ readonly op: 'send' } & Asked) | { readonly op: 'close' })

/** What it answers on a line of its output. */
export interface Reply {
  readonly call: number
  /** Null for `close`. */
  readonly outcome: SendOutcome | null
  /** Messages that are not settled, for example `7 m-1`. */
  readonly unsettled: readonly string[]
  /** How many debts are left. */
  readonly debts: number
}

export interface ProcessKind {
  readonly kind: 'process' | 'python'
  /** The program and its first arguments. */
  readonly command: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly isAsync?: boolean
}

export const JAVASCRIPT: ProcessKind = {
  kind: 'process',
  command: [process.execPath, join(import.meta.dirname, 'sender-process.ts')],
}

/** @param python an interpreter with the requirements of the package */
export function pythonKind(python: string, isAsync: boolean): ProcessKind {
  return {
    kind: 'python',
    command: [python, join(PROJECT, 'python/tests/lost_answers_sender.py')],
    env: { PYTHONPATH: join(PROJECT, 'python/src') },
    isAsync,
  }
}

interface Pending {
  readonly message: Asked | undefined
  resolve(reply: Reply | 'killed'): void
  reject(error: unknown): void
}

export async function processSender(
  world: World,
  number: number,
  { kind, command, env = {}, isAsync = false }: ProcessKind,
  { onUnavailable, onExpiry }: { onUnavailable: 'deny' | 'allow-with-debt'; onExpiry: Expiry },
): Promise<Sender> {
  const mayBeDebt = onUnavailable === 'allow-with-debt'
  const name = `${kind}-${mayBeDebt ? 'debt' : 'deny'}-${onExpiry}-${number}`
  const { record, provider, token } = world
  const run: Run = {
    url: await world.urlOf(name),
    token,
    provider: world.providerUrl,
    onUnavailable,
    journal: mayBeDebt ? join(world.folder, name) : null,
    timeoutMs: TIMEOUT_MS,
    ttlSeconds: TTL_SECONDS,
    isAsync,
  }
  const pending = new Map<number, Pending>()
  let calls = 0
  let unsettled: ReadonlyMap<string, Asked> = new Map()
  let kills = 0
  /** Those that were asked for, to find them by name, and by the process after this many kills. */
  const asked = new Map<string, { readonly message: Asked; readonly kills: number }>()
  let isEnding = false
  let child = launch()
  whenDone(() => {
    isEnding = true
    child.kill('SIGKILL')
  })

  function launch(): ChildProcessByStdio<Writable, Readable, null> {
    const [program, ...first] = command
    const launched = spawn(program, [...first, JSON.stringify(run)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    launched.stdin.on('error', () => {})
    createInterface({ input: launched.stdout }).on('line', line => answered(line))
    launched.on('close', (code, signal) => ended(signal ?? code))
    return launched
  }

  function answered(line: string): void {
    const reply = replyOf(line)
    if (reply === undefined) return
    // Else every message would be repeated for ever.
    if (!isWhole(reply)) {
      for (const { reject } of pending.values()) reject(new TypeError(`${name}: its process has answered ${line}`))
      return
    }
    unsettled = new Map(
      reply.unsettled.flatMap(key => {
        const known = asked.get(key)
        return known === undefined ? [] : [[key, known.message]]
      }),
    )
    pending.get(reply.call)?.resolve(reply)
    pending.delete(reply.call)
  }

  function ended(how: unknown): void {
    if (!isEnding && how !== 'SIGKILL') record.untrue.push(`${name}: its process has ended with ${how}`)
    const left = [...pending.values()]
    const lost = new Map(unsettled)
    for (const { message } of left) if (message !== undefined) lost.set(nameOf(message), message)
    if (!isEnding) {
      record.countsOf(kind)['under way at a kill'] += lost.size
      for (const message of lost.values()) addKilled(message)
      kills += 1
      child = launch()
    }
    unsettled = new Map()
    pending.clear()
    for (const { resolve } of left) resolve('killed')
  }

  function addKilled({ type: by, ...message }: Asked): void {
    record.addKilled({ ...message, by, mayBeDebt })
  }

  function call(message?: Asked): Promise<Reply | 'killed'> {
    calls += 1
    const order: Order = message === undefined ? { call: calls, op: 'close' } : { call: calls, op: 'send', ...message }
    if (message !== undefined) {
      // What it was answered is gone with its process. In an outage, it may send it again as a debt; and what is open is not known to be sent.
      const isForgotten = (asked.get(nameOf(message))?.kills ?? kills) < kills
      const isOpen = onExpiry === 'release' && provider.unknown.has(nameOf(message))
      if (isForgotten && (mayBeDebt || isOpen)) addKilled(message)
      asked.set(nameOf(message), { message, kills })
    }
    return new Promise((resolve, reject) => {
      pending.set(order.call, { message, resolve, reject })
      child.stdin.write(`${JSON.stringify(order)}\n`)
    })
  }

  /** Ends the process as one ends that has nothing left. */
  async function end(): Promise<void> {
    isEnding = true
    const closed = once(child, 'close')
    child.stdin.end()
    await closed
  }

  let isAgain = false
  return {
    name,
    kind,
    ...(mayBeDebt ? {} : { shares: onExpiry }),
    send: (message, random, type = name) =>
      sendWithTries(world, { name, kind }, message, random, async () => {
        const reply = await call({ ...message, type, onExpiry })
        return reply === 'killed' ? reply : (reply.outcome ?? 'killed')
      }),
    isOpen: message => unsettled.has(nameOf(message)) || isUnderWay(pending, message),
    async kill() {
      record.countsOf(kind).kills += 1
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
    },
    async close() {
      const reply = await call()
      if (reply === 'killed') return
      // What was refused for a while is tried again each minute, and by the next process at once.
      if (reply.debts > 0 && !isAgain) {
        await end()
        isAgain = true
        isEnding = false
        child = launch()
      }
      const left = reply.unsettled.length + reply.debts
      if (left > 0) throw new UnavailableError(`${left} messages are left`, { mayHaveTakenEffect: true })
      await end()
    },
  }
}

function isUnderWay(pending: ReadonlyMap<number, Pending>, message: Message): boolean {
  return [...pending.values()].some(one => one.message !== undefined && nameOf(one.message) === nameOf(message))
}

/** @returns undefined if the line was cut */
function replyOf(line: string): Partial<Reply> | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isWhole(reply: Partial<Reply>): reply is Reply {
  const { call, outcome, unsettled, debts } = reply
  return call !== undefined && outcome !== undefined && unsettled !== undefined && debts !== undefined
}
