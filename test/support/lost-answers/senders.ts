/** Senders of all kinds, each with a client of its own, as in a process of its own. */
import { join } from 'node:path'
import {
  type Client,
  createClient,
  type Journal,
  type Lease,
  type OnUnavailable,
  QuotaError,
  UnavailableError,
} from '../../../client/src/main.ts'
import { openJournal } from '../../../client/src/node/journal.ts'
import type { Random } from '../fuzz/random.ts'
import { sendWithTries } from './attempts.ts'
import { type Message, NotTaken } from './message.ts'
import type { Provider } from './provider.ts'
import type { RunRecord } from './record.ts'
import { ask, type Expiry, TTL_SECONDS } from './send-outcome.ts'

export interface Sender {
  readonly name: string
  /** For what is counted. */
  readonly kind: string
  /** Of those that may have a message that another one has: how that is asked for. */
  readonly shares?: Expiry
  /**
   * Sends one message, or does not. It rejects if a call answered what must not be.
   *
   * @param type of the message; it names the sender if left out
   */
  send(message: Message, random: Random, type?: string): Promise<void>
  /** Whether it has not settled yet what became of a message. */
  isOpen?(message: Message): boolean
  /** Kills its process, which starts again. */
  kill?(): Promise<void>
  /** Settles what is left. To be repeated until it succeeds. @throws UnavailableError and QuotaError */
  close(): Promise<void>
}

export interface World {
  /** Where a sender finds the services. */
  urlOf(sender: string): Promise<string>
  readonly token: string
  /** Where senders of other processes find the provider. */
  readonly providerUrl: string
  /** For journals. */
  readonly folder: string
  readonly provider: Provider
  readonly record: RunRecord
}

/** Short, so that a call ends before its answer is late by seconds. */
export const TIMEOUT_MS = 600

const clientOf = async ({ urlOf, token }: World, name: string) => ({
  url: await urlOf(name),
  token,
  senderTimeoutMs: TIMEOUT_MS,
  timeoutMs: TIMEOUT_MS,
})

/** A sender that calls `withReservation`. */
export async function reservingSender(
  world: World,
  number: number,
  onUnavailable: OnUnavailable,
  onExpiry: Expiry,
): Promise<Sender> {
  const kind = onUnavailable === 'allow-with-debt' ? 'debt' : onUnavailable
  const name = `${kind}-${onExpiry}-${number}`
  const { record, provider } = world
  const path = join(world.folder, name)
  const open = () =>
    openJournal(path, { onUnknown: () => 'charge', onRefused: () => record.count('debts refused for now') })
  let journal: Journal | undefined = onUnavailable === 'allow-with-debt' ? await open() : undefined
  const options = await clientOf(world, name)
  const connect = () =>
    createClient({
      ...options,
      onUnavailable,
      ...(journal === undefined ? {} : { journal }),
      ...(onUnavailable === 'lease' ? { outageLease: { units: 6, ttlSeconds: 4 } } : {}),
    })
  const client = connect()
  let restarted: Client | undefined
  return {
    name,
    kind,
    ...(onUnavailable === 'deny' ? { shares: onExpiry } : {}),
    send: (message, random, type = name) =>
      sendWithTries(world, { name, kind }, message, random, () =>
        ask(client, { ...message, type, onExpiry }, () => provider.send(message, type, random)),
      ),
    isOpen: ({ userId, id }) => client.unsettled().some(one => one.userId === userId && one.id === id),
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

/** A sender that spends from a lease for each user, and closes some and opens others now and then. */
export async function leasingSender(world: World, number: number): Promise<Sender> {
  const name = `leases-${number}`
  const { provider, record } = world
  const client = createClient(await clientOf(world, name))
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
      record.count(`lease: ${error instanceof QuotaError ? error.code : 'unavailable'}`)
      return { granted: false }
    })
    if (!answer.granted) return
    record.count('lease: spent')
    await provider.send(message, name, random, false).catch(error => {
      if (!(error instanceof NotTaken)) return
      lease.giveBack(message.units)
      record.count('lease: given back')
    })
  }

  return {
    name,
    kind: 'leases',
    async send(message, random) {
      record.countsOf('leases').calls += 1
      const leased = leaseOf(message.userId)
      leased.sends += 1
      try {
        await spend(message, leased, random)
      } finally {
        leased.sends -= 1
      }
      if (leased.sends > 0 || !random.percent(5) || open.get(message.userId) !== leased) return
      open.delete(message.userId)
      await close(leased.lease).catch(() => record.count('lease: close failed'))
    },
    async close() {
      for (const { lease } of open.values()) closing.add(lease)
      open.clear()
      for (const lease of closing) await close(lease)
      await client.close()
    },
  }
}
