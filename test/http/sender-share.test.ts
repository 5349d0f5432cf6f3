import { expect, test } from 'vitest'
import { shardOf } from '../../src/domain/shard.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const problem = { status: 503, code: 'overloaded', detail: expect.stringContaining('of this sender') }

test('a sender that fills its share is refused before its body is read, and another one is served', async () => {
  const { ask, allow, call, token, db } = await startSender({ queueCommands: 8 })
  const polite = await token({ sub: 'polite', roles: ['sms-quota:sender'] })
  const reserve = (id: string) => ({ user_id: 7, id, units: 1 })
  await allow({ user_id: 7, limit: 100 })
  // An administrator's change of this user is under way, so commands wait.
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  const changing = db.transaction(async tx => {
    await tx.query({ text: 'select from account where shard = $1 and user_id = 7 for update', values: [shardOf(7)] })
    await tx.query({ text: 'select from quota where shard = $1 and user_id = 7 for update', values: [shardOf(7)] })
    locked.resolve()
    await unlock.promise
  })
  await locked.promise

  const greedy = await (async () => {
    const waiting = ['a', 'b', 'c', 'd'].map(id => ask('reserve', reserve(id)))
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
  const served = await call('POST', `${SENDER}/check`, { token: polite, body: { user_id: 8, units: 1 } })
  expect([served.status, served.body]).toMatchObject([200, { granted: false, reason: 'no_quota' }])

  unlock.resolve()
  await changing
  expect((await Promise.all(greedy)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await ask('reserve', reserve('e'))).status).toBe(200)
})
