import { expect, test } from 'vitest'
import { SENDER, startSender } from './sender-fixture.ts'

const { ask, allow, call, someone, senderToken, token, userToken } = await startSender()

test('senders and administrators see who made, settled, forced and refunded a reservation; its user does not', async () => {
  const user = someone()
  await allow({ user_id: user, limit: 10 })
  const message = { user_id: user, id: 'm1' }
  const desk = await token({ sub: 'support "desk"', roles: ['sms-quota:sender'] })
  const refunding = { token: desk, body: { ...message, total_units: 2 }, headers: { 'x-request-id': 'ticket-7' } }
  expect((await ask('consume', { ...message, units: 20, force: true })).body).not.toHaveProperty('made_by')
  expect((await call('POST', `${SENDER}/refund`, refunding)).status).toBe(200)

  const authors = { made_by: 'gateway', settled_by: 'support "desk"' }
  const action = { at: '2026-03-15T12:00:00.000Z', request_id: expect.any(String) }
  const actions = [
    { ...action, action: 'force', total_units: 20, by: 'gateway' },
    { ...action, action: 'refund', total_units: 2, by: 'support "desk"', request_id: 'ticket-7' },
  ]
  const path = `reservations/${user}/m1`
  const asSender = await call('GET', `${SENDER}/${path}`, { token: senderToken })
  expect(asSender.body).toMatchObject({ id: 'm1', units: 20, ...authors, actions })
  const asAdmin = await call('GET', `/api/sms/admin/quota/${path}`)
  const changed_at = action.at
  expect(asAdmin.body).toMatchObject({ ...asSender.body, op: 'consume', asked: 20, force: true, changed_at })
  const listed = await call('GET', `/api/sms/admin/quota/reservations?user_id=${user}`)
  expect(listed.body.items).toEqual([expect.objectContaining({ id: 'm1', ...authors })])
  const own = await call('GET', '/api/sms/quota/reservations', { token: await userToken(user) })
  expect(own.body.items).toHaveLength(1)
  const detail = await call('GET', '/api/sms/quota/reservations/m1', { token: await userToken(user) })
  expect(detail.body).toEqual({ ...own.body.items[0], changed_at })
  for (const field of ['made_by', 'settled_by', 'actions']) expect(detail.body).not.toHaveProperty(field)
  const other = await call('GET', '/api/sms/quota/reservations/m1', { token: await userToken(someone()) })
  expect([other.status, other.body.detail]).toEqual([404, 'You have no reservation "m1".'])
})

test('a batch names its sender and its request on each operation', async () => {
  const user = someone()
  const operations = ['a', 'b'].map(id => ({ op: 'consume', user_id: user, id, units: 1, force: true }))
  const headers = { 'x-request-id': 'batch-1' }
  await call('POST', `${SENDER}/batch`, { token: senderToken, body: { operations }, headers })
  for (const id of ['a', 'b']) {
    const { body } = await call('GET', `/api/sms/admin/quota/reservations/${user}/${id}`)
    expect(body).toMatchObject({ made_by: 'gateway', settled_by: 'gateway', actions: [{ request_id: 'batch-1' }] })
  }
})

test('a reservation that is not there is not found; the opening of a quota is', async () => {
  const user = someone()
  const id = await allow({ user_id: user, limit: 10, opening_used: 3 })
  const opening = await call('GET', `/api/sms/admin/quota/reservations/${user}/_opening.${id}`)
  expect([opening.status, opening.body]).toMatchObject([
    200,
    { units: 3, made_by: null, settled_by: null, actions: [] },
  ])
  const missing = await call('GET', `/api/sms/admin/quota/reservations/${user}/m9`)
  expect([missing.status, missing.body.code]).toEqual([404, 'not_found'])
  expect((await call('GET', `/api/sms/admin/quota/reservations/${user}/-`)).status).toBe(400)
})
