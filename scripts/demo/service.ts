/** The service of the demo: the real one, on a clock that first runs through the past month. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { type Client, createClient } from '../../client/src/main.ts'
import { createApp } from '../../src/app.ts'
import { type Config, ConfigError, loadConfig } from '../../src/config/config.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { dropRoot } from '../../src/drop-root.ts'
import { ownSecret } from '../../src/http/auth/secrets.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import { addressOf, createListener } from '../../src/http/listener.ts'
import { BLOCKED_USER, type Customer, customersAt, type Message, messagesOf } from './platform.ts'
import { createRandom, type Random } from './random.ts'

/** Tokens are valid from the earliest past that a demo may have, to a day after its start. */
const MAX_PAST_MS = 366 * DAY_MS
/** The past is sent in steps of this length. */
const STEP_MS = HOUR_MS
/** Calls at the same time: enough for full batches. */
const CALLS = 256
/** Every second, the messages of this time are sent, so that something happens. */
const LIVE_MS = 10_000
/** How often user 4711 sends a code beside the usual messages: as long as he is blocked, his latest denial is of this minute. */
const RETRY_CODE_MS = 60_000
/** More than the daily cap of user 4711, so that a code is denied in the end. */
const MAX_CODES = 1_000
/** Parts of the messages that the provider refuses, and of those sent that do not arrive. */
const REFUSED = 0.01
const LOST = 0.01

/** Those who look at the console. */
const PEOPLE = {
  administrator: { userId: 1, name: 'Demo administrator', roles: ['admin'] },
  support: { userId: 2, name: 'Demo support', roles: ['support'] },
  auditor: { userId: 3, name: 'Demo auditor', roles: ['auditor'] },
  customer: { userId: BLOCKED_USER, name: 'Nimbus Games', roles: [] },
} as const satisfies Record<string, Person>

interface Person {
  userId: number
  name: string
  roles: readonly ('admin' | 'support' | 'auditor')[]
}

export interface Demo {
  /** Where the service is, without a final slash. */
  url: string
  /** Links to its console, each of which signs a person in, for a day. */
  links: Readonly<Record<keyof typeof PEOPLE, string>>
  close(): Promise<void>
}

interface DemoOptions {
  /** 0: any free one. */
  port: number
  /** How much of the past the demo has: at most 366. */
  pastDays: number
  onProgress: (text: string) => void
  /** Ends the start. */
  signal?: AbortSignal
}

/**
 * Starts a service and sends the messages of the past; resolves when the present is reached. The data is in a temporary
 * folder, which is deleted at the end, also if the start fails.
 */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const stops: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    return { ...(await start(options, stops)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function start(options: DemoOptions, stops: (() => Promise<unknown>)[]): Promise<Omit<Demo, 'close'>> {
  const { port, pastDays, onProgress } = options
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-demo-'))
  stops.push(() => rm(folder, { recursive: true, force: true }))
  const receivers = await startReceivers()
  stops.push(receivers.close)
  const config = configOf(port, folder)
  const started = Date.now()
  let behind = pastDays * DAY_MS
  const now = () => Date.now() - behind
  onProgress('Starting PostgreSQL and the service …')
  const url = await serve(config, now, stops)
  const admin = createClient({ url, token: await tokenOf(config, PEOPLE.administrator, started), timeoutMs: 60_000 })
  const senders = await createSenders(url, config, started)

  const random = createRandom(4_711)
  const customers = customersAt(started, pastDays, random)
  onProgress(`Creating the quotas of ${customers.length} customers …`)
  for (const { userId, name, quotas } of customers) {
    await Promise.all([
      admin.updateProfile({ userId, name }),
      ...quotas.map(quota => admin.createQuota({ userId, ...quota })),
    ])
  }
  const types = ['quota.threshold_reached', 'quota.updated'] as const
  await admin.createWebhook({ url: receivers.healthy, types: [...types], description: 'Customer relations' })

  onProgress(`Sending the messages of ${pastDays} days …`)
  while (behind > 0) {
    options.signal?.throwIfAborted()
    const from = now()
    await sendAll(messagesOf(customers, from, STEP_MS, started, random), senders, from, random)
    behind = Math.max(0, behind - STEP_MS)
  }
  await admin.createWebhook({ url: receivers.failing, types: [...types], description: 'Billing (its receiver fails)' })
  await sendCodes(senders, now(), MAX_CODES)

  stops.push(startTraffic(customers, senders, random))
  const linkOf = async (person: Person) => `${url}/console/#token=${await tokenOf(config, person, Date.now())}`
  const { administrator, support, auditor, customer } = PEOPLE
  const links = {
    administrator: await linkOf(administrator),
    support: await linkOf(support),
    auditor: await linkOf(auditor),
    customer: await linkOf(customer),
  }
  return { url, links }
}

/** Starts the service on a clock. @returns its address */
async function serve(config: Config, now: () => EpochMs, stops: (() => Promise<unknown>)[]): Promise<string> {
  const log = pino({ level: 'warn', base: null }, pino.destination(2))
  const listener = createListener()
  stops.push(() => listener.close())
  await listener.listen(config.host, config.port)
  await dropRoot(config, log)
  const app = await createApp(config, log, { listener, now })
  stops.push(() => app.close())
  return addressOf(listener).url
}

function configOf(port: number, dataDir: string): Config {
  const loaded = loadConfig({
    PORT: String(port),
    DATA_DIR: dataDir,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    RATE_LIMIT_PER_MINUTE: '0',
    CONTACT_TEXT: 'Our customer service raises limits.',
    CONTACT_URL: 'mailto:service@example.com',
  })
  if ('issues' in loaded) throw new ConfigError(loaded.issues)
  return loaded.config
}

/** A token of the service's own secret that is valid through the past and a day after. @param owner a person, or the name of a sender */
async function tokenOf({ auth, dataDir }: Config, owner: Person | string, at: EpochMs): Promise<string> {
  const isSender = typeof owner === 'string'
  const roles = { admin: auth.adminRole, support: auth.supportRole, auditor: auth.auditorRole }
  return mintToken({
    ...auth,
    secret: await ownSecret(dataDir),
    userId: isSender ? null : owner.userId,
    subject: isSender ? owner : String(owner.userId),
    ...(isSender ? {} : { name: owner.name }),
    roles: isSender ? [auth.senderRole] : owner.roles.map(role => roles[role]),
    ttlSeconds: (MAX_PAST_MS + DAY_MS) / 1_000,
    now: at - MAX_PAST_MS,
  })
}

/** A machine for each type of message. */
type Senders = ReadonlyMap<string, Client>

const SENDERS = { otp: 'login-codes', notification: 'order-updates', alert: 'order-updates', marketing: 'newsletter' }

async function createSenders(url: string, config: Config, at: EpochMs): Promise<Senders> {
  const clients = Object.entries(SENDERS).map(async ([type, name]) => {
    const token = await tokenOf(config, name, at)
    return [type, createClient({ url, token, senderTimeoutMs: 30_000 })] as const
  })
  return new Map(await Promise.all(clients))
}

/** Sends messages as a platform does: most arrive, some are refused by the provider, some are lost on their way. */
async function sendAll(messages: readonly Message[], senders: Senders, at: EpochMs, random: Random): Promise<void> {
  for (let first = 0; first < messages.length; first += CALLS) {
    const calls = messages.slice(first, first + CALLS).map(async ({ messageType, isEntered, ...message }, nth) => {
      const sender = senders.get(messageType)
      if (sender === undefined) throw new RangeError(`no machine sends ${messageType}`)
      const id = `${at.toString(36)}-${first + nth}`
      const input = { ...message, messageType, id }
      const luck = random.next()
      if (luck < REFUSED) {
        const reserved = await sender.reserve(input)
        if (reserved.granted) await sender.release({ userId: input.userId, id })
        return
      }
      const sent = await sender.withReservation(input, () => 'accepted')
      if (!sent.granted) return
      if (luck > 1 - LOST) await sender.refund({ userId: input.userId, id })
      else if (isEntered) await sender.verified({ userId: input.userId, id })
    })
    await Promise.all(calls)
  }
}

/** Sends codes of user 4711, all of which arrive and are entered, until one is denied, and `max` at most. */
async function sendCodes(senders: Senders, at: EpochMs, max: number): Promise<void> {
  const sender = senders.get('otp')
  if (sender === undefined) throw new RangeError('no machine sends codes')
  for (let nth = 0; nth < max; nth++) {
    const id = `login-${at.toString(36)}-${nth}`
    const input = { userId: BLOCKED_USER, country: 'DE', messageType: 'otp', units: 1, id }
    const { granted } = await sender.withReservation(input, () => 'accepted')
    if (!granted) return
    await sender.verified({ userId: input.userId, id })
  }
}

/** Goes on as the past did, faster. @returns a function that stops it */
function startTraffic(customers: readonly Customer[], senders: Senders, random: Random): () => Promise<void> {
  const stopped = new AbortController()
  const running = (async () => {
    let nextCode = Date.now() + RETRY_CODE_MS
    while (!stopped.signal.aborted) {
      const at = Date.now()
      const messages = messagesOf(customers, at, LIVE_MS, at, random)
      try {
        await sendAll(messages, senders, at, random)
        if (at >= nextCode) {
          // One only: after a raise of the cap one sees that the user can send.
          await sendCodes(senders, at, 1)
          nextCode = at + RETRY_CODE_MS
        }
      } catch (error) {
        if (!stopped.signal.aborted) process.stderr.write(`demo: ${String(error)}\n`)
      }
      await pause(1_000, undefined, { signal: stopped.signal }).catch(() => {})
    }
  })()
  return () => {
    stopped.abort()
    return running
  }
}

/** Receivers of webhooks on this machine: one that takes every delivery, and one that takes none. */
async function startReceivers() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(request.url === '/failing' ? 503 : 204).end())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    healthy: `${url}/healthy`,
    failing: `${url}/failing`,
    close: () => new Promise(resolve => server.close(resolve)),
  }
}
