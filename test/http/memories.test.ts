/** What processes remember of what may end meanwhile. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { REFERENCE_RESERVED_MS } from '../../src/db/users/profiles.ts'
import { MEMORY_MS, REFERENCE_FORGOTTEN_MS } from '../../src/domain/time/memories.ts'
import { createEraser } from '../../src/jobs/erasure.ts'
import { freshDatabase } from '../support/database.ts'
import { PROJECT } from '../support/paths.ts'
import { startSender } from './sender-fixture.ts'

const ADMIN = '/api/sms/admin'

test('a freed reference is reserved for far longer than a process remembers whose it was', () => {
  expect(REFERENCE_RESERVED_MS).toBeGreaterThan(5 * REFERENCE_FORGOTTEN_MS)
})

describe('a user who is erased under a reference that processes remember', () => {
  let ms = 0
  const monotonicMs = () => ms
  const options = { database: freshDatabase(), env: { AUTO_USERS: 'true' }, monotonicMs }

  test('is brought back by none of them', async () => {
    const [one, other] = [await startSender(options), await startSender(options)]
    const plan = { name: 'Basic', is_default: true, slots: [{ slot: 'monthly', limit: 100, period: 'month' }] }
    await one.call('POST', `${ADMIN}/plans`, { body: plan })
    await one.call('PUT', `${ADMIN}/users/7/profile`, { body: { ref: 'anna', name: 'Anna' } })
    let sent = 0
    const send = (service: typeof one) => service.ask('consume', { user_ref: 'anna', id: `m-${++sent}`, units: 1 })
    for (const service of [one, other]) expect((await send(service)).body).toMatchObject({ granted: true, user_id: 7 })

    await one.call('DELETE', `${ADMIN}/users/7/data`)
    const eraser = createEraser({ ...one, now: () => one.clock.now, monotonicMs, watched: async () => [] })
    const erase = async () => {
      for (;;) {
        const { left } = await eraser.eraseOnce()
        if (left !== 'more' && left !== 'wait') return left
      }
    }
    expect(await erase()).toBe('later')
    // The other process asked the database just before the reference was freed, so it remembers that for nearly the whole time.
    for (const after of [0, MEMORY_MS.userOfReference - 1, REFERENCE_FORGOTTEN_MS - MEMORY_MS.userOfReference]) {
      ms += after
      expect(await erase()).toBe('later')
      const { status, body } = await send(other)
      if (status === 200) expect(body).toMatchObject({ granted: false, reason: 'no_quota' })
      else expect(body.code).toBe('unknown_user')
      expect((await other.call('PUT', `${ADMIN}/users/7/profile`, { body: { name: 'A' } })).body.code).toBe(
        'being_erased',
      )
    }
    // A clock that is ahead ends nothing.
    one.clock.now += 1e12
    expect(await erase()).toBe('later')
    one.clock.now -= 1e12
    ms += 1
    expect(await erase()).toBeNull()
    for (const service of [one, other]) {
      expect((await send(service)).body.code).toBe('unknown_user')
      expect((await service.call('GET', `${ADMIN}/users/7`)).status).toBe(404)
    }
    const { body } = await one.call('GET', `${ADMIN}/users/7/data/erasure`)
    expect(body).toMatchObject({ status: 'finished', removed: { user_profile: 1 } })
  })

  test('ends at once without a profile, by any process, and waits again after a restart', async () => {
    const service = await startSender(options)
    const eraser = () =>
      createEraser({ ...service, now: () => service.clock.now, monotonicMs, watched: async () => [] })
    const statusOf = async (user: number) =>
      (await service.call('GET', `${ADMIN}/users/${user}/data/erasure`)).body.status
    await service.allow({ user_id: 8, limit: 1 })
    await service.call('PUT', `${ADMIN}/users/9/profile`, { body: { ref: 'nina' } })
    for (const user of [8, 9]) await service.call('DELETE', `${ADMIN}/users/${user}/data`)
    const first = eraser()
    while ((await first.eraseOnce()).left !== 'later');
    expect([await statusOf(8), await statusOf(9)]).toEqual(['finished', 'running'])
    ms += REFERENCE_FORGOTTEN_MS - 1
    const second = eraser()
    expect((await second.eraseOnce()).left).toBe('later')
    ms += REFERENCE_FORGOTTEN_MS - 1
    expect((await second.eraseOnce()).left).toBe('later')
    ms += 1
    while ((await second.eraseOnce()).left !== null);
    expect(await statusOf(9)).toBe('finished')
  })
})

/** What ends, what follows from a memory of it, and the test that says so. */
const ENDS: Record<keyof typeof MEMORY_MS, { ends: string; follows: string; file: string; title: string }> = {
  userOfReference: {
    ends: 'an erasure frees the reference',
    follows: 'the erasure holds the user until all have forgotten; the reference is reserved for longer',
    file: 'test/http/memories.test.ts',
    title: 'is brought back by none of them',
  },
  knownUser: {
    ends: 'an erasure makes the user new',
    follows: 'the user gets the default plan up to a minute late',
    file: 'test/admin/default-plan.test.ts',
    title: 'is looked for again after a minute: an erasure may have made the user new',
  },
  newcomer: {
    ends: 'the user gets a quota',
    follows: 'nothing: only users without quotas are asked for',
    file: 'test/admin/default-plan.test.ts',
    title: 'who only checks sees what would be given, for a second',
  },
  defaultPlan: {
    ends: 'the plan is changed or archived',
    follows: 'a check answers by the old one; what is given is read again',
    file: 'test/admin/default-plan.test.ts',
    title: 'that there is no default plan is remembered for a second',
  },
  token: {
    ends: 'its key is withdrawn',
    follows:
      'it is accepted until then. It names no user by what is stored: the user of its reference is asked for each call',
    file: 'test/http/auth-references.test.ts',
    title: 'a token that is remembered leads to no user who does not have its reference any more',
  },
  refusedToken: {
    ends: 'it becomes valid',
    follows: 'nothing: it is asked for again then',
    file: 'test/http/auth-tokens.test.ts',
    title: 'a token that is not valid yet is accepted as soon as it is',
  },
  storedName: {
    ends: 'an erasure removes the name',
    follows: 'histories show the subject until the name is stored again',
    file: 'test/http/name-writer.test.ts',
    title: 'a name is written with the user of its token, also of one that names the user by a reference',
  },
  keys: {
    ends: 'the key server withdraws a key',
    follows: 'its tokens are accepted until then',
    file: 'test/http/auth.test.ts',
    title: 'a withdrawn key stops working, also for tokens in the cache',
  },
  keysOfAbsentServer: {
    ends: 'the key server goes away',
    follows: 'known keys are accepted until then',
    file: 'test/http/auth.test.ts',
    title: 'while the key server is not available, known keys work for an hour',
  },
  identityProvider: {
    ends: 'the provider moves',
    follows: 'the console leads to the old address until then',
    file: 'test/http/auth-provider.test.ts',
    title: 'the document is read once an hour, also by concurrent sign-ins',
  },
  overview: {
    ends: 'what it shows',
    follows: 'it is shown until then',
    file: 'test/http/overview.test.ts',
    title: 'what is read is shared by all callers and kept for a while; a failure is not',
  },
  overviewOfPast: {
    ends: 'nothing: sums of past days name no user',
    follows: 'nothing',
    file: 'test/http/overview.test.ts',
    title: 'sums up today and yesterday by the hour of a time zone, as the report of usage does',
  },
}

describe('of each memory it is known what ends, what follows, and by which test', () => {
  test.each(Object.entries(ENDS))('%s', (_name, { file, title }) => {
    expect(readFileSync(join(PROJECT, file), 'utf8')).toContain(`'${title}'`)
  })
})
