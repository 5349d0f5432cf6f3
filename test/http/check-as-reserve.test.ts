/** A check answers what a reserve would: in every state of a user, by each way to ask. */
import { describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { SENDER, type SenderService, startSender } from './sender-fixture.ts'

const ADMIN = '/api/sms/admin'
const PER_MINUTE = 40
const SLOTS = [{ slot: 'monthly', limit: 100, period: 'month' }]
/** More messages than the plan and the quotas have room for, and a destination that is paused. */
const MESSAGES = [{ units: 1 }, { units: 1_000 }, { units: 1, country: 'FR' }]

type Names = { user_id: number } | { user_ref: string }
/** Brings a user into a state. */
type State = (service: SenderService, user: number) => Promise<Names>

const admin = async (service: SenderService, method: string, path: string, body?: object) => {
  const answer = await service.call(method, `${ADMIN}/${path}`, body === undefined ? {} : { body })
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}
const refer = async (service: SenderService, user: number): Promise<Names> => {
  await admin(service, 'PUT', `users/${user}/profile`, { ref: `ref-${user}` })
  return { user_ref: `ref-${user}` }
}
const eraserOf = (service: SenderService) =>
  createQuickEraser({ ...service, now: () => service.clock.now, watched: async () => [] })

const STATES: Record<string, State> = {
  'an id that was never seen': async (_service, user_id) => ({ user_id }),
  'a reference that was never seen': async (_service, user) => ({ user_ref: `new-${user}` }),
  'a reference of a user without quotas': refer,
  'a user with a quota': async (service, user_id) => {
    await service.allow({ user_id, limit: 10 })
    return refer(service, user_id)
  },
  'a user whose quota is suspended': async (service, user_id) => {
    await service.allow({ user_id, limit: 10, enabled: false })
    return { user_id }
  },
  'a user whose plan was taken away': async (service, user_id) => {
    const { id } = await admin(service, 'POST', 'plans', { name: `of ${user_id}`, slots: SLOTS })
    await admin(service, 'PUT', `users/${user_id}/plan`, { plan_id: id })
    await admin(service, 'DELETE', `users/${user_id}/plan`)
    return refer(service, user_id)
  },
  'a user who is being erased': async (service, user_id) => {
    await service.allow({ user_id, limit: 10 })
    const names = await refer(service, user_id)
    await admin(service, 'DELETE', `users/${user_id}/data`)
    return names
  },
  'an erased user, by the id': async (service, user_id) => {
    await service.allow({ user_id, limit: 10 })
    await admin(service, 'DELETE', `users/${user_id}/data`)
    await finishErasures(eraserOf(service))
    return { user_id }
  },
  'a reference that an erasure holds': async (service, user_id) => {
    const names = await refer(service, user_id)
    await admin(service, 'DELETE', `users/${user_id}/data`)
    await finishErasures(eraserOf(service))
    return names
  },
}

/** What decides an answer, without what a reservation has and a check has not. */
function verdictOf(status: number, body: Record<string, unknown>) {
  const { code, detail, granted, reason, retry_at, would_deny, units, unfunded, pause } = body
  return { status, code, detail, granted, reason, retry_at, would_deny, units, unfunded, pause }
}

let lastUser = 1_000

async function expectSame(service: SenderService, state: State): Promise<unknown[]> {
  const verdicts: unknown[] = []
  for (const message of MESSAGES) {
    const body = { ...(await state(service, ++lastUser)), ...message }
    const check = await service.ask('check', body)
    const ofAdmin = await service.call('POST', `${ADMIN}/quota/check`, { body: { ...body, explain: false } })
    const batch = await service.ask('batch', { operations: [{ op: 'check', ...body }] })
    const reserve = await service.ask('reserve', { ...body, id: `m-${lastUser}` })
    const expected = verdictOf(reserve.status, reserve.body)
    const [{ status = 0, body: inBatch = {} } = {}] = batch.body.results
    const answers = [
      verdictOf(check.status, check.body),
      verdictOf(ofAdmin.status, ofAdmin.body),
      verdictOf(status, inBatch),
    ]
    expect(answers, JSON.stringify(body)).toEqual([expected, expected, expected])
    verdicts.push(expected)
  }
  return verdicts
}

describe.each([
  { autoUsers: true, hasPlan: true, observe: false },
  { autoUsers: true, hasPlan: true, observe: true },
  { autoUsers: true, hasPlan: false, observe: false },
  { autoUsers: false, hasPlan: true, observe: false },
  { autoUsers: false, hasPlan: false, observe: true },
])('AUTO_USERS $autoUsers, a default plan $hasPlan, observed $observe', async ({ autoUsers, hasPlan, observe }) => {
  const env = { AUTO_USERS: String(autoUsers), DEFAULT_PLAN_USERS_PER_MINUTE: String(PER_MINUTE) }
  const service = await startSender({ database: freshDatabase(), env, observe, monotonicMs: () => 0 })
  if (hasPlan) await admin(service, 'POST', 'plans', { name: 'Basic', is_default: true, slots: SLOTS })
  await admin(service, 'POST', 'pauses', { user_id: null, country: 'FR', reason: 'a test' })

  test.each(Object.entries(STATES))('%s', async (_name, state) => {
    await expectSame(service, state)
  })

  test('when no more users may be made', async () => {
    for (let n = 0; n < 2 * PER_MINUTE; n++)
      await service.ask('consume', {
        ...(n % 2 === 0 ? { user_ref: `x-${n}` } : { user_id: 9_000 + n }),
        id: 'm',
        units: 1,
      })
    for (const name of ['an id that was never seen', 'a reference that was never seen']) {
      const state = STATES[name]
      if (state === undefined) throw new Error(name)
      await expectSame(service, state)
    }
  })
})

test('the advice for a reference of no user fits the setting and what holds it', async () => {
  const database = freshDatabase()
  const [off, on] = [await startSender({ database }), await startSender({ database, env: { AUTO_USERS: 'true' } })]
  const held = await (STATES['a reference that an erasure holds'] as State)(off, ++lastUser)
  const detailOf = async (service: SenderService, names: Names, op: string) =>
    (await service.ask(op, { ...names, id: 'm', ...(op === 'commit' ? {} : { units: 1 }) })).body.detail
  expect(await detailOf(off, { user_ref: 'ann' }, 'reserve')).toContain('With AUTO_USERS=true')
  expect(await detailOf(on, { user_ref: 'ann' }, 'commit')).not.toContain('AUTO_USERS=true')
  for (const service of [off, on]) {
    const detail = await detailOf(service, held, 'reserve')
    expect(detail).toContain('erased')
    expect(detail).not.toContain('AUTO_USERS=true')
  }
})

describe('in a batch, without room for further users', async () => {
  const env = { AUTO_USERS: 'true', DEFAULT_PLAN_USERS_PER_MINUTE: '1' }
  const service = await startSender({ env, monotonicMs: () => 0 })
  await service.ask('consume', { user_ref: 'first', id: 'm', units: 1 })

  test.each([
    ['check', { units: 1 }],
    ['reserve', { id: 'a', units: 1 }],
    ['consume', { id: 'b', units: 1 }],
    ['commit', { id: 'a' }],
    ['release', { id: 'a' }],
    ['refund', { id: 'a' }],
    ['feedback', { id: 'a' }],
  ])('%s is answered as alone', async (op, fields) => {
    const body = { user_ref: `more-${op}`, ...fields }
    const alone = await service.call('POST', `${SENDER}/${op}`, { token: service.senderToken, body })
    const consume = { op: 'consume', user_ref: body.user_ref, id: 'c', units: 1 }
    const { results } = (await service.ask('batch', { operations: [{ op, ...body }, consume] })).body
    const { request_id: _one, ...expected } = alone.body
    const { request_id: _other, ...found } = results[0].body
    expect([results[0].status, found]).toEqual([alone.status, expected])
    expect(results[1]).toMatchObject({ status: 200, body: { granted: false, reason: 'no_quota' } })
  })
})

test('a user whose id stands at the beginning of the service’s own is one like others', async () => {
  const service = await startSender({ env: { AUTO_USERS: 'true' } })
  const user_id = 2 ** 40
  await service.allow({ user_id, limit: 5 })
  const check = await service.ask('check', { user_ref: 'unknown', units: 1 })
  expect(check.body).toMatchObject({ granted: false, reason: 'no_quota', user_ref: 'unknown' })
  await admin(service, 'PUT', `users/${user_id}/profile`, { ref: 'known' })
  expect((await service.ask('check', { user_ref: 'known', units: 1 })).body).toMatchObject({ granted: true, user_id })
})
