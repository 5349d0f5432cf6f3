/** A process that sends messages, and asks for each whether it may: by the client library, by calls of its own, or in Redis. */
import { createClient } from '../client/src/main.ts'
import { redisLimiter } from './peers/limiters.ts'
import { serveParent } from './servers/worker.ts'

export type Way = 'single' | 'agent' | 'coalesced' | 'leases' | 'redis' | 'spends'

export interface SendingJob {
  way: Way
  /** For `spends`: of one lease, a unit each. Otherwise messages of `USERS` users, `AT_A_TIME` in flight. */
  messages: number
  /** Where the service or the agent is, or the socket of Redis. */
  target: string
  token: string
  /** No two jobs have the same. */
  prefix: string
}

export const AT_A_TIME = 256
const USERS = 100
const SLICE = 500
const LARGE_SLICE = 1_000_000

/** Takes the units of a message; resolves to whether it may be sent. */
type Ask = (userId: number, id: string) => Promise<boolean>

// Answers messages per second.
serveParent((job: SendingJob) => (job.way === 'spends' ? spend(job) : send(job)))

async function send({ way, messages, target, token, prefix }: SendingJob): Promise<number> {
  const client = createClient({ url: target, token })
  const users = Array.from({ length: USERS }, (_, index) => index + 1)
  const leases = new Map(users.map(userId => [userId, client.lease({ userId, units: SLICE })]))
  const consumeInRedis = way === 'redis' ? await redisLimiter(target) : undefined
  const ways: Record<Exclude<Way, 'spends'>, Ask> = {
    single: (userId, id) => call(target, token, userId, id),
    agent: (userId, id) => call(target, token, userId, id),
    coalesced: async (userId, id) => (await client.consume({ userId, id, units: 1 })).granted,
    leases: async userId => (await leases.get(userId)?.spend())?.granted === true,
    redis: async (userId, id) => (await consumeInRedis?.(userId, id, 1))?.granted === true,
  }
  const ask = ways[way as keyof typeof ways]
  let next = 0
  const began = performance.now()
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let number = next++; number < messages; number = next++) {
        const granted = await ask(users[number % USERS] ?? 1, `${prefix}${number}`)
        if (!granted) throw new Error('a message was denied')
      }
    }),
  )
  await Promise.all([...leases.values()].map(lease => lease.close()))
  return messages / ((performance.now() - began) / 1_000)
}

async function call(url: string, token: string, userId: number, id: string): Promise<boolean> {
  const response = await fetch(`${url}/api/sms/sender/quota/consume`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: userId, id, units: 1 }),
  })
  const { granted } = (await response.json()) as { granted: boolean }
  return granted
}

async function spend({ messages, target, token }: SendingJob): Promise<number> {
  const lease = createClient({ url: target, token }).lease({ userId: 1, units: LARGE_SLICE })
  const began = performance.now()
  for (let spent = 0; spent < messages; spent += 1) {
    if (lease.trySpend()) continue
    const { granted } = await lease.spend()
    if (!granted) throw new Error('the quota is exhausted')
  }
  await lease.close()
  return messages / ((performance.now() - began) / 1_000)
}
