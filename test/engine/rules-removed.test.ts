/** Ids that are used again after their reservations were removed, while another process still remembers those. */
import { describe, expect, test } from 'vitest'
import { requestErasure } from '../../src/admin/users/erase-user.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import {
  countersOf,
  createBench,
  draw,
  expectVerified,
  makeLocked,
  settle,
  someone,
  type TestEngine,
  warm,
} from '../support/engine.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'

const bench = await createBench()
const { db, clock } = bench

/** Time passes until no reservation is kept any more. */
async function retire(): Promise<void> {
  clock.now += 35 * DAY_MS
  const retention = createRetention({ db, now: () => clock.now })
  while ((await retention.removeOnce(clock.now)).isBehind);
}

async function erase(user: number): Promise<void> {
  expect(await requestErasure(db, user, true, bench.author())).toMatchObject({ outcome: 'running' })
  await finishErasures(createQuickEraser({ db, engine: bench.engine(), now: () => clock.now, watched: async () => [] }))
}

const send = (engine: TestEngine, user: number, units: number) => engine.submit(draw('consume', user, 'm', units))
const find = (user: number) => ({ op: 'find' as const, user_id: user, id: 'm' })

/** A user with a message of 2 units that the first process remembers and that is removed, and one of 5 units, by the second. */
async function sendTwice(remove: (user: number) => Promise<void>) {
  const user = someone()
  await bench.quota({ user_id: user, period: 'hour' })
  const [first, second] = [bench.engine(), bench.engine()]
  await send(first, user, 2)
  await remove(user)
  const quota = await bench.quota({ user_id: user, period: 'hour', priority: 1 })
  expect(await send(second, user, 5)).toMatchObject({ outcome: 'granted', replayed: false })
  // The first process now knows the quotas as they are; the reservation it knows from before.
  await warm(first, user)
  return { user, quota, first }
}

describe.each([
  ['retention', retire],
  ['an erasure', erase],
])('after %s and the same id at a second process, the first one', (_, remove) => {
  test('answers a repetition, and no conflict', async () => {
    const { user, first } = await sendTwice(remove)
    expect(await send(first, user, 5)).toMatchObject({ outcome: 'granted', replayed: true, reservation: { units: 5 } })
    await expectVerified(db, user)
  })

  test('finds what the second one made', async () => {
    const { user, first } = await sendTwice(remove)
    expect(await first.submit(find(user))).toMatchObject({ outcome: 'found', reservation: { units: 5 } })
  })

  test('refunds that, in its window', async () => {
    const { user, quota, first } = await sendTwice(remove)
    expect(await first.submit(settle('refund', user, 'm'))).toMatchObject({
      outcome: 'settled',
      reservation: { units: 5, refunded: 5 },
    })
    expect(await countersOf(db, quota.id)).toEqual({ used: 0, reserved: 0 })
    await expectVerified(db, user)
  })

  test('refunds that in locked mode, too', async () => {
    const { user, quota, first } = await sendTwice(remove)
    await makeLocked(first, bench)
    expect(await first.submit(settle('refund', user, 'm'))).toMatchObject({ reservation: { units: 5, refunded: 5 } })
    expect(await countersOf(db, quota.id)).toEqual({ used: 0, reserved: 0 })
    await expectVerified(db, user)
  })

  test('finds nothing if the second one made nothing', async () => {
    const user = someone()
    await bench.quota({ user_id: user, period: 'hour' })
    const engine = bench.engine()
    await send(engine, user, 5)
    await remove(user)
    expect(await engine.submit(find(user))).toEqual({ outcome: 'not_found' })
    expect(await engine.submit(settle('refund', user, 'm'))).toEqual({ outcome: 'not_found' })
  })
})

test('quotas that were erased are not drawn on by a process that remembers them', async () => {
  const user = someone()
  const engine = bench.engine()
  await bench.quota({ user_id: user })
  await send(engine, user, 5)
  await erase(user)
  expect(await send(engine, user, 5)).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
  const { id } = await bench.quota({ user_id: user })
  expect(await send(engine, user, 5)).toMatchObject({ outcome: 'granted', replayed: false })
  expect(await countersOf(db, id)).toEqual({ used: 5, reserved: 0 })
})
