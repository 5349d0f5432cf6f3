/** The event feed and webhooks across fail-overs of the database. `failover.long.test.ts` has those that come between two steps. */
import { expect, test } from 'vitest'
import { type Claim, claimDeliveries } from '../../src/db/webhooks/deliveries.ts'
import { fanOut } from '../../src/db/webhooks/fan-out.ts'
import { settleDeliveries } from '../../src/events/settle-delivery.ts'
import { createReceiver } from '../support/receiver.ts'
import { LOST, page, startFailoverService } from './failover-fixture.ts'

const { server, call, clock, db, webhooks, read, latest, emit, createHook, dispatch, failOver, reachable } =
  await startFailoverService()

test('a cursor that passed lost events answers 410, also when their numbers are used again', async () => {
  await emit(7)
  const kept = await latest()
  await server.disconnectStandby()
  await emit(7)
  const passed = (await read(`after=${kept}`)).body.next
  expect(passed).toBe(await latest())
  await failOver()
  expect(await read(`after=${kept}`)).toMatchObject(page())
  expect(await read(`after=${passed}`)).toMatchObject(LOST)
  // The administrator creates the lost quota again: the same number, type, user and sequence.
  const again = await emit(7)
  expect(await read(`after=${passed}`)).toMatchObject(LOST)
  expect(await read(`after=${kept}`)).toMatchObject(page(again))
})

test('a webhook receives an event that has the number of a lost one', async () => {
  const receiver = await createReceiver()
  await createHook(receiver.url)
  await server.disconnectStandby()
  await emit(12)
  await dispatch(webhooks)
  await failOver()
  await emit(12)
  await dispatch(webhooks)
  const [lost, again] = receiver.deliveries.map(({ body }) => JSON.parse(body))
  // Numbers, ids and sequences are used again: only the time differs.
  expect(new Set(receiver.received).size).toBe(1)
  expect(again).toMatchObject({ type: 'quota.created', data: { user_id: 12, sequence: lost.data.sequence } })
  expect(Date.parse(again.timestamp)).toBe(clock.now)
  expect(Date.parse(lost.timestamp)).toBeLessThan(clock.now)
})

test('the outcome of an attempt at a lost event does not count for the event that has its number', async () => {
  const id = await createHook('https://example.com/hook')
  await server.disconnectStandby()
  const claim = async () => {
    await emit(14)
    await fanOut(db, id, clock.now)
    const [claimed, ...others] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
    if (claimed === undefined || others.length > 0) throw new Error('one delivery was expected')
    return claimed
  }
  const lost = await claim()
  await failOver()
  const again = await claim()
  const attempt = { delivered: true, response_code: 204, error: null }
  const settle = (claim: Claim) => settleDeliveries(db, id, [{ claim, attempt, event: 'sent' }], clock.now, Math.random)
  expect(await settle(lost)).toEqual(['stale'])
  expect(await settle(again)).toEqual(['delivered'])
})

test('a standby that took over and only reads refuses changes as unavailable', async () => {
  const quota = await emit(20)
  await server.replaceByStandby()
  await expect.poll(reachable).toBe(true)
  const unavailable = { status: 503, body: { code: 'unavailable' } }
  const path = `/api/sms/admin/quota/${quota}`
  expect(await call('POST', '/api/sms/admin/quota', { body: { user_id: 20, limit: 1 } })).toMatchObject(unavailable)
  expect(await call('PUT', path, { body: { limit: 11 } })).toMatchObject(unavailable)
  expect(await call('DELETE', path)).toMatchObject(unavailable)
  await server.promote()
  await expect.poll(async () => (await call('DELETE', path)).status).toBe(204)
})
