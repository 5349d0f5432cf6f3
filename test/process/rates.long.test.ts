/**
 * Senders at two services on one database whose prices change again and again, while services and the database are killed: each message keeps
 * the price that it was answered, in every repetition and settlement, and the books agree to the last unit.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { createDeployment } from '../support/chaos/deployment.ts'
import { seededRandom } from '../support/ledger.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const below = (bound: number) => Math.floor(random() * bound)
const deployment = await createDeployment(1)
const { db } = deployment
const ADMIN = '/api/sms/admin'
const SENDER = '/api/sms/sender/quota'
const USERS = 8
const SENDERS = 16
const KILLS = 4
const NUMBERS = ['+4915112345678', '+33612345678', '+77712345678']

/** What senders know of a message. */
interface Sent {
  user_id: number
  id: string
  body: object
  rate: unknown
  segments: number
  /** Its units as last answered. */
  units: number
  committed: number
  refunded: number
}

async function untilAnswered(method: string, path: string, body: object) {
  for (;;) {
    const answer = await deployment.call(below(2), method, path, body)
    if (answer !== undefined && answer.status !== 503) return answer
    await pause(20)
  }
}

async function admin(method: string, path: string, body: object) {
  const { status, body: answer } = await untilAnswered(method, `${ADMIN}${path}`, body)
  expect([200, 201], JSON.stringify(answer)).toContain(status)
  return answer
}

const someLines = () => [
  { per_segment: 100 + below(300), per_message: below(10) },
  { prefix: '49', per_segment: 1 + below(20) },
  { prefix: '491', message_type: 'otp', per_segment: 1 + below(20), per_message: 1 + below(5) },
  { country: 'FR', per_segment: 1 + below(50) },
]

test('each message keeps the price that was answered, while prices change and processes are killed', async () => {
  console.log(`SEED=${seed}`)
  const card = await admin('POST', '/rate-cards', { name: 'Standard', is_default: true, lines: someLines() })
  const own = await admin('POST', '/rate-cards', { name: 'Negotiated', lines: [{ per_segment: 2 }] })
  for (let user_id = 1; user_id <= USERS; user_id++) await admin('POST', '/quota', { user_id, limit: 500_000 })
  const sent: Sent[] = []
  let [isStopped, calls, made] = [false, 0, 0]

  async function send(): Promise<void> {
    const user_id = 1 + below(USERS)
    made += 1
    const id = `m-${made}`
    const message = { to: NUMBERS[below(NUMBERS.length)], text: 'x'.repeat(below(400)) }
    const body = { user_id, id, message, ...(random() < 0.3 ? { message_type: 'otp' } : {}), ttl_seconds: 3_600 }
    const { body: answer } = await untilAnswered('POST', `${SENDER}/reserve`, body)
    calls += 1
    if (!answer.granted) return void expect(answer.reason).toBe('quota_exhausted')
    const { units, rate, segments } = answer
    if (rate !== null) expect(units).toBe(segments * rate.per_segment + rate.per_message)
    const entry: Sent = { user_id, id, body, rate, segments, units, committed: 0, refunded: 0 }
    sent.push(entry)
    for (let step = 0; step < 3; step++) await settle(entry)
  }

  async function settle(entry: Sent): Promise<void> {
    const choice = random()
    const key = { user_id: entry.user_id, id: entry.id }
    const total = entry.rate === null ? 'total_units' : 'total_segments'
    const [op, more] =
      choice < 0.3
        ? ['reserve', entry.body]
        : choice < 0.6
          ? ['commit', { [total]: 1 + below(entry.segments) }]
          : choice < 0.75
            ? ['commit', { [total]: entry.segments + below(3), force: true }]
            : ['refund', { [total]: below(2) }]
    const { status, body: answer } = await untilAnswered('POST', `${SENDER}/${op}`, { ...key, ...more })
    calls += 1
    if (status !== 200) return void expect([409, 422], JSON.stringify(answer)).toContain(status)
    expect([answer.granted ?? true, answer.rate]).toEqual([true, entry.rate])
    const { units, committed, refunded } = answer
    Object.assign(entry, { units, committed, refunded })
  }

  const senders = Array.from({ length: SENDERS }, async () => {
    while (!isStopped) await send()
  })
  const changing = (async () => {
    while (!isStopped) {
      const ahead = random() < 0.3 ? `?valid_from=${new Date(Date.now() + below(800) + 200).toISOString()}` : ''
      const { status } = await untilAnswered('PUT', `${ADMIN}/rate-cards/${card.id}/lines${ahead}`, {
        lines: someLines(),
      })
      // A time that is over when it is read, or too many lists that are to come.
      expect([200, 400, 422]).toContain(status)
      await admin('PUT', `/users/${1 + below(USERS)}/profile`, { rate_card_id: random() < 0.5 ? own.id : null })
      await pause(100)
    }
  })()
  for (let kill = 0; kill < KILLS; kill++) {
    const before = calls
    await expect.poll(() => calls, { timeout: 60_000 }).toBeGreaterThan(before + 100)
    if (kill % 3 === 2) await deployment.killPostmaster()
    else await deployment.killService(kill % 2)
  }
  const before = calls
  await expect.poll(() => calls, { timeout: 60_000 }).toBeGreaterThan(before + 100)
  isStopped = true
  await Promise.all([...senders, changing])

  expect(deployment.serviceErrors).toEqual([])
  expect(new Set(sent.map(({ rate }) => JSON.stringify(rate))).size).toBeGreaterThan(5)
  const rows = await db.query<Pick<Sent, 'user_id' | 'id' | 'units' | 'committed' | 'refunded'>>({
    text: sql`select user_id, id, units, committed, refunded from reservation where id like 'm-%'`,
  })
  const stored = new Map(rows.map(row => [row.id, row]))
  for (const { user_id, id, units, committed, refunded } of sent)
    expect(stored.get(id)).toEqual({ user_id, id, units, committed, refunded })
  expect(stored.size).toBe(sent.length)
  expect((await verify(db)).differences).toEqual([])
}, 300_000)
