/**
 * A commit that waits for a synchronous standby and is canceled: it is durable on the primary and perhaps nowhere else.
 * Uses a server of its own, because the list of standbys is a setting of the server.
 */
import { afterAll, expect, test } from 'vitest'
import { createQuota, createQuotaOnce } from '../../src/admin/quotas/create-quota.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { ownServer } from '../support/database.ts'
import { draw, reserve, START, settle } from '../support/engine.ts'
import { requireStandby, setStandbys, waitingForStandby } from '../support/standby.ts'

const log = { info() {}, warn() {}, error: console.error }
const { url } = await ownServer()
const db = openDatabase({ url })
const engine = createEngine({ url, now: () => START, log })
afterAll(async () => {
  await setStandbys(db, '')
  await engine.close()
  await db.close()
})

const waiting = () => waitingForStandby(db)

test('a command is not answered before the standby confirms its commit', async () => {
  const created = await db.transaction(tx =>
    createQuota(tx, { user_id: 7, limit: 100 }, { now: START, actor: 'ada', requestId: 'test' }),
  )
  expect(created.outcome).toBe('created')
  await requireStandby(db)
  let isAnswered = false
  const answered = engine.submit(reserve(7, 'm1', 5)).finally(() => {
    isAnswered = true
  })
  for (let attempt = 1, last = 0; attempt <= 3; attempt++) {
    // Each attempt finds the command committed, and waits for the standby to confirm that.
    const begun = async () => (await waiting()).some(({ began }) => began > last)
    await expect.poll(begun).toBe(true)
    expect(isAnswered).toBe(false)
    const [session] = await waiting()
    last = session?.began ?? 0
    await db.query({ text: sql`select pg_cancel_backend($1)`, values: [session?.pid ?? 0] })
  }
  await setStandbys(db, '')
  expect(await answered).toMatchObject({ outcome: 'granted', reservation: { units: 5 } })
  expect(await db.query({ text: sql`select reserved from quota` })).toEqual([{ reserved: 5 }])
})

/** Calls that are answered with what an earlier call did, and what makes that effect first. */
const force = draw('consume', 8, 'forced', 5, { force: true })
const author = { now: START, actor: 'ada', requestId: 'test' }
const create = () => createQuotaOnce(db, { user_id: 9, limit: 5 }, author, 'key')
const REPETITIONS: [string, () => Promise<unknown>, (other: Engine) => Promise<unknown>][] = [
  ['a reservation', () => engine.submit(reserve(7, 'm2', 1)), other => other.submit(reserve(7, 'm2', 1))],
  ['a commit', () => engine.submit(settle('commit', 7, 'm2')), other => other.submit(settle('commit', 7, 'm2', 1))],
  ['a look-up', async () => {}, other => other.submit({ op: 'find', user_id: 7, id: 'm2' })],
  ['a forced consume of a user without quotas', () => engine.submit(force), other => other.submit(force)],
  ['a creation with an idempotency key', create, create],
]

test.each(REPETITIONS)(
  'the repetition of %s at another process is not answered before the standby confirms',
  async (_name, first, repeat) => {
    const other = createEngine({ url: url, now: () => START, log })
    await first()
    await requireStandby(db)
    let isAnswered = false
    const answered = repeat(other).finally(() => {
      isAnswered = true
    })
    await expect.poll(async () => isAnswered || (await waiting()).length > 0).toBe(true)
    expect(isAnswered).toBe(false)
    await setStandbys(db, '')
    expect(await answered).toMatchObject({ outcome: expect.stringMatching(/^(granted|settled|found|replayed)$/) })
    await other.close()
  },
)
