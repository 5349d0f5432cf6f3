import { describe, expect, test } from 'vitest'
import { usersByReference } from '../../src/db/users/profiles.ts'
import { createUserReferences } from '../../src/http/references/references.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { START, startService } from '../support/service.ts'

const service = await startService({ env: { AUTH_USER_CLAIM: 'sub', AUTH_USER_REF_CLAIM: 'account' } })
const limited = await startService({ env: { AUTH_USER_REF_CLAIM: 'account' }, rateLimitPerMinute: 1 })
const ME = '/api/sms/me'
const exp = START / 1_000 + 60

describe('a valid token gets its own identity and roles', () => {
  const cases: [string, Record<string, unknown>, object][] = [
    ['a user', { sub: '7' }, { subject: '7', name: null, user_id: 7, user_ref: null, roles: [], adjust_limit: 0 }],
    [
      'a reference that no user has',
      { sub: 'ann', account: 'A-0' },
      { subject: 'ann', user_id: null, user_ref: 'A-0' },
    ],
    ['both', { sub: '7', account: 'A-0' }, { user_id: 7, user_ref: null }],
    [
      'an administrator',
      { sub: '1', name: 'Ann Lee', roles: ['sms-quota:admin'] },
      { subject: '1', name: 'Ann Lee', user_id: 1, roles: ['admin'], adjust_limit: null },
    ],
    ['a name that cannot be shown', { sub: '7', name: 'a\nb' }, { subject: '7', name: null }],
    ['a name with unseen marks', { sub: '7', name: '\u202eeeL\u200b nnA\u200f' }, { subject: '7', name: 'eeL nnA' }],
    [
      'a machine',
      { sub: 'gateway', roles: ['sms-quota:sender'] },
      { subject: 'gateway', user_id: null, roles: ['sender'] },
    ],
    [
      'a token with all roles and an unknown one',
      { sub: '0', roles: 'other sms-quota:sender sms-quota:admin' },
      { subject: '0', user_id: 0, roles: ['admin', 'sender'] },
    ],
    [
      'a token with the further roles',
      { sub: '5', roles: ['sms-quota:force', 'sms-quota:support', 'sms-quota:auditor'] },
      { subject: '5', user_id: 5, roles: ['auditor', 'support', 'force'], adjust_limit: 1_000 },
    ],
    ['a token without a known role', { sub: 'ada', roles: ['other'] }, { subject: 'ada', user_id: null, roles: [] }],
  ]
  test.each(cases)('%s', async (_who, claims, expected) => {
    const token = await service.token({ exp, ...claims })
    const answer = await service.call('GET', ME, { token })
    expect(answer).toMatchObject({ status: 200, body: { ...expected, expires_at: '2026-03-15T12:01:00.000Z' } })
  })
})

describe('a token that names its user by a reference', () => {
  const MINE = '/api/sms/quota/list'
  const put = (user: number, profile: object) =>
    service.call('PUT', `/api/sms/admin/users/${user}/profile`, { body: profile })

  test('opens the paths of the user who has it', async () => {
    for (const user of [20, 21]) {
      await put(user, { ref: `A-${user}` })
      await service.call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: user } })
      const token = await service.token({ sub: 'ann', account: `A-${user}` })
      // The second time this process remembers the token and the reference.
      for (const _ of [1, 2]) {
        expect((await service.call('GET', ME, { token })).body).toMatchObject({ user_id: user, user_ref: `A-${user}` })
        const { body } = await service.call('GET', MINE, { token })
        expect(body.items).toMatchObject([{ user_id: user, limit: user }])
      }
      expect((await service.call('GET', '/api/sms/admin/quota/list', { token })).status).toBe(403)
    }
  })

  test('whose id is another user opens nothing of that one', async () => {
    const strict = await startService({ env: { AUTH_USER_REF_CLAIM: 'sub' } })
    await strict.call('POST', '/api/sms/admin/quota', { body: { user_id: 1042, limit: 5 } })
    await strict.call('PUT', '/api/sms/admin/users/7/profile', { body: { ref: '1042' } })
    const { status, body } = await strict.call('GET', MINE, { token: await strict.userToken(1042) })
    expect([status, body.items]).toEqual([200, []])
    const { body: me } = await strict.call('GET', ME, { token: await strict.userToken(1042) })
    expect(me).toMatchObject({ subject: '1042', user_id: 7, user_ref: '1042' })
  })

  test('is 403 until a user has it, and finds that user at once', async () => {
    const token = await service.token({ sub: 'bea', account: 'B-1' })
    const early = await service.call('GET', MINE, { token })
    const detail = 'This path is for users: no user has the reference in the claim "account" of the token yet.'
    expect(early).toMatchObject({ status: 403, body: { code: 'forbidden', detail } })
    await put(30, { ref: 'B-1' })
    expect(await service.call('GET', MINE, { token })).toMatchObject({ status: 200, body: { items: [] } })
    const none = await service.call('GET', MINE, { token: await service.token({ sub: 'bea' }) })
    expect(none.body.detail).toBe(
      'This path is for users: the token has no user id (a whole number) in its claim "sub" and no reference of a user in its claim "account".',
    )
  })

  test('leads to no other user while it is remembered of one who was erased', async () => {
    const token = await service.token({ sub: 'cleo', account: 'C-1' })
    await put(40, { ref: 'C-1' })
    await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 40, limit: 9 } })
    await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 41, limit: 9 } })
    expect((await service.call('GET', MINE, { token })).body.items).toMatchObject([{ user_id: 40 }])
    await service.call('DELETE', '/api/sms/admin/users/40/data')
    await finishErasures(
      createQuickEraser({
        db: service.db,
        engine: service.engine,
        now: () => service.clock.now,
        watched: async () => [],
      }),
    )
    // The reference is free for another user only when no process remembers it any more.
    expect(await put(41, { ref: 'C-1' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await service.call('GET', MINE, { token })).body.items).toEqual([])
    const afresh = createUserReferences({ read: refs => usersByReference(service.db, refs) })
    expect(await afresh.find('C-1')).toBeNull()
  })
})

describe('refused are', () => {
  test('unknown parameters', async () => {
    expect(await service.call('GET', `${ME}?user_id=7`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  })

  test('calls above the rate limit, also of tokens with a reference', async () => {
    const asks = async () => limited.call('GET', ME, { token: await limited.token({ sub: 'dan', account: 'D-1' }) })
    expect([(await asks()).status, (await asks()).status]).toEqual([200, 429])
    expect((await limited.call('GET', ME)).status).toBe(200)
    expect(await limited.call('GET', ME)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  })
})
