/** What the outbox tells of quotas that are over, on a real database. */
import { expect, test } from 'vitest'
import { nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import { updateQuota } from '../../src/admin/change-quota.ts'
import { deleteQuota } from '../../src/admin/delete-quota.ts'
import { findExpired } from '../../src/db/expired-quotas.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { createBench, draw, neighbours, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const log = { info() {}, warn() {}, error() {} }
const expiries = createExpiryNotifier({ db, now: () => clock.now, log })
const always = () => true

const typesOf = async (user: number) =>
  (
    await db.query<{ type: string }>({
      text: 'select type from event where user_id = $1 order by number',
      values: [user],
    })
  ).map(({ type }) => type.replace('quota.', ''))

test('an end is told at its time, not before, and once', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000, name: 'trial' })
  clock.now += 999
  expect(await expiries.notifyOnce(clock.now)).toEqual({ told: 0, left: null })
  clock.now += 1
  expect(await expiries.notifyOnce(clock.now)).toEqual({ told: 1, left: null })
  expect(await expiries.notifyOnce(clock.now)).toEqual({ told: 0, left: null })
  expect(await typesOf(user)).toEqual(['created', 'expired'])
  const [event] = await db.query<object>({
    text: `select data, sequence from event where user_id = $1 and type = 'quota.expired'`,
    values: [user],
  })
  expect(event).toMatchObject({ sequence: 2, data: { quota: { id, name: 'trial', status: 'expired' } } })
})

test('one that is revived ends anew', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  await expiries.notifyOnce(clock.now)
  await updateQuota(db, id, { expires_at: clock.now + 1_000 }, bench.author(), always)
  await expiries.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'expired', 'updated'])
  clock.now += 1_000
  await expiries.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'expired', 'updated', 'expired'])
})

test('one that an administrator ends is told by that change, and not again', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user })
  clock.now += 1_000
  await updateQuota(db, id, { expires_at: clock.now }, bench.author(), always)
  await updateQuota(db, id, { name: 'x' }, bench.author(), always)
  await expiries.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'updated', 'expired', 'updated'])
})

test('one that is deleted tells nothing', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  await deleteQuota(db, id, bench.author(), always)
  clock.now += 1_000
  expect(await expiries.notifyOnce(clock.now)).toEqual({ told: 0, left: null })
  expect(await typesOf(user)).toEqual(['created', 'deleted'])
})

test('several processes, over more than a page, beside senders: each end once, sequences without a gap', async () => {
  const users = Array.from({ length: 30 }, () => someone())
  const engine = bench.engine()
  const ending = clock.now + 1_000
  await Promise.all(users.map(user => bench.quota({ user_id: user })))
  for (let n = 0; n < 20; n++) {
    await Promise.all(users.map(user => bench.quota({ user_id: user, limit: 5, expires_at: ending })))
  }
  clock.now += 1_000
  const others = Array.from({ length: 3 }, () => createExpiryNotifier({ db, now: () => clock.now, log }))
  const sending = Promise.all(
    users.flatMap(user => [1, 2, 3].map(n => engine.submit(draw('consume', user, `m${n}`, 1)))),
  )
  const tellAll = async (teller: typeof expiries) => {
    for (let n = 0; n < 200; n++) if ((await teller.notifyOnce(clock.now)).left === null) return
    throw new Error('it is never all told')
  }
  await Promise.all(others.map(tellAll))
  await sending
  for (const user of users) {
    expect((await typesOf(user)).filter(type => type === 'expired')).toHaveLength(20)
  }
  const gaps = await db.query({
    text: `select shard from event group by shard having max(number) <> count(*) union all
      select shard from event group by shard, user_id having max(sequence) <> count(*)`,
  })
  expect(gaps).toEqual([])
}, 20_000)

test('who is held by somebody is told later, and holds up no other', async () => {
  const [held = 0, free = 0] = neighbours(2)
  for (const user of [held, free]) await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const stranger = await bench.stranger()
  await stranger.query(`begin; select 1 from account where user_id = ${held} for update`)
  expect(await expiries.notifyOnce(clock.now)).toEqual({ told: 1, left: 'held' })
  expect(await typesOf(free)).toEqual(['created', 'expired'])
  await stranger.query('rollback')
  expect(await expiries.notifyOnce(clock.now)).toEqual({ told: 1, left: null })
})

test('started, it tells by itself, until it is stopped', async () => {
  const user = someone()
  await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const teller = createExpiryNotifier({ db, now: () => clock.now, log })
  teller.start()
  await expect.poll(() => typesOf(user)).toEqual(['created', 'expired'])
  await teller.stop()
})

test('with nothing to tell it costs the same however many have ended', async () => {
  const sent: Statement[] = []
  await findExpired(
    {
      ...db,
      transaction: work =>
        db.transaction(tx =>
          work({
            query(statement) {
              sent.push(statement)
              return tx.query(statement)
            },
          }),
        ),
    },
    clock.now,
  )
  const last = sent.at(-1)
  if (last === undefined) throw new Error('nothing was sent')
  const { text, values = [] } = last
  const nodes = nodesOf(await db.transaction(tx => planOf(tx, { text, values })))
  const scans = nodes.filter(node => node['Index Name'] !== undefined || node['Relation Name'] !== undefined)
  expect(scans.map(scan => [scan['Index Name'], scan['Actual Rows']])).toEqual([['quota_expiry_not_emitted', 0]])
})
