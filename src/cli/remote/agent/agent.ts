/** The agent: takes the calls of the senders on this machine, and passes them on through one client, as few batches. */
import { once } from 'node:events'
import { lstat, rm } from 'node:fs/promises'
import { createClientOn } from '../../../../client/src/client.ts'
import { lock } from '../../../../client/src/node/lock.ts'
import { afterMs, type Later, PLATFORM, type Timers } from '../../../../client/src/timers.ts'
import { readSegmentRules, SEGMENTS_HEADER } from '../../../contract/segments-header.ts'
import type { SegmentRules } from '../../../domain/messages/segment-rules.ts'
import { addressOf, createListener, type HttpListener } from '../../../http/listener.ts'
import type { Terminal } from '../../terminal.ts'
import { FAILED } from '../failures.ts'
import type { Addresses } from '../profiles.ts'
import { type DebtOptions, openDebts } from './debts.ts'
import { createForward } from './forward.ts'
import { createLeases, type LeaseOptions } from './leases.ts'
import { createOutageLog } from './outage-log.ts'
import { createAgentServer } from './server.ts'

const MAX_CALLS = 10_000
const TIMEOUT_MS = 2_000

/** Where it listens: a loopback address, or the path of a socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string }

export interface AgentOptions {
  readonly service: Addresses
  readonly place: ListenAddress
  /** Undefined: nothing is allowed while the service is away. */
  readonly debts: DebtOptions | undefined
  /** Undefined: each message is passed on to the service. */
  readonly leases: LeaseOptions | undefined
  /** Whether callers may book past any limit, if the token may; false if left out. */
  readonly allowForce?: boolean
  /** Gets lines for the operator, without a line break. */
  readonly log: (line: string) => void
  /** Calls that it holds at most, as connections and as operations that wait for a batch; 10,000 if left out. */
  readonly maxCalls?: number
  /** How long an operation may take in all, in milliseconds; 2,000 if left out. */
  readonly timeoutMs?: number
  /** In place of the platform's. */
  readonly fetch?: typeof fetch
  /** In place of the platform's timers, for the time of allowed messages and of leases. */
  readonly later?: Later
  /** In place of the platform's clock, for leases; in milliseconds. */
  readonly now?: () => number
  /** In place of the platform's, for the pauses between calls. */
  readonly pauses?: Timers
}

export interface Agent {
  /** What callers connect to: a URL, or the path of the socket. */
  readonly address: string
  /** Stops accepting calls, and resolves when those under way are answered. */
  close(): Promise<void>
}

/** Runs until the terminal is interrupted. @returns the exit code */
export async function runAgent(options: AgentOptions, terminal: Terminal): Promise<number> {
  const interruption = terminal.interruption()
  let agent: Agent
  try {
    agent = await startAgent(options)
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    options.log(`cannot start: ${error.message}`)
    return FAILED
  }
  try {
    await terminal.print(
      `The agent listens at ${agent.address}, for the service at ${options.service.url.join(', ')}\n`,
    )
    if (!interruption.aborted) await once(interruption, 'abort')
  } finally {
    await agent.close()
  }
  return 0
}

/** @throws Error of the operating system if it cannot listen, and the errors of `openJournal` */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const {
    service,
    place,
    debts: owed,
    leases: leased,
    allowForce = false,
    log,
    maxCalls = MAX_CALLS,
    timeoutMs = TIMEOUT_MS,
    fetch = globalThis.fetch,
    later = afterMs,
    now = PLATFORM.now,
    pauses = PLATFORM,
  } = options
  const segments = createServiceSegments(fetch, log)
  const client = createClientOn(pauses, {
    ...service,
    maxWaiting: maxCalls,
    senderTimeoutMs: timeoutMs,
    fetch: segments.fetch,
  })
  const debts = owed && (await openDebts(owed, { client, segments: segments.rules, log, pauses, later }))
  const leases =
    leased && createLeases(leased, { calls: client, segments: segments.rules, log, timers: { now, later } })
  const outages = createOutageLog(log, now)
  const listener = createListener()
  listener.server.maxConnections = maxCalls
  try {
    const app = await createAgentServer({
      listener,
      forward: createForward({ client, debts, leases, allowForce, outages, log }),
      debts,
      outages,
      segments: segments.rules,
      isSocket: 'path' in place,
      log,
    })
    const freeSocket = await listen(listener, place)
    return {
      address: 'path' in place ? place.path : addressOf(listener).url,
      async close() {
        await app.close()
        await freeSocket()
        await leases?.close()
        await debts?.close()
      },
    }
  } catch (error) {
    await debts?.close()
    throw error
  }
}

/** @returns what lets another agent have the socket */
async function listen(listener: HttpListener, place: ListenAddress): Promise<() => Promise<void>> {
  if ('host' in place) {
    await listener.listen(place.host, place.port)
    return async () => {}
  }
  // One agent has the path. A socket there is that of one that was killed.
  const unlock = await lock(place.path)
  try {
    const found = await lstat(place.path).catch(() => null)
    if (found !== null && !found.isSocket()) throw new Error(`${place.path} is in the way: a socket belongs there`)
    await rm(place.path, { force: true })
    listener.server.listen({ path: place.path })
    await once(listener.server, 'listening')
    return unlock
  } catch (error) {
    await unlock()
    throw error
  }
}

/** How the service counts segments, as its answers say it. */
interface ServiceSegments {
  /** Null until the service has said it in a way that this agent understands. The same object until it says something else. */
  rules(): SegmentRules | null
  /** In place of the given one: also reads how the service counts. */
  readonly fetch: typeof fetch
}

/** @param log gets a line for the operator when texts cannot be counted as the service does */
function createServiceSegments(ask: typeof fetch, log: (line: string) => void): ServiceSegments {
  let said: string | null = null
  let rules: SegmentRules | null = null
  let isWarned = false

  function note(text: string): void {
    if (text === said) return
    said = text
    rules = readSegmentRules(text)
    if (rules === null) warn(`counts segments by rules that this agent does not know ("${text.slice(0, 200)}")`)
  }

  function warn(what: string): void {
    if (!isWarned) log(`the service ${what}: leases pay for no text; run the agent of the service's version`)
    isWarned = true
  }

  return {
    rules: () => rules,
    async fetch(input, init) {
      const response = await ask(input, init)
      const text = response.headers.get(SEGMENTS_HEADER)
      // What has no such header may be an older service, or no service at all. What is known holds until another is named.
      if (text !== null) note(text)
      else if (response.ok && said === null) warn('does not say how it counts segments')
      return response
    },
  }
}
