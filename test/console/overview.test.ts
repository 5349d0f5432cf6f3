import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time.ts'
import { expectAccessible, startSite } from '../support/browser.ts'
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
/** Each test has a day of its own, so that none sees what another has sent. */
function goTo(day: number): void {
  clock.now = START + day * DAY_MS
}
const openOverview = (options = {}) => site.visit('/overview', { now: clock.now, ...options })
const HOSTILE = `<script>alert(1)</script> \u202eabc\u202c مرحبا שלום 🎉 ${'w'.repeat(60)}`

test('with nothing there, each part says what comes there', async () => {
  const page = await empty.visit('/overview', { now: START })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
  await panel(page, 'Units used today').getByText('0', { exact: true }).first().waitFor()
  await panel(page, 'Units used today').getByText('None yesterday by 13:15').waitFor()
  await panel(page, 'Denied in the last hour').getByText('0 units, since 12:00').waitFor()
  await panel(page, 'About to run out').getByText('Nobody is about to run out').waitFor()
  await panel(page, 'Top users').getByText('Nothing was sent today').waitFor()
  await panel(page, 'Happening now').getByText('Nothing yet').waitFor()
  await expectAccessible(page)
})

test('what is sent, denied and runs low comes by itself, and agrees with the API', async () => {
  goTo(10)
  const page = await openOverview()
  const today = panel(page, 'Units used today')
  await today.getByText('None yesterday').waitFor()

  const quotaId = await allow({ user_id: 7, limit: 1_000, period: 'month', name: HOSTILE })
  await ask('reserve', { user_id: 7, id: 'one', units: 800 })
  await ask('commit', { user_id: 7, id: 'one' })
  await ask('reserve', { user_id: 7, id: 'two', units: 500 })

  const happening = panel(page, 'Happening now')
  await happening.getByRole('listitem').filter({ hasText: 'reached 80 %: 200 units left' }).waitFor()
  await happening.getByRole('listitem').filter({ hasText: 'made by 1: 1,000 units each month' }).waitFor()
  await happening.getByRole('link', { name: HOSTILE }).first().waitFor()
  const runningOut = panel(page, 'About to run out')
  await runningOut.getByRole('row').filter({ hasText: '800 used · 200 left' }).waitFor()
  await today.getByText('800', { exact: true }).first().waitFor()
  await panel(page, 'Denied in the last hour').getByText('message, 500 units, since 12:00').waitFor()
  await page.getByRole('status').filter({ hasText: '800 units used today' }).waitFor({ state: 'attached' })

  const { body } = await call('GET', '/api/sms/admin/quota/alerts')
  expect(body.items[0]).toMatchObject({ quota: { id: quotaId, used: 800 }, percent: 80 })
  await runningOut.getByRole('link', { name: HOSTILE }).click()
  expect(new URL(page.url()).pathname).toBe(`/console/quotas/${quotaId}`)
  await page.goBack()
  await happening.getByRole('listitem').filter({ hasText: 'reached 80 %: 200 units left' }).waitFor()
})

test('what happened last is there to begin with, and what is new is told apart', async () => {
  goTo(40)
  await allow({ user_id: 21, name: 'Made the day before' })
  goTo(41)
  const page = await openOverview()
  const happening = panel(page, 'Happening now')
  const before = happening.getByRole('listitem').filter({ hasText: 'Made the day before' })
  await before.waitFor()
  expect(await before.locator('time').textContent()).toBe('24 Apr')
  await happening.getByText('Nothing new since 14:00').waitFor()
  await allow({ user_id: 21, name: 'Made today' })
  await happening.getByText('1 new since 14:00').waitFor()
  const today = happening.getByRole('listitem').first()
  await today.filter({ hasText: 'Made today' }).waitFor()
  expect(await today.locator('time').textContent()).toBe('14:00')
})

test('a service that goes away and comes back: the page says so, and misses nothing', async () => {
  goTo(12)
  const page = await openOverview()
  const sign = page.getByRole('status').filter({ hasText: /^(Live|Not live.*)$/ })
  await sign.filter({ hasText: /^Live$/ }).waitFor()
  await page.context().setOffline(true)
  await sign.filter({ hasText: 'Not live: the service is away' }).waitFor()
  await allow({ user_id: 8, name: 'Made meanwhile' })
  await page.context().setOffline(false)
  await sign.filter({ hasText: /^Live$/ }).waitFor()
  await panel(page, 'Happening now').getByRole('link', { name: 'Made meanwhile' }).waitFor()
})

test('today stands beside yesterday, and the top users of seven days have an address', async () => {
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

test.each(['light', 'dark'] as const)('%s: nothing hinders anybody, wide or narrow', async colorScheme => {
  // The day on which the clocks go forward.
  goTo(14)
  await allow({ user_id: 11 })
  await ask('consume', { user_id: 11, id: colorScheme, units: 10 })
  for (const width of [1280, 360]) {
    const page = await openOverview({ colorScheme, viewport: { width, height: 900 } })
    await page
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor()
    const name = `${HOSTILE} ${colorScheme} ${width}`
    await allow({ user_id: 10, name, opening_used: 1_000 })
    const happened = panel(page, 'Happening now').getByRole('listitem').filter({ hasText: name })
    await happened.filter({ hasText: 'used up' }).waitFor()
    await panel(page, 'Top users').getByRole('table').waitFor()
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }
})
