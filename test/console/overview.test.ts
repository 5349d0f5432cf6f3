import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { trip } from '../../src/admin/pauses/breaker.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/pauses/breaker.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { expectAccessible, expectAccessibleInEachLayout, goTo, reopen, startSite } from '../support/browser.ts'
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

/** How much the layout has shifted by itself since the page was loaded; 0.1 is what people begin to notice. */
const SHIFTS = `new Promise(resolve => {
  let sum = 0
  const observer = new PerformanceObserver(list => {
    for (const { value, hadRecentInput } of list.getEntries()) sum += hadRecentInput ? 0 : value
  })
  observer.observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum))
})`

test('an empty platform is well, in one line, by one request, and nothing moves', async () => {
  const page = await empty.visit('/overview', { now: START, load: true })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()
  await panel(page, 'Is all well?').getByText('All is well, at 13:00').waitFor()
  const today = panel(page, 'Units used today')
  await today.getByText('0', { exact: true }).first().waitFor()
  await today.getByText('Yesterday until 13:15: 0').waitFor()
  for (const title of ['Needs a decision', 'Customers at risk', 'Activity'])
    expect(await panel(page, title).count(), title).toBe(0)
  expect(await page.evaluate<number>(SHIFTS)).toBeLessThan(0.05)

  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  empty.clock.now += 12_000
  await page.clock.fastForward(12_000)
  await expect.poll(() => asked).toEqual(['/api/sms/admin/overview'])
  await page.getByText('Where messages go, and who sends most').click()
  await panel(page, 'Where messages go').getByText('No messages in the last 24 hours').waitFor()
  await panel(page, 'Top users').getByText('No messages in this period').waitFor()
  await expectAccessible(page)
})

/** Makes the figures of customers, as a job does. */
async function renewFigures(): Promise<void> {
  await createUsageRollup({ db: site.db, log: console }).rollUpOnce()
  while ((await createCustomerFigures({ db: site.db, now: () => clock.now }).renewOnce(clock.now)).isBehind);
}

/** The page asks for new figures every 12 s, and the service keeps them for less. */
async function later(page: Page): Promise<void> {
  clock.now += 12_000
  await page.clock.fastForward(12_000)
}

test('usage, denials and alerts appear live and match the API', async () => {
  onDay(10)
  const page = await openOverview()
  const today = panel(page, 'Units used today')
  await today.getByText(/^Yesterday until/).waitFor()

  const quotaId = await allow({ user_id: 7, limit: 1_000, period: 'month', name: HOSTILE })
  await ask('reserve', { user_id: 7, id: 'one', units: 800 })
  await ask('commit', { user_id: 7, id: 'one' })
  await renewFigures()
  await later(page)
  const risk = panel(page, 'Customers at risk').getByRole('listitem').filter({ hasText: 'User 7' })
  await risk.getByText('80% used, period ends 1 Apr').waitFor()
  await risk.getByText('User 7 · 200 now').waitFor()
  await panel(page, 'Is all well?').getByRole('link', { name: '1 customer near the limit' }).waitFor()
  const activity = panel(page, 'Activity')
  await activity.getByRole('listitem').filter({ hasText: 'reached 80%: 200 units left' }).waitFor()
  await activity.getByRole('listitem').filter({ hasText: 'created by you: 1,000 units each month' }).waitFor()
  await activity.getByRole('link', { name: HOSTILE }).first().waitFor()
  await today.getByText('800', { exact: true }).first().waitFor()

  await ask('reserve', { user_id: 7, id: 'two', units: 500 })
  await later(page)
  const denied = today.getByRole('definition').filter({ hasText: /^1$/ }).getByRole('link')
  expect(await denied.first().getAttribute('href')).toBe(
    '/console/messages?state=denied&from=2026-03-24T23%3A00%3A00.000Z',
  )
  expect(await denied.nth(1).getAttribute('href')).toBe(
    '/console/messages?state=denied&reason=quota_exhausted&from=2026-03-24T23%3A00%3A00.000Z',
  )
  // Screen readers hear new figures every 3 s, and the figures of each hour as the keys choose it.
  await page.clock.fastForward(3_000)
  await page.getByRole('status').filter({ hasText: '800 units used today' }).waitFor({ state: 'attached' })
  const chart = today.getByRole('slider', { name: 'Units by the hour, today and yesterday' })
  const said = () => chart.getAttribute('aria-valuetext')
  expect(await said()).toBe('From 13:00: 800 sent and 500 denied today, 0 sent yesterday')
  await chart.focus()
  await page.keyboard.press('ArrowLeft')
  await today.getByText('From 12:00: 0 sent and 0 denied today, 0 sent yesterday').waitFor()
  await page.keyboard.press('End')
  await today.getByText('From 23:00: 0 sent yesterday').waitFor()
  await expectAccessibleInEachLayout(page)

  const { body } = await call('GET', '/api/sms/admin/quota/alerts')
  expect(body.items[0]).toMatchObject({ quota: { id: quotaId, used: 800 }, percent: 80 })
  await activity.getByRole('link', { name: HOSTILE }).first().click()
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
  await page.getByText('Where messages go, and who sends most').click()
  const top = panel(page, 'Top users')
  await top.getByRole('row').filter({ hasText: 'User 12' }).waitFor()
  await top.getByLabel('Period').selectOption('Last 7 days')
  await top
    .getByRole('row')
    .nth(1)
    .filter({ hasText: /^User 91,00056%0$/ })
    .waitFor()
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

  await call('POST', '/api/sms/admin/requests', { body: { user_id: 1042, units: 500, reason: 'A sale' } })
  await renewFigures()

  const page = await openOverview()
  const decisions = panel(page, 'Needs a decision').getByRole('listitem')
  const findings = panel(page, 'Is all well?').getByRole('listitem')
  await decisions.first().waitFor()
  // Customers of other tests may be at risk, too.
  expect((await findings.allTextContents()).map(text => text.replace(/^\d+ customers?/, 'customers'))).toEqual([
    '1 webhook fails',
    'customers blocked',
    'customers with a grant that ends',
    '1 request waits',
    '1 unusual country',
  ])
  const failing = decisions.filter({ hasText: 'https://receiver.example/' })
  await failing.getByText(/^All attempts have failed since/).waitFor()
  expect(await failing.getByRole('link', { name: 'Open' }).getAttribute('href')).toBe(
    `/console/webhooks/${webhook.body.id}`,
  )
  const asking = decisions.filter({ hasText: 'User 1042 asks for 500 units' }).filter({ hasText: 'A sale' })
  expect(await asking.getByRole('link', { name: 'Decide…' }).getAttribute('href')).toMatch(
    /^\/console\/requests\?request=\d+&of=1042$/,
  )
  const risks = panel(page, 'Customers at risk')
  const riskOf = (user: string) => risks.getByRole('listitem').filter({ hasText: user })
  await riskOf('User 4711')
    .getByText(/^Blocked: Quota exhausted, until/)
    .waitFor()
  await riskOf('User 4712').getByText('A grant ends 7 Apr', { exact: true }).waitFor()
  expect(await risks.getByRole('link', { name: 'All' }).getAttribute('href')).toBe('/console/users?view=at_risk')
  await call('POST', `/api/sms/admin/quota/${codes}/adjust`, { body: { delta: 100, reason: 'More codes' } })
  await later(page)
  await risks.getByText('User 4711').waitFor({ state: 'detached' })
  const activity = panel(page, 'Activity')
  await activity.getByRole('button', { name: /^Show all/ }).click()
  await activity.getByText('3 × grant created by you').click()
  for (const user of ['1042', '4711', '4712']) await activity.getByRole('link', { name: user, exact: true }).waitFor()

  const unusual = decisions.filter({ hasText: 'Nigeria (NG): 200 units asked for in 24 hours' })
  await unusual.getByText('On a usual day: 0').waitFor()
  await expectAccessibleInEachLayout(page)
  await unusual.getByRole('link', { name: 'Who?' }).click()
  const who = page.getByRole('dialog', { name: 'Who sends to Nigeria (NG, +234)?' })
  await who.getByRole('row').filter({ hasText: 'User 1042' }).getByText('200').waitFor()
  await page.keyboard.press('Escape')
  const destinations = panel(page, 'Where messages go')
  const rows = destinations.getByRole('row')
  await rows.nth(1).filter({ hasText: 'Nigeria (NG, +234)New: 60 in the last hour2000' }).waitFor()
  await rows.nth(2).filter({ hasText: 'Germany (DE, +49)' }).getByText('1 of 2').waitFor()
  await expectAccessibleInEachLayout(destinations)
  await destinations.getByRole('button', { name: 'Who sends to Nigeria (NG, +234)?' }).click()
  const sender = who.getByRole('row').filter({ hasText: 'User 1042' })
  await sender.filter({ hasText: /^User 1042200100%0$/ }).waitFor()
  expect(await who.getByRole('row').count()).toBe(2)
  await who.getByRole('button', { name: 'Pause Nigeria for this user…' }).waitFor()
  await who.getByLabel('Period').selectOption('Last hour')
  await sender.filter({ hasText: /^User 104260100%0$/ }).waitFor()
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
  expect(await who.getByRole('button', { name: /^Pause Nigeria / }).count()).toBe(0)
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
  for (const sender of 'abcd') await askAs(sender, sender, 1)
  const page = await openOverview()
  await page.getByText('Where messages go, and who sends most').click()
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
  const toggle = panel(page, 'Where messages come from').getByRole('button', { name: /^Show (all|fewer)/ })
  for (const [name, count] of [
    ['Show all 6', 5],
    ['Show fewer', 6],
  ] as const) {
    expect([await toggle.innerText(), await rows.count()]).toEqual([name, 1 + count])
    await toggle.click()
  }

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

test('says what the breaker paused, and what it only observed', async () => {
  onDay(70)
  await allow({ user_id: 81, alert_at: [] })
  await call('PUT', '/api/sms/admin/users/81/profile', { body: { name: 'Ann' } })
  const codes = [{ start: clock.now - 60_000, end: clock.now, sent: 41, verified: 0 }]
  const evidence = judge(measure(codes, clock.now), { day: 0, quarter: 0 }, DEFAULT_BUDGETS)
  if (evidence === null) throw new Error('41 codes are no reason')
  for (const observed of [true, false]) {
    const found = { user_id: 81, country: observed ? 'LT' : 'LV', message_types: ['otp'], observed, evidence }
    await trip(site.db, found, { now: clock.now, actor: 'sms-quota', requestId: 'breaker' })
  }
  const page = await openOverview()
  const decisions = panel(page, 'Needs a decision').getByRole('listitem')
  const paused = decisions.filter({ hasText: 'Latvia (LV): Ann (81) paused by the breaker until 15:00' })
  await paused.getByText('41 codes not entered').waitFor()
  expect(await paused.getByRole('link', { name: 'Look' }).getAttribute('href')).toBe('/console/pauses?country=LV')
  const observed = decisions.filter({ hasText: 'Lithuania (LT): Ann (81) would be paused' })
  expect(await observed.getByRole('link', { name: 'Pause…' }).getAttribute('href')).toBe(
    '/console/pauses?pause=LT&for=81',
  )
  expect(await panel(page, 'Is all well?').getByRole('listitem').allTextContents()).toEqual(
    expect.arrayContaining(['1 pause on', '1 paused by the breaker in 24 hours', '1 observed by the breaker']),
  )
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
  await dialog.getByRole('link', { name: 'Blocked: Tonga for user 322' }).waitFor()
  expect((await users()).slice(0, 4)).toEqual(['301', '321', '322Blocked', '10001'])
  await dialog.getByText('1–50 of 58').waitFor()
  await dialog.getByRole('button', { name: 'Next' }).click()
  await dialog.getByText('51–58 of 58').waitFor()
  expect((await users()).at(-1)).toBe('10055')
  await dialog.getByLabel('Select user 10055').check()
  await dialog.getByRole('button', { name: 'Pause Tonga for the selected user…' }).waitFor()
  await dialog.getByLabel('Select user 10055').uncheck()
  await dialog.getByRole('button', { name: 'Pause Tonga for all 57 users…' }).click()
  await dialog.getByText('A pause of Tonga for all 57 users, one for each').waitFor()
  await dialog.getByRole('button', { name: 'Pause for all 57 users' }).click()
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
  await dialog.getByRole('button', { name: 'Pause for all 57 users' }).click()
  await dialog.getByText('Some may have been made. Try again: none is made twice.').waitFor()
  await page.unroute(/admin\/pauses/)
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Artificial traffic')
  await dialog.getByRole('button', { name: 'Pause for all 57 users' }).click()
  await dialog.getByText('Tonga is paused for all 57 users.').waitFor()
  await dialog.getByRole('link', { name: 'Paused: Tonga for user 10055' }).waitFor()
  const { body: all } = await call('GET', '/api/sms/admin/pauses?country=TO&active=true&page_size=200')
  expect(all.items.toReversed()).toMatchObject(
    // A cap stops user 322 already.
    [301, 321, ...Array.from({ length: 55 }, (_, index) => 10_001 + index)].map((user_id, index) => {
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
      'In the last 24 hours: the 100 users who sent most. Others, who sent 9,902 units together and 1 at most each, and users who were only denied are not shown.',
    )
    .waitFor()
  expect((await dialog.getByRole('rowheader').allTextContents()).slice(0, 2)).toEqual(['User 402', 'User 401'])
  await dialog.getByRole('button', { name: 'Pause Fiji for these 100 users…' }).click()
  await dialog.getByText('To stop all users, also those who have not sent there yet, pause it for all.').waitFor()
})
