/** What observe mode lets through, and what the ledger knows of it afterwards. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { createBench, differences, draw, reserve, settle, someone } from '../support/engine.ts'

const bench = await createBench()
const { db } = bench

/** How a user's reservations were booked. */
const booked = (user: number) =>
  db.query({ text: sql`select id, force, would_deny from reservation where user_id = $1 order by id`, values: [user] })

test('what would have been denied is booked as force, with the reason', async () => {
  const engine = bench.engine({ observe: true })
  const user = someone()
  await bench.quota({ user_id: user, limit: 5 })
  await engine.submit(reserve(user, 'a', 4))
  await engine.submit(reserve(user, 'b', 4))
  await engine.submit(draw('consume', user, 'c', 4, { force: true }))
  await engine.submit(draw('consume', user, 'd', 4))
  expect(await booked(user)).toEqual([
    { id: 'a', force: false, would_deny: null },
    { id: 'b', force: true, would_deny: 'quota_exhausted' },
    { id: 'c', force: true, would_deny: null },
    { id: 'd', force: true, would_deny: 'quota_exhausted' },
  ])
})

test('a repetition gets the would_deny of the first answer, from any process and also after the switch to enforce', async () => {
  const [observing, enforcing] = [bench.engine({ observe: true }), bench.engine()]
  const user = someone()
  await bench.quota({ user_id: user, limit: 5 })
  const command = reserve(user, 'a', 9)
  const first = await observing.submit(command)
  expect(first).toMatchObject({ outcome: 'granted', replayed: false, would_deny: 'quota_exhausted' })
  for (const engine of [observing, bench.engine({ observe: true }), enforcing]) {
    const again = await engine.submit(command)
    expect(again).toMatchObject({ outcome: 'granted', replayed: true, would_deny: 'quota_exhausted' })
  }
  await enforcing.submit(settle('commit', user, 'a'))
  expect(await enforcing.submit(command)).toMatchObject({ replayed: true, would_deny: 'quota_exhausted' })
  expect(await differences(db)).toEqual([])
})
