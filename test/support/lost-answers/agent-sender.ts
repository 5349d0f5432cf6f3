/** A sender that calls an agent, which runs in this process. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, UnavailableError } from '../../../client/src/main.ts'
import { openJournal } from '../../../client/src/node/journal.ts'
import { type Agent, startAgent } from '../../../src/cli/remote/agent/agent.ts'
import { post } from '../agent.ts'
import { whenDone } from '../cleanup.ts'
import type { Random } from '../fuzz/random.ts'
import { type Message, NotTaken, nameOf } from './message.ts'
import { type Sender, TIMEOUT_MS, type World } from './senders.ts'

/** Leases are for users with many messages. */
const USERS = 2
const TRIES = 4

export async function agentSender(world: World, number: number, has: 'leases' | 'debts' | 'neither'): Promise<Sender> {
  const name = `agent-${has}-${number}`
  const { provider, record, urlOf, token, folder } = world
  const url = await urlOf(name)
  const path = join(folder, name)
  let agent: Agent | undefined = await startAgent({
    service: { url: [url], token },
    place: { host: '127.0.0.1', port: 0 },
    debts: has === 'debts' ? { path, types: 'all', onUnknown: 'charge' } : undefined,
    leases: has === 'leases' ? { types: 'all', units: 8 } : undefined,
    log: line => record.count(`${name}: ${line.slice(0, 60)}`),
    timeoutMs: TIMEOUT_MS,
  })
  const { address } = agent
  whenDone(() => agent?.close())
  /** Messages that were not sent, and that may be charged. */
  const toRefund = new Map<string, Message>()

  /** @returns whether nothing of the message is charged any more */
  async function refund({ userId, id }: Message, to = address): Promise<boolean> {
    const headers = to === address ? {} : { authorization: `Bearer ${token}` }
    const { status } = await post(to, 'refund', { user_id: userId, id }, headers)
    return status === 200 || status === 404 || status === 409
  }

  async function consume({ userId, id, units }: Message, random: Random): Promise<{ debt?: boolean } | undefined> {
    for (let n = 0; n < TRIES; n++) {
      record.countsOf('agent').calls += 1
      const { status, body } = await post(address, 'consume', { user_id: userId, id, units, message_type: name })
      record.count(`agent: ${status}${body.debt ? ' as a debt' : body.lease ? ' from a lease' : ''}`)
      if (status === 200) return body.granted ? body : undefined
      toRefund.set(nameOf({ userId, id }), { userId, id, units })
      await pause(random.integer(400))
    }
    return undefined
  }

  return {
    name,
    kind: 'agent',
    async send({ userId: any, ...rest }, random) {
      const message = { ...rest, userId: 1 + (any % USERS) }
      const granted = await consume(message, random)
      if (granted === undefined) return
      toRefund.delete(nameOf(message))
      try {
        await provider.send(message, name, random, false)
        if (granted.debt) record.addDebt(message)
      } catch (error) {
        if (!(error instanceof NotTaken)) throw error
        if (!(await refund(message))) toRefund.set(nameOf(message), message)
      }
    },
    async close() {
      // A debt that was refused for a while is booked by the next agent at once, and can be refunded then.
      if (has === 'debts') {
        await agent?.close()
        agent = undefined
        await settleDebts(path, url, token)
      }
      for (const [key, message] of toRefund) {
        if (!(await refund(message, has === 'debts' ? url : address)))
          throw new UnavailableError('not refunded', { mayHaveTakenEffect: true })
        toRefund.delete(key)
      }
      await agent?.close()
      agent = undefined
    },
  }
}

/** As the next agent does. */
async function settleDebts(path: string, url: string, token: string): Promise<void> {
  const journal = await openJournal(path, { onUnknown: () => 'charge' })
  createClient({ url, token, journal })
  for (let n = 0; n < 200 && journal.debts().length > 0; n++) await pause(50)
  const left = journal.debts().length
  await journal.close()
  if (left > 0) throw new UnavailableError(`${left} debts are left`, { mayHaveTakenEffect: true })
}
