import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { trip } from '../../src/admin/breaker.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/breaker.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'
import {
  expectAccessible,
  expectAccessibleInEachLayout,
  expectWidestColumn,
  goTo,
  reopen,
  settled,
  startSite,
} from '../support/browser.ts'
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
function onDay(day: number): void {
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
  await panel(page, 'Units used today').getByText('Yesterday until 13:15: 0').waitFor()
  await panel(page, 'Denied in 24 hours').getByText('messages, 0 units').waitFor()
  await panel(page, 'Blocked now').getByText('No user is blocked').waitFor()
  await panel(page, 'Where messages go').getByText('No messages in the last 24 hours').waitFor()
  await panel(page, 'Running out this week').getByText('No user runs out within 7 days').waitFor()
  await panel(page, 'Near their limit').getByText('No quota is near its limit').waitFor()
  await panel(page, 'Ending this week').getByText('No quota ends within 7 days').waitFor()
  expect(await panel(page, 'Failing webhooks').count()).toBe(0)
  expect(await panel(page, 'Codes and pauses').count()).toBe(0)
  await panel(page, 'Top users').getByText('No messages today').waitFor()
  await panel(page, 'Activity').getByText('No events yet').waitFor()
  await expectAccessible(page)
})

test('usage, denials and alerts appear live and match the API', async () => {
  onDay(10)
  const page = await openOverview()
  const today = panel(page, 'Units used today')
  await today.getByText(/^Yesterday until/).waitFor()

  const quotaId = await allow({ user_id: 7, limit: 1_000, period: 'month', name: HOSTILE })
  await ask('reserve', { user_id: 7, id: 'one', units: 800 })
  await ask('commit', { user_id: 7, id: 'one' })
  await ask('reserve', { user_id: 7, id: 'two', units: 500 })

  const activity = panel(page, 'Activity')
  await activity.getByRole('listitem').filter({ hasText: 'reached 80%: 200 units left' }).waitFor()
  await activity.getByRole('listitem').filter({ hasText: 'created by you: 1,000 units each month' }).waitFor()
  await activity.getByRole('link', { name: HOSTILE }).first().waitFor()
  // The page asks for new figures every 3 s.
  await page.clock.fastForward(3_000)
  const near = panel(page, 'Near their limit')
  await near.getByRole('row').filter({ hasText: '800 used · 200 left' }).waitFor()
  await expectWidestColumn(near, 'Quota')
  await today.getByText('800', { exact: true }).first().waitFor()
  const denied = panel(page, 'Denied in 24 hours')
  await denied.getByText('message, 500 units').waitFor()
  expect(await denied.getByRole('link', { name: '1', exact: true }).getAttribute('href')).toBe(
    '/console/messages?state=denied&from=2026-03-24T13%3A00%3A00.000Z',
  )
  expect(await denied.getByRole('link', { name: 'Quota exhausted' }).getAttribute('href')).toBe(
    '/console/messages?state=denied&reason=quota_exhausted&from=2026-03-24T13%3A00%3A00.000Z',
  )
  await panel(page, 'Blocked now').getByRole('row').filter({ hasText: 'User 7' }).getByText('two').waitFor()
  expect(await denied.getByRole('link', { name: 'All denials' }).getAttribute('href')).toBe(
    '/console/messages?state=denied',
  )
  // Screen readers hear new figures every 3 s.
  await page.clock.fastForward(3_000)
  await page.getByRole('status').filter({ hasText: '800 units used today' }).waitFor({ state: 'attached' })

  const { body } = await call('GET', '/api/sms/admin/quota/alerts')
  expect(body.items[0]).toMatchObject({ quota: { id: quotaId, used: 800 }, percent: 80 })
  // A grant near its limit does not stop a user who has other units.
  const canSend = near.getByRole('row').filter({ hasText: HOSTILE }).getByRole('cell').nth(2)
  await expect.poll(() => canSend.textContent()).toBe('200')
  await allow({ user_id: 7, limit: 500, name: 'Extra units', expires_at: '2026-04-01T00:00:00Z' })
  await page.clock.fastForward(20_000)
  await expect.poll(() => canSend.textContent()).toBe('700')
  await near.getByRole('link', { name: HOSTILE }).click()
  await page.waitForURL(`${site.url}/console/quotas/${quotaId}`)
  await page.goBack()
  await activity.getByRole('listitem').filter({ hasText: 'reached 80%: 200 units left' }).waitFor()
})

test('compares today with yesterday, and keeps the period of the top users in the URL', async () => {
  onDay(5)
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
  await panel(page, 'Units used today').getByText('100% more than yesterday until 13:15: 400').waitFor()
  const top = panel(page, 'Top users')
  await top.getByRole('row').filter({ hasText: 'User 12' }).waitFor()
  await top.getByText('7 days').click()
  await top.getByRole('row').nth(1).filter({ hasText: 'User 9' }).getByText('1,000').waitFor()
  expect(new URL(page.url()).search).toBe('?top=week')
  await reopen(page)
  await top.getByRole('row').filter({ hasText: 'User 9' }).waitFor()
  await page.goBack()
  await top.getByRole('row').filter({ hasText: 'User 9' }).waitFor({ state: 'detached' })
})

test('shows what needs a decision, and leads to it', async () => {
  onDay(20)
  const now = clock.now
  const starts_at = '2026-03-01T00:00:00Z'
  await allow({ user_id: 1042, starts_at, alert_at: [] })
  const codes = await allow({ user_id: 4711, name: 'Codes', limit: 10, period: 'day', starts_at })
  const expires_at = new Date(now + 3 * DAY_MS).toISOString()
  await allow({ user_id: 4712, name: 'Trial', starts_at, expires_at })
  await allow({ user_id: 4713, name: 'Gift', starts_at, expires_at, metadata: { extends_quota: '1' } })
  for (const daysBack of [2, 3, 4]) {
    clock.now = now - daysBack * DAY_MS
    await ask('consume', { user_id: 4712, id: `back-${daysBack}`, units: 50, country: 'DE', message_type: 'otp' })
  }
  clock.now = now
  await ask('consume', { user_id: 4712, id: 'today', units: 30, country: 'DE', message_type: 'otp' })
  clock.now = now - 2 * HOUR_MS
  await ask('consume', { user_id: 1042, id: 'fraud-1', units: 140, country: 'NG', message_type: 'otp' })
  clock.now = now
  await ask('consume', { user_id: 1042, id: 'fraud-2', units: 60, country: 'NG', message_type: 'otp' })
  await ask('consume', { user_id: 4711, id: 'code-1', units: 10, country: 'DE', message_type: 'otp' })
  await ask('consume', { user_id: 4711, id: 'code-2', units: 1, country: 'DE', message_type: 'otp' })
  await ask('feedback', { user_id: 4711, id: 'code-1', verified: true })
  const webhook = await call('POST', '/api/sms/admin/webhooks', { body: { url: 'https://receiver.example/' } })
  await site.db.query({ text: sql`update webhook set failing_since = '2026-04-01T12:00:00Z'` })

  const page = await openOverview()
  const blocked = panel(page, 'Blocked now').getByRole('row').filter({ hasText: 'User 4711' })
  await blocked.getByText('Quota exhausted: otp, Germany (DE)').waitFor()
  await blocked.getByRole('link', { name: 'Codes' }).waitFor()
  expect(await blocked.getByRole('link', { name: 'code-2' }).getAttribute('href')).toBe(
    '/console/users/4711/messages/code-2',
  )
  expect(await blocked.getByRole('link', { name: '1', exact: true }).getAttribute('href')).toMatch(
    /^\/console\/users\/4711\/denials\?from=2026-04-04T/,
  )
  await call('POST', `/api/sms/admin/quota/${codes}/adjust`, { body: { delta: 100, reason: 'More codes' } })
  // Every 20 s the page asks whether they can send again.
  await page.clock.fastForward(20_000)
  await blocked.waitFor({ state: 'detached' })
  const again = panel(page, 'Blocked now').getByRole('group')
  await again.getByText('1 user can send again').click()
  await again.getByRole('link', { name: 'User 4711' }).waitFor()
  const ending = panel(page, 'Ending this week')
  await ending.getByRole('row').filter({ hasText: 'Trial' }).getByText('820', { exact: true }).waitFor()
  await expectWidestColumn(ending, 'Quota')
  await ending.getByText('1 extra grant, which was given for its period only.').waitFor()
  expect(await ending.getByRole('row').filter({ hasText: 'Gift' }).count()).toBe(0)
  expect(await ending.getByRole('link', { name: 'All that end' }).getAttribute('href')).toBe(
    '/console/quotas?ends_within=7&status=active&sort=expires_at',
  )
  const failing = panel(page, 'Failing webhooks')
  await failing.getByText('All attempts have failed since 1 Apr 2026, 14:00').waitFor()
  expect(await failing.getByRole('link', { name: 'https://receiver.example/' }).getAttribute('href')).toBe(
    `/console/webhooks/${webhook.body.id}`,
  )
  const activity = panel(page, 'Activity')
  await activity.getByText('3 × grant created by you').click()
  for (const user of ['1042', '4711', '4712']) await activity.getByRole('link', { name: user, exact: true }).waitFor()

  const destinations = panel(page, 'Where messages go')
  // An unusual country comes before all else.
  const top = (await destinations.boundingBox())?.y ?? Number.NaN
  for (const title of ['Blocked now', 'Failing webhooks'])
    expect(top).toBeLessThan((await panel(page, title).boundingBox())?.y ?? Number.NaN)
  const rows = destinations.getByRole('row')
  await rows.nth(1).filter({ hasText: 'Nigeria (NG, +234)New: 60 in the last hour2000' }).waitFor()
  await rows.nth(2).filter({ hasText: 'Germany (DE, +49)' }).getByText('1 of 2').waitFor()
  await expectAccessibleInEachLayout(page)
  await destinations.getByRole('button', { name: 'Who sends to Nigeria (NG, +234)?' }).click()
  const who = page.getByRole('dialog', { name: 'Who sends to Nigeria (NG, +234)?' })
  await who.getByRole('row').filter({ hasText: 'User 1042' }).getByText('200').waitFor()
  expect(await who.getByRole('row').count()).toBe(2)
  const pause = who.getByRole('link', { name: 'Pause Nigeria for user 1042' })
  expect(await pause.getAttribute('href')).toBe('/console/pauses?pause=NG&for=1042')
  await goTo(page, '/quotas/new?kind=cap&limit=0&user_id=1042&countries=NG')
  // The form says what it does.
  await page.getByRole('heading', { level: 1, name: 'Block Nigeria for user 1042' }).waitFor()
  expect(await page.getByRole('group', { name: 'Start from' }).count()).toBe(0)
  await page.getByText('Nigeria (NG, +234)', { exact: true }).waitFor()
  expect(await page.getByLabel('User id').inputValue()).toBe('1042')
  await page.getByText('or ends. Messages to other countries go on.').waitFor()
  // What a block always is cannot be chosen, and why there is one must be said.
  for (const label of ['Kind', 'Limit', 'Resets', 'Alerts']) expect(await page.getByLabel(label).count(), label).toBe(0)
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  await page.getByText('Give a reason, for those who meet the block later.').waitFor()
  await page.locator(':focus').and(page.getByLabel('Reason for the block')).fill('Pumping')
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Block Nigeria', exact: true }).waitFor()
  const cap = new URL(page.url()).pathname
  const checked = await ask('check', { user_id: 1042, units: 1, country: 'NG', message_type: 'otp' })
  expect(checked.body).toMatchObject({ granted: false, reason: 'cap_reached' })
  // Who is blocked there is not offered to be blocked again.
  await goTo(page, '/overview?who=NG')
  const blockedLink = who.getByRole('link', { name: 'Blocked: Nigeria for user 1042' })
  expect(await blockedLink.getAttribute('href')).toBe(cap)
  await page.getByText('Blocked for 1 user', { exact: true }).waitFor()
  expect(await who.getByRole('link', { name: /^(?:Block|Pause) Nigeria / }).count()).toBe(0)
})

test('users who are blocked on purpose stand apart from those who are not', async () => {
  onDay(65)
  await allow({ user_id: 61, alert_at: [] })
  await allow({ user_id: 61, name: 'Pumped codes', kind: 'cap', limit: 0, countries: ['NG'] })
  for (const id of ['ng-1', 'ng-2', 'ng-3']) await ask('consume', { user_id: 61, id, units: 1, country: 'NG' })
  await allow({ user_id: 62, name: 'Trial', limit: 1 })
  await ask('consume', { user_id: 62, id: 'one', units: 1 })
  await ask('consume', { user_id: 62, id: 'two', units: 1 })
  // Blocked on purpose, and without units.
  await allow({ user_id: 63, name: 'Empty', limit: 0 })
  await allow({ user_id: 63, kind: 'cap', limit: 0, countries: ['NG'] })
  await ask('consume', { user_id: 63, id: 'home', units: 1, country: 'DE' })
  await ask('consume', { user_id: 63, id: 'away', units: 1, country: 'NG' })
  const page = await openOverview()
  const blocked = panel(page, 'Blocked now')
  const rows = blocked.getByRole('table', { name: 'Blocked now' }).getByRole('row')
  await rows.filter({ hasText: 'User 62' }).getByText('Quota exhausted').waitFor()
  await rows.filter({ hasText: 'User 63' }).getByText('Quota exhausted: Germany (DE)').waitFor()
  expect(await rows.filter({ hasText: 'User 61' }).count()).toBe(0)
  await blocked.getByText(/users? blocked, by a pause or a cap of 0$/).click()
  const onPurpose = blocked.getByRole('table', { name: 'Blocked on purpose' }).getByRole('row')
  await onPurpose.nth(1).filter({ hasText: 'User 61' }).getByText('Blocked', { exact: true }).waitFor()
  await onPurpose.nth(1).getByText('Other messages can be sent: ').waitFor()
  await onPurpose.nth(1).getByText('Until lifted').waitFor()
  await onPurpose.nth(1).getByRole('link', { name: 'Pumped codes' }).waitFor()
  await expectAccessibleInEachLayout(blocked)

  // One more is not taken for blocked by mistake until the page knows why.
  await allow({ user_id: 64, alert_at: [] })
  await allow({ user_id: 64, kind: 'cap', limit: 0, countries: ['NG'] })
  const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/quota/summary?user_id=64', async route => {
    asked.resolve()
    await known.promise
    await route.continue()
  })
  await ask('consume', { user_id: 64, id: 'blocked', units: 1, country: 'NG' })
  await page.clock.fastForward(3_000)
  await asked.promise
  await settled(page)
  expect(await blocked.getByText('User 64').count()).toBe(0)
  known.resolve()
  await onPurpose.filter({ hasText: 'User 64' }).getByText('Blocked', { exact: true }).waitFor()
  expect(await rows.filter({ hasText: 'User 64' }).count()).toBe(0)
})

test('no user who can send again is shown as blocked, however many there are', async () => {
  onDay(67)
  const users = Array.from({ length: 25 }, (_, index) => 600 + index)
  for (const user_id of users) {
    const quota = await allow({ user_id, limit: 1, alert_at: [] })
    await ask('consume', { user_id, id: 'denied', units: 2 })
    await call('POST', `/api/sms/admin/quota/${quota}/adjust`, { body: { delta: 10, reason: 'More' } })
  }
  const page = await openOverview()
  const blocked = panel(page, 'Blocked now')
  await blocked.getByText('25 users can send again').waitFor()
  expect(
    await blocked
      .getByRole('row')
      .filter({ hasText: /User 6\d\d/ })
      .count(),
  ).toBe(0)
})

test('shows who sends, and marks a sender with far more than usual', async () => {
  onDay(70)
  const user_id = 71
  await allow({ user_id, limit: 10_000, alert_at: [] })
  const askAs = async (sub: string, id: string, units: number) => {
    const token = await site.token({ sub, roles: ['sms-quota:sender'] })
    await call('POST', '/api/sms/sender/quota/consume', { token, body: { user_id, id, units } })
  }
  for (let day = 70; day < 78; day++) {
    onDay(day)
    await askAs('campaigns', `campaigns-${day}`, 100)
    await askAs('codes', `codes-${day}`, day === 77 ? 90 : 10)
  }
  await askAs('codes', 'denied', 50_000)
  const page = await openOverview()
  await panel(page, 'Where messages go').getByText('Sender', { exact: true }).click()
  const rows = panel(page, 'Where messages come from').getByRole('row')
  await rows
    .nth(1)
    .filter({
      hasText: /^codes5.009 times as much as usual: 50,090 in the last hour, 50,000 of them denied50,0901050,000$/,
    })
    .waitFor()
  await rows
    .nth(2)
    .filter({ hasText: /^campaigns1001000$/ })
    .waitFor()
  expect(await rows.getByRole('button').count()).toBe(0)
  await expectAccessibleInEachLayout(panel(page, 'Where messages come from'))

  // Counts of denials lead to them: of a sender, and of messages that named no country.
  await rows.nth(1).getByRole('link', { name: '50,000' }).click()
  const denials = page.getByRole('table', { name: 'Messages' }).getByRole('rowheader')
  await expect.poll(() => denials.allTextContents()).toEqual(['denied'])
  expect(await page.getByLabel('Sender').inputValue()).toBe('codes')
  await page.goBack()
  await panel(page, 'Where messages come from').getByText('Country', { exact: true }).click()
  const unnamed = panel(page, 'Where messages go').getByRole('row').filter({ hasText: 'No country' })
  await unnamed.getByRole('link', { name: '50,000' }).click()
  await page.getByRole('button', { name: 'Remove the filter: No country' }).waitFor()
  await expect.poll(() => denials.allTextContents()).toEqual(['denied'])
})

test('says what is paused, what the breaker only observed, and how many codes were entered, for one request', async () => {
  onDay(70)
  await allow({ user_id: 81, alert_at: [] })
  await call('PUT', '/api/sms/admin/users/81/profile', { body: { name: 'Ann' } })
  await ask('consume', { user_id: 81, id: 'code-81', units: 1, country: 'FR', message_type: 'otp' })
  await ask('consume', { user_id: 81, id: 'code-82', units: 1, country: 'FR', message_type: 'otp' })
  await ask('feedback', { user_id: 81, id: 'code-81', verified: true })
  const codes = [{ start: clock.now - 60_000, end: clock.now, sent: 41, verified: 0 }]
  const evidence = judge(measure(codes, clock.now), { day: 0, quarter: 0 }, DEFAULT_BUDGETS)
  if (evidence === null) throw new Error('41 codes are no reason')
  for (const observed of [true, false]) {
    const found = { user_id: 81, country: observed ? 'LT' : 'LV', message_types: ['otp'], observed, evidence }
    await trip(site.db, found, { now: clock.now, actor: 'sms-quota', requestId: 'breaker' })
  }
  const page = await site.visit('/nowhere', { now: clock.now })
  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  await goTo(page, '/overview')
  const pauses = panel(page, 'Codes and pauses')
  const paused = pauses.getByRole('listitem').filter({ hasText: 'Latvia (LV): Ann (81) until 15:00' })
  await paused.getByText('41 codes in 5 minutes, not entered yet').waitFor()
  await pauses.getByRole('link', { name: '1 observed in 24 hours: only found, and not paused' }).waitFor()
  await pauses.getByRole('listitem').filter({ hasText: 'Lithuania (LT): Ann (81)' }).waitFor()
  await pauses.getByRole('row').filter({ hasText: 'France (FR)' }).getByText('1 of 2').waitFor()
  await expectAccessibleInEachLayout(pauses)
  expect(asked.filter(path => /admin[/](breaker|pauses)/.test(path))).toEqual(['/api/sms/admin/breaker'])
})

test('lists who runs out this week', async () => {
  onDay(50)
  await allow({ user_id: 31, limit: 110, alert_at: [] })
  // After 8 days, 3 units are left, which are used in some 10 minutes.
  await allow({ user_id: 33, limit: 8 * 480 + 3, alert_at: [] })
  // At 8.6 units a day, the average of the last week, 18 of its 920 are used before it ends.
  await allow({ user_id: 34, limit: 1_000, alert_at: [], expires_at: new Date(START + 60 * DAY_MS).toISOString() })
  for (let day = 50; day < 58; day++) {
    onDay(day)
    await ask('consume', { user_id: 33, id: `day-${day}`, units: 480 })
    for (const user_id of [31, 34]) await ask('consume', { user_id, id: `day-${day}`, units: 10 })
  }
  onDay(58)
  const page = await openOverview()
  const list = panel(page, 'Running out this week')
  const row = list.getByRole('row').filter({ hasText: 'User 31' })
  // 30 are left for half of the 7 days, and as many are missing for the other half.
  await row.filter({ hasText: /3030until 19 May$/ }).waitFor()
  await list
    .getByRole('row')
    .nth(1)
    .filter({ hasText: /^User 33Within minutes/ })
    .waitFor()
  await list.getByRole('row').filter({ hasText: 'User 34' }).getByText('Ends with about 902 unused').waitFor()
  await list.getByText('users are checked: all who sent in the last 7 days').waitFor()
  await list.getByText('In the next 7 days, at their daily rate: the average of up to four weeks').waitFor()
})

test('checks on request all users who sent, beyond those who sent most', async () => {
  for (let day = 110; day < 118; day++) {
    onDay(day)
    if (day === 110) await allow({ user_id: 1_100, limit: 12, alert_at: [] })
    await ask('consume', { user_id: 1_100, id: `day-${day}`, units: 1 })
  }
  const users = Array.from({ length: 100 }, (_, index) => 1_000 + index)
  for (const user_id of users) await allow({ user_id, alert_at: [] })
  const operations = users.map(user_id => ({ op: 'consume', user_id, id: 'much', units: 100 }))
  await call('POST', '/api/sms/sender/quota/batch', { token: senderToken, body: { operations } })
  const page = await openOverview()
  const list = panel(page, 'Running out this week')
  await list.getByText('users are checked: the 100 who sent most in the last 7 days').waitFor()
  expect(await list.getByText('User 1100').count()).toBe(0)
  await list.getByRole('button', { name: 'Check all' }).click()
  await list.getByRole('row').filter({ hasText: 'User 1100' }).waitFor()
  await list.getByText('users are checked: all who sent in the last 7 days').waitFor()
  expect(await list.getByRole('button', { name: 'Check all' }).count()).toBe(0)
})

/** Usage that was rolled up: of users from `first` to `last`, a unit each. */
async function addUsage(first: number, last: number, country: string): Promise<void> {
  const ids = Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const at = new Date(clock.now - (clock.now % HOUR_MS) - HOUR_MS).toISOString()
  await site.db.query({
    text: sql`insert into usage select shard, id, $3::timestamptz, null, $4, null, 1, 1, 0, 0, 0, 0
      from unnest($1::smallint[], $2::bigint[]) u (shard, id)`,
    values: [ids.map(shardOf), ids, at, country],
  })
  await site.db.query({
    text: sql`insert into usage_total select 0, 1, $1::timestamptz, $2, $3, $3, 0, 0, 0, 0, null, null, null, null, null, null, 0, 0`,
    values: [at, country, ids.length],
  })
}

test('all users who send to a destination are listed, however little they send, and the block is for them', async () => {
  onDay(240)
  // Those who send most send elsewhere.
  for (let user_id = 301; user_id <= 312; user_id++) {
    await allow({ user_id, alert_at: [] })
    await ask('consume', { user_id, id: 'most', units: 500, country: 'DE' })
  }
  await ask('consume', { user_id: 301, id: 'tonga', units: 20, country: 'TO' })
  for (const user_id of [321, 322]) {
    await allow({ user_id, alert_at: [] })
    await ask('consume', { user_id, id: 'tonga', units: 3, country: 'TO' })
  }
  await allow({ user_id: 322, kind: 'cap', limit: 0, countries: ['TO'] })
  await addUsage(10_001, 10_055, 'TO')
  const page = await site.visit('/overview?who=TO', { now: clock.now })
  const dialog = page.getByRole('dialog', { name: 'Who sends to Tonga (TO, +676)?' })
  await dialog.getByText('All users who sent there in the last 24 hours, or were denied.').waitFor()
  const users = async () =>
    (await dialog.getByRole('rowheader').allTextContents()).map(text => text.replace('User ', ''))
  expect((await users()).slice(0, 4)).toEqual(['301', '321', '322', '10001'])
  await dialog.getByText('1–50 of 58').waitFor()
  await dialog.getByRole('button', { name: 'Next' }).click()
  await dialog.getByText('51–58 of 58').waitFor()
  expect((await users()).at(-1)).toBe('10055')
  await dialog.getByRole('button', { name: 'Pause Tonga for all 58 users…' }).click()
  await dialog.getByText('A pause of Tonga for each of these 58 users').waitFor()
  await dialog.getByRole('button', { name: 'Pause for 58 users' }).click()
  await dialog.getByText('Enter a reason.').waitFor()
  await expectAccessibleInEachLayout(dialog)
  // The answer to the second call is lost, and nothing tells the page what has taken effect.
  let made = 0
  await page.route(/admin\/pauses/, async route => {
    if (route.request().method() === 'POST' && ++made === 1) return route.continue()
    if (made === 2) await route.fetch()
    return route.abort()
  })
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Pumped codes')
  await dialog.getByRole('button', { name: 'Pause for 58 users' }).click()
  await dialog.getByText('Some may have been made. Try again: none is made twice.').waitFor()
  await page.unroute(/admin\/pauses/)
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Artificial traffic')
  await dialog.getByRole('button', { name: 'Pause for 58 users' }).click()
  await dialog.getByText('Tonga is paused for 58 users.').waitFor()
  await dialog.getByRole('link', { name: 'Paused: Tonga for user 10055' }).waitFor()
  const { body: all } = await call('GET', '/api/sms/admin/pauses?country=TO&active=true&page_size=200')
  expect(all.items.toReversed()).toMatchObject(
    [301, 321, 322, ...Array.from({ length: 55 }, (_, index) => 10_001 + index)].map((user_id, index) => {
      // What may have been made is made as it was asked for.
      const reason = index < 2 ? 'Pumped codes' : 'Artificial traffic'
      return { user_id, message_types: null, until: null, reason }
    }),
  )
  const { body } = await ask('check', { user_id: 301, units: 1, country: 'TO' })
  expect(body).toMatchObject({ granted: false, reason: 'destination_paused' })
})

test('of too many users, those who send most to a destination are listed, and how much the others send is said', async () => {
  onDay(250)
  for (const [index, user_id] of [401, 402].entries()) {
    await allow({ user_id, alert_at: [] })
    await ask('consume', { user_id, id: 'fiji', units: 20 + index, country: 'FJ' })
  }
  await addUsage(20_001, 30_000, 'FJ')
  const page = await site.visit('/overview?who=FJ', { now: clock.now })
  const dialog = page.getByRole('dialog', { name: 'Who sends to Fiji (FJ, +679)?' })
  await dialog
    .getByText(
      'The last 24 hours: the 100 users who sent most. Others, who sent 9,902 units together and 1 at most each, and users who were only denied are not shown.',
    )
    .waitFor()
  expect((await dialog.getByRole('rowheader').allTextContents()).slice(0, 2)).toEqual(['User 402', 'User 401'])
  await dialog.getByRole('button', { name: 'Pause Fiji for these 100 users…' }).click()
  await dialog.getByText('To stop all users, also those who have not sent there yet, pause it for all.').waitFor()
})
