/** What the streams that change many have in common: they begin, report progress, stop, and go on with the same key. */
import { afterEach, expect, test, vi } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

const logged: string[] = []
const service = await startService({ onLogLine: line => logged.push(line) })
const QUOTA = '/api/sms/admin/quota'
const COUNT = 300
afterEach(() => vi.restoreAllMocks())

const MONTHLY = { limit: 100, period: 'month' }

/** Users with a monthly grant each, and a plan for them. */
async function prepare(first: number) {
  const users = Array.from({ length: COUNT }, (_, index) => first + index)
  const rows = users.map(user_id => JSON.stringify({ user_id, external_ref: 'M', ...MONTHLY })).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await service.call('POST', `${QUOTA}/import`, { body: rows, headers })).body).toContain('"created":300')
  const plan = { name: `Plan ${first}`, slots: [{ slot: 'monthly', ...MONTHLY }] }
  const { id } = (await service.call('POST', '/api/sms/admin/plans', { body: plan })).body
  return { users, plan: id as number }
}

type Prepared = Awaited<ReturnType<typeof prepare>>
type Counts = Record<string, number>

const STREAMS = [
  {
    what: 'bulk change',
    url: () => `${QUOTA}/bulk`,
    body: ({ users }: Prepared) => ({ select: { user_ids: users }, change: { action: 'suspend' } }),
    doneIn: ({ changed = 0, changed_before = 0 }: Counts) => changed + changed_before,
    has: { limits: [100], enabled: [false] },
  },
  {
    what: 'gift of units',
    url: () => `${QUOTA}/give`,
    body: ({ users }: Prepared) => ({
      users: users.map(user_id => ({ user_id })),
      units: 5,
      period: 'month',
      reason: 'Outage',
    }),
    doneIn: ({ given = 0, given_before = 0 }: Counts) => given + given_before,
    has: { limits: [100, 5] },
  },
  {
    what: 'roll-out of a plan',
    url: ({ plan }: Prepared) => `/api/sms/admin/plans/${plan}/roll-out`,
    body: ({ users }: Prepared) => ({ users }),
    doneIn: ({ changed = 0, unchanged = 0 }: Counts) => changed + unchanged,
    has: { limits: [100, 100] },
  },
]

test.each(STREAMS.map((stream, index) => ({ ...stream, first: (index + 1) * 1_000 })))(
  'a $what reports progress, stops where the database refuses, and goes on with the same key',
  async ({ what, url, body, doneIn, has, first }) => {
    const prepared = await prepare(first)
    const ask = async (): Promise<Counts[]> => {
      const headers = { 'idempotency-key': `many-${first}` }
      const answer = await service.call('POST', url(prepared), { body: body(prepared), headers })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return String(answer.body)
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
    }
    // Each look at this clock is two seconds later.
    let at = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (at += 2_000))
    const alter = (change: ReturnType<typeof sql>) => service.db.query({ text: sql`alter table quota ${change}` })
    await alter(sql`add constraint stops check (user_id <> ${rawSql`${first + COUNT - 1}`}) not valid`)
    const [begin, ...lines] = await ask()
    expect(begin).toEqual({ record: 'begin', bulk_id: expect.stringMatching(/^bulk-/) })
    const stopped = lines.at(-1)
    expect(stopped).toMatchObject({ record: 'stopped', code: 'internal', detail: expect.any(String) })
    const progress = lines.filter(({ record }) => String(record) === 'progress')
    expect(progress.length).toBeGreaterThan(0)
    const { record: _, ...last } = progress.at(-1) ?? {}
    expect(stopped).toMatchObject(last)
    expect(logged.filter(line => line.includes(what)).length).toBeGreaterThan(0)
    await alter(sql`drop constraint stops`)
    const [again, ...rest] = await ask()
    expect(again).toEqual(begin)
    const end = rest.at(-1)
    expect(end).toMatchObject({ record: 'end' })
    const counts = (line: unknown) => {
      const { users, ...others } = line as Counts & { users?: Counts }
      return users ?? others
    }
    expect(doneIn(counts(stopped))).toBeGreaterThan(0)
    expect(doneIn(counts(end))).toBe(COUNT)
    for (const user of [first, first + COUNT - 1]) {
      const { items } = (await service.call('GET', `${QUOTA}/list?user_id=${user}&sort=id`)).body
      const limits = items.map(({ limit }: { limit: number }) => limit)
      const enabled = items.map((item: { enabled: boolean }) => item.enabled)
      expect({ limits, enabled }).toMatchObject({ enabled: limits.map(() => true), ...has })
    }
  },
)

test('after all of this, verify finds no difference', async () => {
  expect((await verify(service.db)).differences).toEqual([])
})
