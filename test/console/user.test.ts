import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { expectAccessible, goTo, reopen, sentIn, startSite } from '../support/browser.ts'
import { DAYS, startBusyUser } from './user-fixture.ts'

const site = await startSite({ env: { CONTACT_TEXT: 'Your account manager.', CONTACT_URL: 'mailto:help@sms.example' } })
const { quotas } = await startBusyUser(site, 7)
const SENDER = '/api/sms/sender/quota'

/** The API request of the shown period of user 7, in days of Europe/Berlin across the start of daylight saving time. */
const REPORT = `/api/sms/admin/quota/usage?user_id=7&from=2026-03-14T23:00:00Z&to=2026-06-12T22:00:00Z&interval=day&time_zone=Europe/Berlin`

/** The API request of what the user's page shows of countries. */
const COUNTRIES =
  '/api/sms/admin/quota/usage?user_id=7&from=2026-05-13T22:00:00Z&to=2026-06-12T22:00:00Z&interval=month&group_by=country'

const format = new Intl.NumberFormat('en-GB')

/** The button of a total above the chart. */
const total = (page: Page, label: string) => page.getByRole('button', { name: new RegExp(`^${label}`) })

/** Waits until the table has this number of rows. @returns the text of its cells */
async function tableOf(page: Page, rows: number): Promise<string[][]> {
  const table = page.getByRole('region', { name: 'Units by day' })
  await expect.poll(() => table.getByRole('rowheader').count()).toBe(rows)
  // At once: a call for each row takes longer than the page.
  const cells = await table.getByRole('row').locator('th,td').allTextContents()
  const width = cells.length / (rows + 1)
  return Array.from({ length: rows }, (_, row) => cells.slice((row + 1) * width, (row + 2) * width))
}

test('shows the summary of a user as the API returns it', async () => {
  const { body } = await site.call('GET', '/api/sms/admin/quota/summary?user_id=7')
  const page = await site.visit('/users/7', { now: site.clock.now })
  // The daily ceiling allows less than what is left.
  expect(body.available).toBeLessThan(body.remaining)
  const [available, until] = [body.available, body.available_until.units].map(units => format.format(units))
  const status = page.getByRole('region', { name: 'Can this user send?' })
  const sentence = `Can send: ${available} units now, ${until} until 1 Jul 2026, 00:00 (Europe/Berlin), in 18 days.`
  await status.getByText(sentence).waitFor()
  // Three campaigns were denied.
  await page
    .getByText(
      /^About 91 units used per day\. In the last 30 days, 15,000 of the 17,\d{3} units asked for were denied\.$/,
    )
    .waitFor()

  // What a quota has left is said once, beside the quota.
  await page.getByText(`${body.caps[0].remaining} left`).waitFor()
  const countries = page.getByRole('table', { name: 'Units by country in the last 30 days' }).getByRole('row')
  const { body: usage } = await site.call('GET', COUNTRIES)
  const sent = (country: string | null) =>
    usage.items
      .filter((item: { country: string | null }) => item.country === country)
      .reduce((sum: number, { committed }: { committed: { units: number } }) => sum + committed.units, 0)
  const share = (country: string | null) => `${Math.round((100 * sent(country)) / usage.total.committed.units)}%`
  await expect
    .poll(() => countries.allTextContents())
    .toEqual([
      'CountrySent, shareDenied',
      `France (FR)${format.format(sent('FR'))} ${share('FR')}15,000`,
      `Germany (DE)${format.format(sent('DE'))} ${share('DE')}0`,
      `Austria (AT)${format.format(sent('AT'))} ${share('AT')}0`,
      `No country${format.format(sent(null))} ${share(null)}0`,
    ])
  await expectAccessible(page.getByRole('region', { name: 'Units by country in the last 30 days' }))
  await page.getByRole('table', { name: 'Quotas' }).getByRole('link', { name: 'Monthly package' }).click()
  await page.waitForURL(`${site.url}/console/quotas/${quotas['Monthly package']}`)
})

test('totals and days of 90 days match the API, ungrouped and grouped', async () => {
  const { body } = await site.call('GET', REPORT)
  const page = await site.visit('/users/7?days=90')
  for (const measure of ['committed', 'refunded', 'denied']) {
    const { units, messages } = body.total[measure]
    const text = await total(page, measure[0]?.toUpperCase() + measure.slice(1)).textContent()
    expect(text).toContain(`${format.format(units)}`)
    expect(text).toContain(`${format.format(messages)} messages`)
  }
  await page.getByRole('application').waitFor()
  await page.getByRole('button', { name: 'Show as table' }).click()
  const days = await tableOf(page, DAYS)
  expect(days.map(([, ...counts]) => counts.map(count => Number(count?.replaceAll(',', ''))))).toEqual(
    body.items
      .toReversed()
      .map((item: Record<string, { units: number }>) => [
        item.committed?.units,
        item.refunded?.units,
        item.denied?.units,
      ]),
  )
  const { start, end } = body.items.findLast((item: { denied: { units: number } }) => item.denied.units > 0)
  const denials = `/console/users/7/denials?${new URLSearchParams({ from: start, to: end })}`
  const denied = page.getByRole('region', { name: 'Units by day' }).getByRole('link').first()
  expect(await denied.getAttribute('href')).toBe(denials)
  await page.getByText(/^Of \d+ messages, \d+ codes were entered\.$/).waitFor()
  await page.getByLabel('Group by').selectOption('Country')
  await page.getByText(/^Germany.*: of (\d+) messages, \1 codes were entered\.$/).waitFor()
  await expect.poll(() => denied.getAttribute('href')).toBe(`${denials}&country=FR`)

  await page.getByLabel('Period').selectOption('Last 7 days')
  // Without denials, nothing in the table takes the focus.
  await tableOf(page, 28)
  await expectAccessible(page.getByRole('region', { name: 'Units by day' }))
  await page.getByLabel('Group by').selectOption('Quota')
  await page.getByRole('cell', { name: 'Codes to Germany and Austria' }).first().waitFor()
  const grouped = await tableOf(page, 14)
  expect(grouped.slice(0, 2)).toEqual([
    ['12 Jun', 'Codes to Germany and Austria', '20', '0', '0'],
    ['12 Jun', 'Monthly package', '19', '2', '0'],
  ])
  expect(page.url()).toBe(`${site.url}/console/users/7?days=7&as=table&group_by=quota`)
})

test('the chart shows its days on hover and by keyboard, and has a legend', async () => {
  const page = await site.visit('/users/7?days=7&group_by=country')
  const chart = page.getByRole('application')
  await chart.waitFor()
  expect(await page.locator('.recharts-bar-rectangle').count()).toBe(28)
  await page.getByText('Forecast: about 91 units per day').waitFor()
  await page
    .getByRole('region', { name: 'Usage' })
    .getByRole('listitem')
    .filter({ hasText: 'Germany (DE) 340' })
    .waitFor()
  await chart.focus()
  await page.keyboard.press('ArrowRight')
  const tip = page.getByRole('status').filter({ hasText: '2026' })
  const sunday = 'Sunday, 7 June 2026No country3Austria (AT)10France (FR)40Germany (DE)60Total113'
  await expect.poll(() => tip.textContent()).toBe(sunday)
  await chart.hover({ position: { x: 80, y: 200 } })
  await tip.filter({ hasText: 'Saturday, 6 June 2026' }).waitFor()
  await total(page, 'Denied').click()
  await page.getByText('Nothing denied in this period').waitFor()
  await page.goBack()
  await page.locator('.recharts-bar-rectangle').first().waitFor()
})

test('shows a custom period, and errors of the API at its fields', async () => {
  const page = await site.visit('/users/7?as=table')
  await page.getByLabel('Period').selectOption('Custom')
  expect(await page.getByLabel('From').inputValue()).toBe('2026-05-14')
  await page.getByLabel('From').fill('2026-03-29')
  await page.keyboard.press('Enter')
  await page.getByLabel('To', { exact: true }).fill('2026-03-30')
  await page.keyboard.press('Enter')
  // 29 March has 23 hours.
  expect(await tableOf(page, 2)).toEqual([
    ['30 Mar', '116', '2', '0'],
    ['29 Mar', expect.any(String), '2', '0'],
  ])
  await page.getByLabel('To', { exact: true }).fill('2026-03-01')
  await page.keyboard.press('Enter')
  await page.getByText('Choose a day that is not before “From”.').waitFor()
  await expectAccessible(page.getByRole('region', { name: 'Usage' }))
  await page.getByLabel('From').fill('2020-01-01')
  await page.keyboard.press('Enter')
  await page.getByText('Choose at most 1,000 days.').waitFor()
  await page.getByLabel('Period').selectOption('This month')
  await tableOf(page, 12)
  expect(page.url()).toBe(`${site.url}/console/users/7?as=table&days=month`)
  await page.getByLabel('Period').selectOption('Last 7 days')
  await tableOf(page, 7)
  expect(page.url()).toBe(`${site.url}/console/users/7?as=table&days=7`)
})

test('filters reservations by state, quota and time, and pages through them', async () => {
  const page = await site.visit('/users/7/reservations')
  const rows = page.getByRole('table', { name: 'Messages' }).getByRole('rowheader')
  const first = () => rows.first().textContent()
  await expect.poll(first).toContain('waiting')
  await page.getByRole('button', { name: 'Older' }).click()
  await expect.poll(first).toContain('other-83')
  await reopen(page)
  await expect.poll(first).toContain('other-83')
  await page.getByRole('button', { name: 'Newest' }).click()
  await page.getByLabel('State').selectOption('Reserved')
  await expect.poll(() => rows.count()).toBe(1)
  await rows.filter({ hasText: 'by gateway' }).waitFor()
  await page.getByText(/^Until 12 Jun 2026, 15:00 \(Europe\/Berlin\)/).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()

  await page.getByLabel('Charged to').selectOption('Codes to Germany and Austria')
  await page.getByLabel('From').fill('2026-03-15')
  await page.keyboard.press('Enter')
  await page.getByLabel('To', { exact: true }).fill('2026-03-16')
  await page.keyboard.press('Enter')
  await expect
    .poll(() => rows.allTextContents())
    .toEqual([expect.stringContaining('code-1'), expect.stringContaining('code-0')])
  const query = `user_id=7&quota_id=${quotas['Codes to Germany and Austria']}&from=2026-03-14T23:00:00Z&to=2026-03-16T23:00:00Z`
  const { body } = await site.call('GET', `/api/sms/admin/quota/reservations?${query}`)
  expect(body.items.map((item: { id: string }) => item.id)).toEqual(['code-1', 'code-0'])
  await page.getByLabel('State').selectOption('Expired')
  await page.getByText('Nothing matches these filters').waitFor()
})

test('a user sees only their own data, in the second person', async () => {
  const token = await site.userToken(7)
  const page = await site.visit('/mine', { token })
  const asked: string[] = []
  page.on('request', request => {
    if (request.url().includes('/api/')) asked.push(new URL(request.url()).pathname)
  })
  await reopen(page)
  await page.getByText(/^You can send \d+ units now, [\d,]+ until 1 Jul 2026, 00:00 \(Europe/).waitFor()
  await page.getByRole('application').waitFor()
  await page.getByRole('row').filter({ hasText: 'Monthly package' }).waitFor()
  expect(await page.getByRole('main').getByRole('link', { name: 'Monthly package' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Search' }).count()).toBe(0)
  // No operator's words.
  const operators = /committed|refunded|released|reservation|principal|window/i
  expect(await page.getByRole('main').textContent()).not.toMatch(operators)
  await page.getByRole('link', { name: 'Messages' }).click()
  const waiting = page.getByRole('row').filter({ has: page.getByRole('rowheader').filter({ hasText: 'waiting' }) })
  await waiting.getByText('On its way').waitFor()
  expect(await page.getByRole('main').textContent()).not.toMatch(operators)
  expect(asked.filter(path => path.includes('/admin/'))).toEqual([])
  await goTo(page, '/users/7')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()

  await goTo(page, '/mine', await site.userToken(8_000))
  await page.getByText('You cannot send: you have no quotas yet.').waitFor()
  await page.getByText('Ask an administrator to create one.').waitFor()
  await page.getByText('Nothing charged in this period').waitFor()
})

test('says that a cap blocks a user, until when, and what helps, to each who may see it', async () => {
  const create = async (body: object) => {
    const { status, body: quota } = await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 20, ...body } })
    expect(status).toBe(201)
    return quota.id
  }
  const month = { period: 'month', time_zone: 'Europe/Berlin' }
  await create({ limit: 5_000, name: 'Business package', ...month })
  await create({ kind: 'cap', limit: 100, name: 'Daily ceiling', ...month, period: 'day' })
  await create({ kind: 'cap', limit: 0, countries: ['NG'] })
  const body = { user_id: 20, id: 'first', units: 100 }
  await site.call('POST', `${SENDER}/consume`, { token: site.senderToken, body })

  const now = site.clock.now
  const page = await site.visit('/users/20', { now, load: true })
  const until = 'until 13 Jun 2026, 00:00 (Europe/Berlin), in 9 hours'
  const why = `Blocked ${until}: the daily cap of 100 is used up. 4,900 units remain in the grants.`
  await page.getByText(why).waitFor()
  await page.getByText('Messages to Nigeria: blocked, the cap of 0 allows none.').waitFor()
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  // The text stays in the browser.
  const asked: string[] = []
  page.on('request', request => asked.push(sentIn(request)))
  await page.getByRole('textbox', { name: 'Text' }).fill('It’s due')
  // Pressed before the numbering plan is loaded, which tells the country.
  const isLoaded = Promise.withResolvers<void>()
  await page.route(/\/assets\/destination-/, async route => {
    await isLoaded.promise
    await route.continue()
  })
  await page.getByLabel('Phone number or country').fill('+234 803 123 4567')
  await page.getByRole('button', { name: 'Check' }).click()
  isLoaded.resolve()
  await page.getByText('Nigeria (NG, +234)').waitFor()
  await page.getByText('No: a cap has too little room.').waitFor()
  await page.getByText('It costs 1 unit: one segment in UCS-2.').waitFor()
  await page.getByText('Waiting does not help. This was a check: nothing was reserved.').waitFor()
  const lines = page.getByRole('list', { name: 'What each quota says' }).getByRole('listitem')
  expect(await lines.allTextContents()).toEqual([
    'Cap Daily ceilingStops the message: too little room',
    expect.stringMatching(/^Cap \d+Stops the message: too little room$/),
    'Grant Business packageCovers the message, and has units left',
  ])
  expect(asked.filter(request => /due/.test(request))).toEqual([])
  // A country without a text is valid. A wrong one keeps the fields in line.
  const destination = page.getByLabel('Phone number or country')
  const refused = page.getByText('Enter a number with + and its country code')
  await page.getByRole('textbox', { name: 'Text' }).fill('')
  await destination.fill('DE')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Without a text, it counts as one segment: 1 unit.').waitFor()
  await page.getByText('Germany (DE, +49)', { exact: true }).waitFor()
  expect(await refused.count()).toBe(0)
  await destination.fill('Atlantis')
  await page.getByRole('button', { name: 'Check' }).click()
  await refused.waitFor()
  expect(await page.getByText('nothing was reserved').count()).toBe(0)
  const bottoms = [destination, page.getByLabel('Message type'), page.getByRole('button', { name: 'Check' })].map(
    field => field.evaluate(element => Math.round(element.getBoundingClientRect().bottom)),
  )
  expect(new Set(await Promise.all(bottoms)).size).toBe(1)
  await expectAccessible(page.getByRole('region', { name: 'Would this message go?' }))

  await goTo(page, '/users/20', await site.token({ sub: 's', roles: ['sms-quota:support'] }))
  await page.getByText(why).waitFor()
  await page.getByRole('button', { name: 'Raise “Daily ceiling”' }).waitFor()
  await page.getByRole('button', { name: 'Give units' }).waitFor()
  expect(await page.getByRole('link', { name: 'New quota' }).count()).toBe(0)
  await goTo(page, '/users/20', await site.token({ sub: 'a', roles: ['sms-quota:auditor'] }))
  await page.getByRole('button', { name: 'Would this message go?' }).waitFor()
  expect(await page.getByRole('button', { name: /Raise|Give units/ }).count()).toBe(0)

  await goTo(page, '/mine', await site.userToken(20))
  await page.getByText(`You cannot send ${until}: the daily limit of 100 is used up.`).waitFor()
  expect(await page.getByRole('button', { name: /Raise|Would this message go/ }).count()).toBe(0)
  await page.getByText('Your account manager.').waitFor()
  expect(await page.getByRole('link', { name: 'Contact' }).getAttribute('href')).toBe('mailto:help@sms.example')
})

test('a check, a change and the summary agree on all of the page', async () => {
  const create = async (body: object) => {
    expect((await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 28, ...body } })).status).toBe(201)
  }
  const consume = async (id: string, units: number) => {
    const body = { user_id: 28, id, units }
    expect((await site.call('POST', `${SENDER}/consume`, { token: site.senderToken, body })).body.granted).toBe(true)
  }
  await create({ limit: 5_000, name: 'Package' })
  await create({ kind: 'cap', limit: 100, name: 'Ceiling', period: 'day', time_zone: 'Europe/Berlin' })
  // By itself, the page reads again after 30 s.
  const page = await site.visit('/users/28', { now: site.clock.now })
  const summary = page.getByRole('region', { name: 'Can this user send?' })
  const row = page.getByRole('row').filter({ hasText: 'Ceiling' })
  await summary.getByText('Can send: 100 units now').waitFor()
  await row.getByText('0 used · 100 left').waitFor()

  await consume('all', 100)
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('No: a cap has too little room.').waitFor()
  await summary.getByText('Blocked until').waitFor()
  await row.getByText('100 used · 0 left').waitFor()

  await summary.getByRole('button', { name: 'Raise “Ceiling”' }).click()
  const dialog = page.getByRole('dialog', { name: 'Raise the daily cap of user 28' })
  await dialog.getByLabel('Every day from now on').check()
  await dialog.getByRole('button', { name: '+100', exact: true }).click()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('A campaign')
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()
  await summary.getByText('Can send: 100 units now').waitFor()
  await page.getByText('Yes, it would go now.').waitFor()
  await row.getByText('100 used · 100 left').waitFor()

  await consume('again', 100)
  await page.clock.fastForward(30_000)
  await summary.getByText('Blocked until').waitFor()
  await page.getByText('No: a cap has too little room.').waitFor()
  await row.getByText('200 used · 0 left').waitFor()

  // The first button of the page is for the grant.
  await page.getByRole('button', { name: 'Give units' }).click()
  const giving = page.getByRole('dialog', { name: 'Add units for user 28' })
  await giving.getByRole('textbox', { name: 'Units to add' }).fill('500')
  await giving.getByRole('textbox', { name: 'Reason' }).fill('Goodwill')
  await giving.getByRole('button', { name: 'Adjust limit' }).click()
  await page.getByRole('row').filter({ hasText: 'Package' }).getByText('200 used · 5,300 left').waitFor()
})

test('says for which messages, from when, or why not a user can send', async () => {
  const create = async (body: object) => {
    expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  }
  const starts_at = new Date(site.clock.now + 8 * DAY_MS + HOUR_MS).toISOString()
  await create({ user_id: 21, limit: 500, countries: ['DE', 'AT'] })
  await create({ user_id: 22, limit: 500, starts_at })
  await create({ user_id: 23, limit: 500, enabled: false })
  await create({ user_id: 24, limit: 0 })
  const page = await site.visit('/users/21', { now: site.clock.now })
  await page.getByText('All other messages: blocked, no grant covers them.').waitFor()
  for (const [user, sentence, action] of [
    [21, 'Can send only messages to Austria and Germany: 500 units now.', null],
    [22, 'Can send from 20 Jun 2026, 15:00 (Europe/Berlin), in 8 days.', 'Create a quota'],
    [23, 'Blocked: the quotas are suspended.', 'Resume a quota'],
    [24, 'Blocked: all units are used up.', 'Add units'],
  ] as const) {
    await goTo(page, `/users/${user}`)
    const status = page.getByRole('region', { name: 'Can this user send?' })
    await status.getByText(sentence).waitFor()
    if (action !== null) await status.locator('a,button').filter({ hasText: action }).waitFor()
  }
})

test('shows when the units run out, as text and in the chart', async () => {
  const last = site.clock.now
  site.clock.now = last - 14 * DAY_MS
  const { body: grant } = await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 9, limit: 160 } })
  for (let day = 13; day >= 0; day--) {
    site.clock.now = last - day * DAY_MS
    const body = { user_id: 9, id: `m-${day}`, units: 10 }
    await site.call('POST', `${SENDER}/consume`, { token: site.senderToken, body })
  }
  const { body } = await site.call('GET', '/api/sms/admin/quota/summary?user_id=9')
  expect(body).toMatchObject({ remaining: 20, forecast: { daily_rate: 10, runs_out_at: expect.any(String) } })
  const page = await site.visit('/users/9?days=30')
  await page.getByText('About 10 units used per day; at that rate, sending stops around 14 June 2026.').waitFor()
  await page.locator('.recharts-line-curve').waitFor({ state: 'attached' })
  await page.getByText('Can send: 20 units now.').waitFor()

  for (const body of [{ period: 'month' }, { kind: 'cap', countries: ['FR'] }]) {
    const { status } = await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 9, limit: 1_000, ...body } })
    expect(status).toBe(201)
  }
  await reopen(page)
  await page
    .getByText(
      'About 10 units used per day; at that rate, the units last until each reset. Caps for certain countries or message types are not included.',
    )
    .waitFor()
  await site.call('PUT', `/api/sms/admin/quota/${grant.id}`, { body: { limit: null } })
  await reopen(page)
  await page.getByText('About 10 units used per day, unlimited.').waitFor()
})

test('a number whose country cannot be found out is refused with what else is accepted', async () => {
  const page = await site.visit('/users/7', { load: true, expectedErrors: /Failed to (load resource|fetch)/ })
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  await page.getByLabel('Phone number or country').waitFor()
  await page.route(/\/assets\/destination-/, route => route.abort())
  await page.getByLabel('Phone number or country').fill('+234 803 123 4567')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('Enter a number with + and its country code, or the two letters of a country.').waitFor()
  await page.getByLabel('Phone number or country').fill('NG')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('nothing was reserved').waitFor()
})
