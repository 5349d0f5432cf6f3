/** Senders of all kinds, each with a client of its own, as in a process of its own. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Client,
  createClient,
  type Journal,
  type Lease,
  type OnUnavailable,
  QuotaError,
  type ReserveReq,
  type Sent,
  UnavailableError,
} from '../../../client/src/main.ts'
import { openJournal } from '../../../client/src/node/journal.ts'
import type { Random } from '../fuzz/random.ts'
import type { Books } from './books.ts'
import { type Message, NotTaken, nameOf, type Provider } from './provider.ts'

export interface Sender {
  readonly name: string
  /** Sends one message, or does not. It rejects if it was told what must not be. */
  send(message: Message, random: Random): Promise<void>
  /** Settles what is left. To be repeated until it succeeds. @throws UnavailableError and QuotaError */
  close(): Promise<void>
}

export interface World {
  readonly url: string
  readonly token: string
  /** For journals. */
  readonly folder: string
  readonly provider: Provider
  readonly books: Books
}

/** Short, so that a call ends before its answer is late by seconds. */
export const TIMEOUT_MS = 600
/** As short as outages are, so that reservations expire in some. */
const TTL_SECONDS = 3
/** How often one message is tried. */
const TRIES = 4

const clientOf = ({ url, token }: World) => ({ url, token, senderTimeoutMs: TIMEOUT_MS, timeoutMs: TIMEOUT_MS })

export type Expiry = NonNullable<ReserveReq['onExpiry']>

/** A sender that calls `withReservation`. */
export async function reservingSender(
  world: World,
  number: number,
  onUnavailable: OnUnavailable,
  onExpiry: Expiry,
): Promise<Sender> {
  const name = `${onUnavailable === 'allow-with-debt' ? 'debt' : onUnavailable}-${onExpiry}-${number}`
  const { books } = world
  const path = join(world.folder, name)
  const open = () =>
    openJournal(path, { onUnknown: () => 'charge', onRefused: () => books.count('debts refused for now') })
  let journal: Journal | undefined = onUnavailable === 'allow-with-debt' ? await open() : undefined
  const connect = () =>
    createClient({
      ...clientOf(world),
      onUnavailable,
      ...(journal === undefined ? {} : { journal }),
      ...(onUnavailable === 'lease' ? { outageLease: { units: 6, ttlSeconds: 4 } } : {}),
    })
  const client = connect()
  const attempt = createAttempt(world, client, name, onExpiry)
  let restarted: Client | undefined
  return {
    name,
    send: (message, random) => sendWithTries(books, message, random, () => attempt(message, random)),
    async close() {
      await client.close()
      if (journal === undefined) return
      // What was refused for a while is tried again each minute, and by the next process at once.
      if (restarted === undefined) {
        await journal.close()
        journal = await open()
        restarted = connect()
      }
      const left = journal.debts().length
      if (left > 0) throw new UnavailableError(`${left} debts are left`, { mayHaveTakenEffect: true })
      await restarted.close()
      await journal.close()
      journal = undefined
    },
  }
}

type Told = 'done' | 'again'

/** Tries a message as a worker does that is asked again and again. */
async function sendWithTries(
  books: Books,
  message: Message,
  random: Random,
  attempt: () => Promise<Told>,
): Promise<void> {
  for (let n = 0; n < TRIES; n++) {
    if ((await attempt()) === 'done' && !random.percent(10)) return
    if (random.percent(20)) break
    await pause(random.integer(400))
  }
  books.count(`left after its tries${message.units > 1 ? ', of several units' : ''}`)
}

/** One call of `withReservation`, whose outcome is compared with the provider's list. */
function createAttempt({ provider, books }: World, client: Client, name: string, onExpiry: Expiry) {
  return async (message: Message, random: Random): Promise<Told> => {
    const was = provider.has(message)
    let calls = 0
    const send = () => {
      calls += 1
      return provider.send(message, name, random)
    }
    const told = (what: string, isTrue: boolean) => {
      books.count(what)
      if (!isTrue) books.untrue.push(`${name}: ${nameOf(message)}: ${what}, sends: ${calls}, taken before: ${was}`)
    }
    const { userId, id, units } = message
    try {
      const result = await client.withReservation(
        { userId, id, units, messageType: name, ttlSeconds: TTL_SECONDS, onExpiry },
        send,
      )
      const isUnknown = provider.unknown.has(nameOf(message))
      const isLeasing = name.startsWith('lease-')
      const doubt = () => provider.doubt(message)
      const assume = () => provider.assume(message, name)
      return noteResult(result, { told, calls, was, isUnknown, isLeasing, assume, doubt }, message, books)
    } catch (error) {
      if (error instanceof NotTaken) told('send failed', calls === 1)
      else if (error instanceof UnavailableError) told(`unavailable, outage: ${error.isOutage}`, calls === 0)
      else if (error instanceof QuotaError) told(`refused: ${error.code}`, calls === 0)
      else throw error
      return 'again'
    }
  }
}

interface Noted {
  told(what: string, isTrue: boolean): void
  /** Of `send`. */
  readonly calls: number
  /** Whether the provider had the message before. */
  readonly was: boolean
  readonly isUnknown: boolean
  /** Whether leases pay in an outage. */
  readonly isLeasing: boolean
  /** Takes the message for sent. */
  assume(): void
  /** Takes the message for one that may be sent. */
  doubt(): void
}

function noteResult(
  result: Sent<string>,
  { told, calls, was, isUnknown, isLeasing, assume, doubt }: Noted,
  message: Message,
  books: Books,
): Told {
  if (!result.granted) {
    told('denied', calls === 0)
    return 'again'
  }
  if (result.sent === true) {
    const isDebt = result.settled === null && result.isDebt
    const isLeased = result.settled === null && result.isLeased
    told(isDebt ? 'sent as a debt' : isLeased ? 'sent from a lease' : 'sent', calls === 1 && !was)
    if (isDebt) {
      const { userId, units } = message
      books.debts.set(userId, (books.debts.get(userId) ?? 0) + units)
      const { error } = result
      if (!(error instanceof UnavailableError && error.isOutage)) told(`a debt for ${String(error)}`, false)
    }
    return 'done'
  }
  if (result.sent === 'before') told('sent before', calls === 0 && (was || isUnknown))
  else {
    told(calls === 0 ? 'unknown, not sent now' : 'unknown', calls === 0 || isUnknown)
    if (calls === 0 && !was) doubt()
    // The lease has paid.
    if (calls === 1 && result.reservation === null && isLeasing) assume()
  }
  return 'done'
}

/** A sender that spends from a lease for each user, and closes some and opens others now and then. */
export function leasingSender(world: World, number: number): Sender {
  const name = `leases-${number}`
  const { provider, books } = world
  const client = createClient(clientOf(world))
  const open = new Map<number, { lease: Lease; sends: number }>()
  const closing = new Set<Lease>()

  function leaseOf(userId: number): { lease: Lease; sends: number } {
    const known = open.get(userId)
    if (known !== undefined) return known
    const made = { lease: client.lease({ userId, units: 8, messageType: name, ttlSeconds: TTL_SECONDS }), sends: 0 }
    open.set(userId, made)
    return made
  }

  async function close(lease: Lease): Promise<void> {
    closing.add(lease)
    await lease.close()
    closing.delete(lease)
  }

  async function spend(message: Message, { lease }: { lease: Lease }, random: Random): Promise<void> {
    const answer = await lease.spend(message.units).catch(error => {
      if (!(error instanceof UnavailableError || error instanceof QuotaError)) throw error
      books.count(`lease: ${error instanceof QuotaError ? error.code : 'unavailable'}`)
      return { granted: false }
    })
    if (!answer.granted) return
    books.count('lease: spent')
    await provider.send(message, name, random, false).catch(error => {
      if (!(error instanceof NotTaken)) return
      lease.giveBack(message.units)
      books.count('lease: given back')
    })
  }

  return {
    name,
    async send(message, random) {
      const leased = leaseOf(message.userId)
      leased.sends += 1
      try {
        await spend(message, leased, random)
      } finally {
        leased.sends -= 1
      }
      if (leased.sends > 0 || !random.percent(5) || open.get(message.userId) !== leased) return
      open.delete(message.userId)
      await close(leased.lease).catch(() => books.count('lease: close failed'))
    },
    async close() {
      for (const { lease } of open.values()) closing.add(lease)
      open.clear()
      for (const lease of closing) await close(lease)
      await client.close()
    },
  }
}
