import { expect, test } from 'vitest'
import { findPlacements } from '../../src/db/cluster/topology.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { rawSql } from '../support/sql.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const problem = { status: 503, code: 'overloaded', detail: expect.stringContaining('of this sender') }

test('a sender that fills its share is refused before its body is read, and another one is served', async () => {
  const { ask, allow, call, token, db } = await startSender({ queueCommands: 8 })
  const polite = await token({ sub: 'polite', roles: ['sms-quota:sender'] })
  const reserve = (id: string, user_id = 7) => ({ user_id, id, units: 1 })
  // Of each lane, because a body is read while any of them has room.
  const users = (await findPlacements(db)).map(({ buckets }) => {
    let user = 7
    while (!buckets.includes(shardOf(user))) user += 1
    return user
  })
  for (const user_id of users) await allow({ user_id, limit: 100 })
  // Administrators' changes of these users are under way, so commands wait.
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  const changing = db.transaction(async tx => {
    for (const table of ['account', 'quota']) {
      const text = rawSql`select from ${table} where shard = $1 and user_id = $2 for update`
      for (const user of users) await tx.query({ text, values: [shardOf(user), user] })
    }
    locked.resolve()
    await unlock.promise
  })
  await locked.promise

  const greedy = await (async () => {
    const waiting = users.flatMap(user => ['a', 'b', 'c', 'd'].map(id => ask('reserve', reserve(id, user))))
    await expect.poll(async () => (await ask('check', 'no JSON')).status).toBe(503)
    return waiting
  })()
  const refused = await ask('reserve', reserve('e'))
  expect([refused.body, refused.headers['retry-after']]).toEqual([expect.objectContaining(problem), '1'])
  expect((await ask('batch', { operations: [] })).body).toMatchObject(problem)
  expect(
    (
      await call('GET', `${SENDER}/reservations/7/a`, {
        token: await token({ sub: 'gateway', roles: ['sms-quota:sender'] }),
      })
    ).body,
  ).toMatchObject(problem)
  const other = Math.max(...users) + 1
  const served = await call('POST', `${SENDER}/check`, { token: polite, body: { user_id: other, units: 1 } })
  expect([served.status, served.body]).toMatchObject([200, { granted: false, reason: 'no_quota' }])

  unlock.resolve()
  await changing
  expect((await Promise.all(greedy)).map(({ status }) => status)).toEqual(users.flatMap(() => [200, 200, 200, 200]))
  expect((await ask('reserve', reserve('e'))).status).toBe(200)
})
