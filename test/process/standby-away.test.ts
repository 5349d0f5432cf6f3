/**
 * A synchronous standby that is away for longer than the service waits for an answer. The server's processes go on
 * waiting for it after the service has given up on them: no timeout and no closed connection ends them. That they do not pile up
 * is tested by `standby-away.long.test.ts`. Uses a server of its own, because the list of standbys is a setting of the server.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { updateQuota } from '../../src/admin/quotas/change-quota.ts'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { createWebhook, deleteWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { ConnectionLost, type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { createWebhookRetention } from '../../src/jobs/webhook-retention.ts'
import { ownServer } from '../support/database.ts'
import { START } from '../support/engine.ts'
import { createReceiver } from '../support/receiver.ts'
import { PLAIN, SOME_SECRET } from '../support/secrets.ts'
import { requireStandby, setStandbys, waitingForStandby } from '../support/standby.ts'

const log = { info() {}, warn() {}, error: console.error }
const { url: adminUrl, serviceUrl: url } = await ownServer()
const db = openDatabase({ url: adminUrl })

const pool = openDatabase({ url, maxConnections: 3 })
afterEach(() => setStandbys(db, ''))
afterAll(() => Promise.all([pool.close(), db.close()]))

const waiting = () => waitingForStandby(db)

/** Cuts the wait of a commit short: it is visible from then on, and no standby has it. */
async function cutWaitShort(): Promise<void> {
  await expect.poll(async () => (await waiting()).length).toBe(1)
  for (const { pid } of await waiting()) await db.query({ text: sql`select pg_cancel_backend($1)`, values: [pid] })
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const author = { now: START, actor: 'ada', requestId: 'test' }
const create = (on: Database, user: number) =>
  on.transaction(tx => createQuota(tx, { user_id: user, limit: 1_000 }, author))

describe('a commit whose wait was cut short', () => {
  test('is no success, also if it is a single statement', async () => {
    const webhook = await createWebhook(db, { url: 'http://127.0.0.1:1' }, SOME_SECRET, author)
    await requireStandby(db)
    const failure = failureOf(deleteWebhook(pool, webhook?.id ?? 0, author))
    await cutWaitShort()
    expect(await failure).toBeInstanceOf(ConnectionLost)
    await setStandbys(db, '')
    expect(await deleteWebhook(pool, webhook?.id ?? 0, author)).toBe(false)
  })

  const any = () => true
  const ANSWERS: [string, (id: number) => Promise<{ outcome: string }>, string][] = [
    ['an update that changes nothing any more', id => updateQuota(pool, id, { limit: 7 }, author, any), 'unchanged'],
    ['a deletion that finds nothing any more', id => deleteQuota(pool, id, author, any), 'not_found'],
  ]

  test.each([
    ['marked', async () => {}],
    [
      'removed with its row',
      async () => void (await createWebhookRetention({ db, now: () => START }).removeOnce(START)),
    ],
  ])('is reported by the 404 of a webhook that is %s only when the standby has it', async (_name, removeRow) => {
    const webhook = await createWebhook(db, { url: 'http://127.0.0.1:1' }, SOME_SECRET, author)
    const id = webhook?.id ?? 0
    await requireStandby(db)
    const first = failureOf(deleteWebhook(pool, id, author))
    await cutWaitShort()
    expect(await first).toBeInstanceOf(ConnectionLost)
    await setStandbys(db, '')
    await removeRow()
    await requireStandby(db)
    let isAnswered = false
    const second = deleteWebhook(pool, id, author).finally(() => {
      isAnswered = true
    })
    await expect.poll(async () => isAnswered || (await waiting()).length > 0).toBe(true)
    expect(isAnswered).toBe(false)
    await setStandbys(db, '')
    expect(await second).toBe(false)
  })

  test.each(ANSWERS)('is reported by %s only when the standby has it', async (_name, call, outcome) => {
    const created = await create(db, 4_000)
    if (created.outcome !== 'created') throw new Error('no quota')
    await requireStandby(db)
    const first = failureOf(call(created.quota.id))
    await cutWaitShort()
    expect(await first).toBeInstanceOf(ConnectionLost)
    let isAnswered = false
    const second = call(created.quota.id).finally(() => {
      isAnswered = true
    })
    await expect.poll(async () => isAnswered || (await waiting()).length > 0).toBe(true)
    expect(isAnswered).toBe(false)
    await setStandbys(db, '')
    expect(await second).toMatchObject({ outcome })
  })

  test('is sent to no webhook before the standby has it', async () => {
    const receiver = await createReceiver()
    await createWebhook(db, { url: receiver.url, types: ['quota.created'] }, SOME_SECRET, author)
    let now = START
    const dispatcher = createDispatcher({ keys: PLAIN, db: pool, now: () => now, log, allowPrivate: true })
    await requireStandby(db)
    // The event, its delivery, and the claim of that delivery: each is committed, and none is confirmed.
    for (const commit of [() => create(pool, 3_000), () => dispatcher.dispatchOnce(now)]) {
      const failure = failureOf(commit())
      await cutWaitShort()
      expect(await failure).toBeInstanceOf(ConnectionLost)
    }
    await dispatcher.dispatchOnce(now)
    await cutWaitShort()
    await dispatcher.idle()
    expect(receiver.deliveries).toEqual([])

    await setStandbys(db, '')
    now += 30_000
    await dispatcher.dispatchOnce(now)
    await dispatcher.idle()
    expect(receiver.received).toHaveLength(1)
  })
})
