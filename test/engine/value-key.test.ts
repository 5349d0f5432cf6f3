/** The key that hashes recipients and tags, replaced while processes run. */
import { expect, test } from 'vitest'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { discardValueKey, provideValueKey } from '../../src/db/webhooks/value-key.ts'
import { createWebhookSecrets } from '../../src/jobs/webhook-secrets.ts'
import { createBench, draw, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const key = (byte: number) => Buffer.alloc(32, byte)

/** A process as it starts with its keys. */
async function start(...[current, ...previous]: readonly number[]) {
  const keys = secretKeys(key(current ?? 0), previous.map(key))
  const valueKey = { bytes: await provideValueKey(db, keys) }
  const engine = bench.engine({ valueKey })
  const job = createWebhookSecrets({ db, keys, valueKey, now: () => clock.now })
  return {
    refresh: () => job.step(new AbortController().signal),
    consume: async (user: number, id: string) =>
      (await engine.submit(draw('consume', user, id, 1, { recipient: '+4915112345678' }))).outcome,
  }
}

async function capped() {
  const user = someone()
  await bench.quota({ user_id: user, limit: 10 })
  await bench.quota({ user_id: user, kind: 'cap', limit: 1, period: 'day', per: 'recipient', counts: 'messages' })
  return user
}

test('a process counts with the key that is stored, also if another took its place since the start', async () => {
  const before = await start(1)
  await discardValueKey(db)
  const after = await start(1)
  await before.refresh()
  const user = await capped()
  expect([await before.consume(user, 'a'), await after.consume(user, 'b')]).toEqual(['granted', 'denied'])
})

test('one that cannot decrypt it sends nothing that it would count, until it can', async () => {
  const [before, another] = [await start(1), await start(2)]
  await before.refresh()
  const [user, other] = [await capped(), someone()]
  await bench.quota({ user_id: other, limit: 10 })
  const [refused, granted] = await Promise.allSettled([before.consume(user, 'a'), before.consume(other, 'a')])
  expect(refused).toMatchObject({ status: 'rejected' })
  expect(granted).toEqual({ status: 'fulfilled', value: 'granted' })
  expect([await another.consume(user, 'a'), await another.consume(user, 'b')]).toEqual(['granted', 'denied'])
  expect(await (await start(1, 2)).consume(user, 'c')).toBe('denied')
})
