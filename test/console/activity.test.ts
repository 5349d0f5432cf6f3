import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'
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
  await indicator.filter({ hasText: 'Not live: the service is not responding' }).waitFor()
  await allow({ user_id: 8, name: 'Created offline' })
  await page.context().setOffline(false)
  await page.clock.fastForward(RETRY_MS)
  await indicator.filter({ hasText: /^Live$/ }).waitFor()
  await activityOf(page).getByRole('link', { name: 'Created offline' }).waitFor()
})

test('begins again when the database has lost events that it showed', async () => {
  goTo(13)
  await allow({ user_id: 13, name: 'Lost' })
  const page = await openOverview()
  const activity = activityOf(page)
  await activity.getByRole('link', { name: 'Lost' }).waitFor()
  // As after a fail-over: another quota was created under the number of the lost one, a second later.
  await site.db.query({
    text: sql`update event set at = $1, data = jsonb_set(data, '{quota,name}', '"Kept"')
           where data -> 'quota' ->> 'name' = 'Lost'`,
    values: [new Date(clock.now + 1_000).toISOString()],
  })
  await allow({ user_id: 14, name: 'Created afterwards' })
  await activity.getByRole('link', { name: 'Created afterwards' }).waitFor()
  await activity.getByRole('link', { name: 'Kept' }).waitFor()
  await activity.getByRole('link', { name: 'Lost' }).waitFor({ state: 'detached' })
  await activity.getByText('Some events were skipped').waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
})

test('the activity feed starts with the latest events and counts new ones', async () => {
  goTo(40)
  await allow({ user_id: 21, name: 'Created yesterday' })
  goTo(41)
  const page = await openOverview()
  const activity = activityOf(page)
  const before = activity.getByRole('listitem').filter({ hasText: 'Created yesterday' })
  await before.waitFor()
  expect(await before.locator('time').textContent()).toBe('24 Apr')
  await activity.getByText('No new events since 14:00').waitFor()
  await allow({ user_id: 21, name: 'Created today' })
  await activity.getByText('1 new since 14:00').waitFor()
  const today = activity.getByRole('listitem').first()
  await today.filter({ hasText: 'Created today' }).waitFor()
  expect(await today.locator('time').textContent()).toBe('14:00')
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
  await page.getByRole('region', { name: 'Ending this week' }).getByText('No quota ends within 7 days').waitFor()
  // No step of the raise.
  await activity.getByRole('listitem').filter({ hasText: 'Ceiling created by you: 100 units each day' }).waitFor()
  await expectAccessible(activity)
})

test('the activity feed counts what is done to many at once, more than it lists, and says what it was', async () => {
  goTo(400)
  const page = await openOverview()
  const activity = activityOf(page)
  await page.getByText('Live', { exact: true }).waitFor()
  const grant = { limit: 500, expires_at: new Date(clock.now + DAY_MS).toISOString(), metadata: { extends_quota: '1' } }
  const rows = Array.from({ length: 250 }, (_, index) =>
    JSON.stringify({ ...grant, user_id: 5_000 + index, external_ref: 'gift' }),
  )
  const body = `${rows.join('\n')}\n`
  await call('POST', '/api/sms/admin/quota/import', { body, headers: { 'content-type': 'application/x-ndjson' } })
  for (const country of ['NG', 'GH', 'KE']) {
    await allow({ user_id: 5_000, kind: 'cap', limit: 0, countries: [country] })
  }
  await activity.getByText('250 × extra units given by you').waitFor()
  await activity.getByText('3 × block created by you').click()
  await activity.getByText('253 new since').waitFor()
  await activity.getByText('250 × extra units given by you').click()
  await activity.getByText('240 older ones are not listed.').waitFor()
  await activity.getByText(/^Users .* and others$/).waitFor()
  expect(await activity.getByText('Some events were skipped').count()).toBe(0)
  await expectAccessible(activity)

  // What was read stays known on other pages, and the last events are counted by a page that is loaded anew.
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await pages.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
  await page.clock.fastForward(HOUR_MS)
  await pages.getByRole('link', { name: 'Overview' }).click()
  await activity.getByText('250 × extra units given by you').waitFor()
  await page.reload()
  // Of events at the same time, the feed has no order.
  await activity.getByText(/^(197|198|199|200) × extra units given by you$/).waitFor()
  await activity.getByText(/; numbers are of the latest 200, of which 1[0-3] are listed/).waitFor()
})
