import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { expectAccessible, RETRY_MS, startSite } from '../support/browser.ts'
import { START } from '../support/service.ts'

/** What happens, as the overview shows it live. */

const site = await startSite()
const { call, clock } = site
async function allow(body: object): Promise<number> {
  const answer = await call('POST', '/api/sms/admin/quota', { body: { limit: 1_000, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}
const activityOf = (page: Page) => page.getByRole('region', { name: 'Activity' })
/** Each test is on a later day than the one before: the feed is in the order of time. */
function goTo(day: number): void {
  clock.now = START + day * DAY_MS
}
const openOverview = () => site.visit('/overview', { now: clock.now })

test('shows an outage, and shows the events missed in it afterwards', async () => {
  goTo(12)
  const page = await openOverview()
  const indicator = page.getByRole('status').filter({ hasText: /^(Live|Not live.*)$/ })
  await indicator.filter({ hasText: /^Live$/ }).waitFor()
  await page.context().setOffline(true)
  clock.now += 12_000
  await page.clock.fastForward(12_000)
  await indicator.filter({ hasText: 'Not live: the service is not responding' }).waitFor()
  await allow({ user_id: 8, name: 'Created offline' })
  await page.context().setOffline(false)
  await page.clock.fastForward(RETRY_MS)
  await indicator.filter({ hasText: /^Live$/ }).waitFor()
  await activityOf(page).getByRole('link', { name: 'Created offline' }).waitFor()
})

test('the activity feed says from when and until when a quota allows what it does', async () => {
  goTo(44)
  const cap = { user_id: 22, kind: 'cap', period: 'day', time_zone: 'Europe/Berlin' }
  const [until, later] = ['2026-04-28T22:00:00Z', '2026-05-10T22:00:00Z']
  await allow({ ...cap, name: 'Raised', limit: 800, expires_at: until, metadata: { raised_from: '500' } })
  await allow({ ...cap, name: 'Following', limit: 500, starts_at: until })
  await allow({ user_id: 22, name: 'Extra', limit: 300, expires_at: later, enabled: false })
  const page = await openOverview()
  const activity = activityOf(page)
  const saying = (text: string) => activity.getByRole('listitem').filter({ hasText: text }).last().waitFor()
  await saying('Raised created by you: 800 units until 29 Apr 2026, 00:00, then 500 units each day again')
  await saying('Following created by you: 500 units each day from 29 Apr 2026, 00:00')
  await saying('Extra created by you: 300 units until 11 May 2026, 00:00, suspended')
})

test('the activity feed shows the raise of a cap as one action', async () => {
  goTo(130)
  const cap = { user_id: 23, kind: 'cap', period: 'day', time_zone: 'Europe/Berlin' }
  const until = '2026-07-23T22:00:00Z'
  const id = await allow({ ...cap, name: 'Ceiling', limit: 100 })
  // The steps of the console, from the first to the last.
  const next = await allow({ ...cap, limit: 100, starts_at: until, metadata: { continues_quota: String(id) } })
  const metadata = { raised_from: '100', continued_by: String(next) }
  await call('PUT', `/api/sms/admin/quota/${id}`, { body: { expires_at: until, metadata } })
  await call('POST', `/api/sms/admin/quota/${id}/adjust`, { body: { delta: 400, reason: 'Cap too low' } })
  const page = await openOverview()
  const activity = activityOf(page)
  const raise = activity.getByRole('listitem').first()
  await raise
    .getByText('updated by you: now 500 units until 24 Jul 2026, 00:00, then 100 units each day again')
    .waitFor()
  expect(await activity.getByText('100 units each day from').isVisible()).toBe(false)
  await raise.getByText('and 2 more changes at once').click()
  await raise.getByText('created by you: 100 units each day from 24 Jul 2026, 00:00').waitFor()
  expect(await raise.getByRole('listitem').count()).toBe(2)
  expect(await page.getByRole('region', { name: 'Customers at risk' }).count()).toBe(0)
  // No step of the raise.
  await activity.getByRole('listitem').filter({ hasText: 'Ceiling created by you: 100 units each day' }).waitFor()
  await expectAccessible(activity)
})

test('the activity feed groups what is done to many at once, and shows more on request', async () => {
  goTo(400)
  const grant = { limit: 500, expires_at: new Date(clock.now + DAY_MS).toISOString(), metadata: { extends_quota: '1' } }
  for (let user_id = 5_000; user_id < 5_007; user_id++) await allow({ ...grant, user_id })
  for (const country of ['NG', 'GH', 'KE']) {
    await allow({ user_id: 5_000, kind: 'cap', limit: 0, countries: [country] })
  }
  for (let user_id = 5_000; user_id < 5_008; user_id++)
    await call('POST', '/api/sms/admin/quota', {
      body: { user_id, limit: 1 },
      token: await site.token({ sub: `person-${user_id}`, roles: ['sms-quota:admin'] }),
    })
  const page = await openOverview()
  const activity = activityOf(page)
  await activity
    .getByText(/created by person-500\d: 1 unit$/)
    .first()
    .waitFor()
  expect(await activity.getByRole('listitem').count()).toBe(5)
  await activity.getByRole('button', { name: /^Show all/ }).click()
  await activity.getByText('3 × block created by you').waitFor()
  await activity.getByText('7 × extra units given by you').click()
  await activity.getByText(/^Users .* and 2 more$/).waitFor()
  await expectAccessible(activity)
})
