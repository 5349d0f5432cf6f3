/** A platform on which each route of people has much to read: filled by the API where it can, so that history and events come with it. */
import type { Database } from '../src/db/connection/database.ts'
import { sql } from '../src/db/connection/sql.ts'
import { MAX_QUOTAS_PER_USER } from '../src/domain/basics/bounds.ts'
import { createUsageCompaction } from '../src/jobs/usage-compaction.ts'
import { fillReservations, fillTotals, fillUsage, fillUsageOfAll } from './fill.ts'
import type { ReadSubjects } from './largest-reads.ts'

const USER = 1
const DENIED_USER = 1_000_000
const COUNTRIES = ['DE', 'AT', 'FR', 'IT', 'ES', 'GB', 'US', 'NL', 'PL']
const QUIET = { info() {}, warn() {}, error: console.error }

/** What cannot be made by the API: the past. */
export async function fillPast(db: Database, now: number): Promise<void> {
  await fillReservations(db, 100_000, { first: USER, count: 1 }, now)
  await fillUsage(db, { first: USER, count: 1 }, { days: 1_000, times: 1, grants: 1, countries: COUNTRIES }, now)
  await fillUsageOfAll(db)
  await fillTotals(db, 9, 35, now)
  const job = createUsageCompaction({ db, log: QUIET, now: () => now, timeZone: 'UTC' })
  while ((await job.compactOnce(now)).isBehind);
  await db.query({ text: sql`vacuum (analyze)` })
}

type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

/** @param tokens of an administrator and of a sender */
export async function fillByApi(
  url: string,
  tokens: { admin: string; sender: string },
  now: number,
): Promise<ReadSubjects> {
  const callAs =
    (token: string): Call =>
    async (method, path, body) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        'idempotency-key': crypto.randomUUID(),
      }
      const response = await fetch(`${url}/api/sms${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
      return text === '' ? {} : JSON.parse(text)
    }
  const admin = callAs(tokens.admin)
  const sender = callAs(tokens.sender)
  const times = async (count: number, work: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < count; n += 20)
      await Promise.all(Array.from({ length: Math.min(20, count - n) }, (_, k) => work(n + k)))
  }

  await admin('PUT', `/admin/users/${USER}/profile`, { name: 'The largest', ref: 'largest' })
  const webhook = await admin('POST', '/admin/webhooks', { url: 'https://receiver.invalid/' })
  for (let n = 0; n < 200; n++) await admin('PUT', `/admin/webhooks/${webhook.id}`, { description: `Change ${n}` })
  const quota = await admin('POST', '/admin/quota', {
    user_id: USER,
    limit: 1_000_000,
    period: 'hour',
    overage_limit: 1,
  })
  await times(MAX_QUOTAS_PER_USER - 10, n =>
    admin('POST', '/admin/quota', {
      user_id: USER,
      name: `Grant ${n}`,
      limit: 1_000 + n,
      period: n % 2 === 0 ? 'month' : 'day',
      metadata: { note: 'x'.repeat(200) },
    }),
  )
  for (let n = 0; n < 200; n++) await admin('PUT', `/admin/quota/${quota.id}`, { name: `Change ${n}` })
  await admin('POST', '/admin/quota', { user_id: USER, kind: 'cap', limit: 0, countries: ['FR'] })
  const slots = Array.from({ length: 20 }, (_, n) => ({ slot: `slot-${n}`, limit: 100 + n, countries: COUNTRIES }))
  await times(300, n => admin('POST', '/admin/plans', { name: `Plan ${n}`, slots }))
  const plan = await admin('POST', '/admin/plans', { name: 'Changing', slots })
  for (let n = 0; n < 200; n++) await admin('PUT', `/admin/plans/${plan.id}`, { name: `Changing ${n}` })
  const lines = [
    { per_segment: 1 },
    ...Array.from({ length: 19_999 }, (_, n) => ({ prefix: `${n + 1}`, per_segment: 1 })),
  ]
  const card = await admin('POST', '/admin/rate-cards', { name: 'Large', lines })
  let pause = 0
  await times(500, async n => {
    const made = await admin('POST', '/admin/pauses', { user_id: 1_000 + n, country: 'FR', reason: 'x'.repeat(100) })
    pause = Number(made.id)
  })
  const other = await admin('POST', '/admin/quota', { user_id: 2, limit: 1_000_000 })
  let transfer = 0
  await times(200, async n => {
    const made = await admin('POST', `/admin/quota/${other.id}/transfer`, { to_user_id: 100 + n, units: 1 })
    transfer = Number((made.transfer as { id?: number } | undefined)?.id ?? made.id)
  })
  for (let n = 0; n < 20; n++)
    await sender('POST', '/sender/quota/batch', {
      operations: Array.from({ length: 1_000 }, (_, k) => ({
        ...{
          op: 'consume',
          user_id: k % 10 === 0 ? USER : DENIED_USER,
          id: `d-${n}-${k}`,
          units: 1,
          // Its cap has no room.
          country: 'FR',
        },
      })),
    })
  await sender('POST', '/sender/quota/consume', { user_id: USER, id: 'known', units: 1 })
  const denials = await admin('GET', `/admin/denials?user_id=${USER}&page_size=1`)
  const deliveries = await admin('GET', `/admin/webhooks/${webhook.id}/deliveries?limit=1`)
  const first = (page: Record<string, unknown>, id = 'id') => String((page.items as Record<string, unknown>[])[0]?.[id])
  return {
    now,
    user: USER,
    quota: Number(quota.id),
    plan: Number(plan.id),
    rateCard: Number(card.id),
    webhook: Number(webhook.id),
    delivery: first(deliveries),
    denial: first(denials, 'denial_id'),
    reservation: 'known',
    pause,
    transfer,
  }
}
