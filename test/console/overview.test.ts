import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time.ts'
import { expectAccessible, expectAccessibleInEachLayout, RETRY_MS, startSite } from '../support/browser.ts'
import { START } from '../support/service.ts'

const site = await startSite()
const empty = await startSite()
const { call, clock, senderToken } = site
const ask = (op: string, body: object) => call('POST', `/api/sms/sender/quota/${op}`, { token: senderToken, body })
async function allow(body: object): Promise<number> {
  const answer = await call('POST', '/api/sms/admin/quota', { body: { limit: 1_000, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}
const panel = (page: Page, title: string) => page.getByRole('region', { name: title })
/** Each test runs on its own day, so that it does not see usage of other tests. */
function goTo(day: number): void {
  clock.now = START + day * DAY_MS
}
const openOverview = () => site.visit('/overview', { now: clock.now })
const HOSTILE = `<script>alert(1)</script> \u202eabc\u202c مرحبا שלום 🎉 ${'w'.repeat(60)}`

test('each section has an empty state', async () => {
  const page = await empty.visit('/overview', { now: START })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
  await panel(page, 'Units used today').getByText('0', { exact: true }).first().waitFor()
  await panel(page, 'Units used today').getByText('None yesterday by 13:15').waitFor()
  await panel(page, 'Denied in the last hour').getByText('0 units, since 12:00').waitFor()
  await panel(page, 'About to run out').getByText('No quotas are about to run out').waitFor()
  await panel(page, 'Top users').getByText('No messages today').waitFor()
  await panel(page, 'Activity').getByText('No events yet').waitFor()
  await expectAccessible(page)
})

test('usage, denials and alerts appear live and match the API', async () => {
  goTo(10)
  const page = await openOverview()
  const today = panel(page, 'Units used today')
  await today.getByText('None yesterday').waitFor()

  const quotaId = await allow({ user_id: 7, limit: 1_000, period: 'month', name: HOSTILE })
  await ask('reserve', { user_id: 7, id: 'one', units: 800 })
  await ask('commit', { user_id: 7, id: 'one' })
  await ask('reserve', { user_id: 7, id: 'two', units: 500 })

  const activity = panel(page, 'Activity')
  await activity.getByRole('listitem').filter({ hasText: 'reached 80%: 200 units left' }).waitFor()
  await activity.getByRole('listitem').filter({ hasText: 'created by 1: 1,000 units each month' }).waitFor()
  await activity.getByRole('link', { name: HOSTILE }).first().waitFor()
  // The page asks for new figures every 3 s.
  await page.clock.fastForward(3_000)
  const runningOut = panel(page, 'About to run out')
  await runningOut.getByRole('row').filter({ hasText: '800 used · 200 left' }).waitFor()
  await today.getByText('800', { exact: true }).first().waitFor()
  await panel(page, 'Denied in the last hour').getByText('message, 500 units, since 12:00').waitFor()
  const denied = panel(page, 'Denied in the last hour')
  expect(await denied.getByRole('link', { name: 'Quota exhausted' }).getAttribute('href')).toBe(
    '/console/denials?reason=quota_exhausted',
  )
  expect(await denied.getByRole('link', { name: 'All denials' }).getAttribute('href')).toBe('/console/denials')
  // Screen readers hear new figures every 3 s.
  await page.clock.fastForward(3_000)
  await page.getByRole('status').filter({ hasText: '800 units used today' }).waitFor({ state: 'attached' })

  const { body } = await call('GET', '/api/sms/admin/quota/alerts')
  expect(body.items[0]).toMatchObject({ quota: { id: quotaId, used: 800 }, percent: 80 })
  await runningOut.getByRole('link', { name: HOSTILE }).click()
  await page.waitForURL(`${site.url}/console/quotas/${quotaId}`)
  await page.goBack()
  await activity.getByRole('listitem').filter({ hasText: 'reached 80%: 200 units left' }).waitFor()
})

test('the activity feed starts with the latest events and counts new ones', async () => {
  goTo(40)
  await allow({ user_id: 21, name: 'Created yesterday' })
  goTo(41)
  const page = await openOverview()
  const activity = panel(page, 'Activity')
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
  await panel(page, 'Activity').getByRole('link', { name: 'Created offline' }).waitFor()
})

test('begins again when the database has lost events that it showed', async () => {
  goTo(13)
  await allow({ user_id: 13, name: 'Lost' })
  const page = await openOverview()
  const activity = panel(page, 'Activity')
  await activity.getByRole('link', { name: 'Lost' }).waitFor()
  // As after a fail-over: another quota was created under the number of the lost one, a second later.
  await site.db.query({
    text: `update event set at = at + interval '1 s', data = jsonb_set(data, '{quota,name}', '"Kept"')
           where data -> 'quota' ->> 'name' = 'Lost'`,
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

test('compares today with yesterday, and keeps the period of the top users in the URL', async () => {
  goTo(5)
  const now = clock.now
  const starts_at = '2026-03-01T00:00:00Z'
  await allow({ user_id: 9, starts_at, alert_at: [] })
  for (const [daysBack, units] of [
    [1, 400],
    [3, 600],
  ] as const) {
    clock.now = now - daysBack * DAY_MS
    await ask('consume', { user_id: 9, id: `back-${daysBack}`, units })
  }
  clock.now = now
  await allow({ user_id: 12, alert_at: [] })
  await ask('consume', { user_id: 12, id: 'today', units: 800 })
  const page = await openOverview()
  await panel(page, 'Units used today').getByText('100% more than yesterday by 13:15: 400').waitFor()
  const top = panel(page, 'Top users')
  await top.getByRole('row').filter({ hasText: 'User 12' }).waitFor()
  await top.getByText('7 days').click()
  await top.getByRole('row').nth(1).filter({ hasText: 'User 9' }).getByText('1,000').waitFor()
  expect(new URL(page.url()).search).toBe('?top=week')
  await page.reload()
  await top.getByRole('row').filter({ hasText: 'User 9' }).waitFor()
  await page.goBack()
  await top.getByRole('row').filter({ hasText: 'User 9' }).waitFor({ state: 'detached' })
})

test('is accessible and fits 1280 and 360 px', async () => {
  // The day on which daylight saving time starts.
  goTo(14)
  await allow({ user_id: 11 })
  await ask('consume', { user_id: 11, id: 'today', units: 10 })
  const page = await openOverview()
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
  await allow({ user_id: 10, name: HOSTILE, opening_used: 1_000 })
  const event = panel(page, 'Activity').getByRole('listitem').filter({ hasText: HOSTILE })
  await event.filter({ hasText: 'exhausted' }).waitFor()
  await panel(page, 'Top users').getByRole('table').waitFor()
  await expectAccessibleInEachLayout(page)
})
