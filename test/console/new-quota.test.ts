import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite()

const NEW = '/quotas/new'
const RTL = '\u202Eשלום مرحبا'
/** What identifies has no invisible characters. */
const REFERENCE = RTL.slice(1)
const SCRIPT = '<script>alert(1)</script>'

const field = (page: Page, label: string) => page.getByRole('textbox', { name: label })
const group = (page: Page, title: string) => page.locator('summary').filter({ hasText: title })
const create = (page: Page) => page.getByRole('button', { name: 'Create quota' })

const isFocused = async (page: Page, of: Locator) =>
  (await page.locator(':focus').getAttribute('id')) === (await of.getAttribute('id'))

/** The quotas of a user, from the API. */
async function quotasOf(userId: number) {
  return (await site.call('GET', `/api/sms/admin/quota/list?user_id=${userId}&sort=id`)).body.items
}

/** The quota whose page has opened, from the API. */
async function created(page: Page, title: string | RegExp) {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  const id = /\/console\/quotas\/(\d+)$/.exec(page.url())?.[1]
  return (await site.call('GET', `/api/sms/admin/quota/${id}`)).body
}

/** Clicks each match; a click makes the element no longer match. */
async function clickAll(page: Page, selector: string): Promise<void> {
  const left = page.locator(selector)
  while ((await left.count()) > 0) await left.first().click()
}
const expandAll = (page: Page) => clickAll(page, 'details:not([open]) > summary')
const collapseAll = (page: Page) => clickAll(page, 'details[open] > summary')

test('creates a quota from two fields', async () => {
  const page = await site.visit(NEW)
  await create(page).waitFor()
  expect(await page.locator('[required]').count()).toBe(2)
  await field(page, 'User id').fill('21')
  await field(page, 'Limit').fill('1 000')
  await create(page).click()
  const quota = await created(page, /^Grant \d+$/)
  expect(quota).toMatchObject({
    user_id: 21,
    kind: 'grant',
    limit: 1_000,
    name: null,
    period: null,
    time_zone: 'UTC',
    rollover_limit: 0,
    overage_limit: 0,
    priority: 100,
    expires_at: null,
    countries: null,
    message_types: null,
    alert_at: [80, 100],
    enabled: true,
    external_ref: null,
    metadata: {},
    used: 0,
    version: 1,
  })
})

test('creates a quota with many settings by keyboard, and previews it', async () => {
  const page = await site.visit(`${NEW}?user_id=22`)
  const { keyboard } = page
  const tab = async (times = 1) => {
    for (let n = 0; n < times; n++) await keyboard.press('Tab')
  }
  await field(page, 'User id').focus()
  await tab(2)
  await keyboard.type('1000')
  await tab(2)
  // On a busy machine, keys can come too slowly to count as one text.
  const period = page.getByRole('combobox', { name: 'Resets' }).locator('option:checked')
  await expect
    .poll(async () => {
      await keyboard.type('Each m')
      return period.textContent()
    })
    .toBe('Each month')
  const firstDay = page.getByRole('combobox', { name: 'First day' })
  await firstDay.waitFor()
  await tab()
  await keyboard.type('Package 😀')
  // The time zone.
  await tab()
  await keyboard.type('new_york')
  const active = page.locator('[data-combobox-selected]')
  const zone = page.getByRole('option', { name: 'America/New_York' })
  await zone.waitFor()
  // On a busy machine, a key can come before the new list takes it.
  await expect
    .poll(async () => {
      await keyboard.press('ArrowDown')
      return zone.and(active).count()
    })
    .toBe(1)
  await keyboard.press('Enter')
  // The first day of its months.
  await tab()
  await keyboard.press('9')
  await expect.poll(() => firstDay.inputValue()).toBe('9')
  await tab()
  await keyboard.press('Enter')
  await page.locator('details[open]').getByRole('textbox').first().waitFor()
  await tab()
  await keyboard.press('Control+A')
  await keyboard.type('200')
  await tab()
  await keyboard.press('Control+A')
  await keyboard.type('50')
  await page
    .getByRole('status')
    .filter({
      hasText:
        '1,000 units each month, resets on the 9th at 00:00 America/New_York; up to 200 unused units roll over; overage of up to 50',
    })
    .waitFor()
  await tab()
  await keyboard.press('Enter')
  await field(page, 'Starts')
    .or(page.getByLabel('Starts', { exact: true }))
    .fill('2031-01-15T12:30')
  await page.getByText('2031-01-15 11:30:00 UTC · your time zone: Europe/Berlin').waitFor()
  const rows = page.getByRole('table').getByRole('row')
  await rows.nth(3).waitFor()
  expect(await rows.nth(1).textContent()).toBe('15 Jan 2031, 06:3015 Jan 2031, 12:309 Feb 2031, 00:009 Feb 2031, 06:00')
  expect(await rows.nth(3).textContent()).toBe('9 Mar 2031, 00:009 Mar 2031, 06:009 Apr 2031, 00:009 Apr 2031, 06:00')

  await group(page, 'Scope').focus()
  await keyboard.press('Enter')
  await tab()
  await keyboard.type('germ')
  await page.getByRole('option', { name: 'Germany (DE, +49)' }).and(active).waitFor()
  await keyboard.press('Enter')
  // Another Enter takes nothing, also after a text that is deleted, and saves nothing.
  await keyboard.press('Enter')
  await keyboard.type('x')
  await keyboard.press('Backspace')
  await keyboard.press('Enter')
  // A text that is left would be lost.
  await keyboard.type('xyz')
  await tab()
  const left = page.getByText('“xyz” is not chosen. Choose an entry of the list.')
  await left.waitFor()
  await page.getByRole('button', { name: 'Create quota' }).click()
  const countries = page.getByRole('combobox', { name: 'Countries' })
  await countries.and(page.locator(':focus')).waitFor()
  expect(await countries.inputValue()).toBe('xyz')
  await left.waitFor()
  await countries.fill('')
  await left.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Message types' }).or(field(page, 'Message types')).focus()
  await keyboard.type('otp,marketing,')
  await group(page, 'More').focus()
  await keyboard.press('Enter')
  await field(page, 'Priority').fill('7')
  await field(page, 'External reference').fill(REFERENCE)
  await page.getByRole('button', { name: 'Add a key' }).focus()
  await keyboard.press('Enter')
  await field(page, 'Key 1').fill('contract')
  await field(page, 'Value 1').fill(SCRIPT)
  await keyboard.press('Enter')

  const quota = await created(page, 'Package 😀')
  expect(quota).toMatchObject({
    user_id: 22,
    limit: 1_000,
    period: 'month',
    anchor: '9',
    time_zone: 'America/New_York',
    rollover_limit: 200,
    overage_limit: 50,
    starts_at: '2031-01-15T11:30:00.000Z',
    countries: ['DE'],
    message_types: ['marketing', 'otp'],
    priority: 7,
    external_ref: REFERENCE,
    metadata: { contract: SCRIPT },
    status: 'scheduled',
  })
})

test('years begin with a month and a day, which another period forgets', async () => {
  const page = await site.visit(`${NEW}?user_id=61&limit=100`)
  const select = (label: string) => page.getByRole('combobox', { name: label })
  await select('Resets').selectOption({ label: 'Each day' })
  expect(await select('First day').count()).toBe(0)
  await select('Resets').selectOption({ label: 'Each year' })
  await select('First month').selectOption({ label: 'April' })
  await select('First day').selectOption('30')
  await page.getByText('100 units each year, resets on 30 April at 00:00 Europe/Berlin').waitFor()
  await select('First month').selectOption({ label: 'February' })
  await page.getByText('resets on 29 February (28 February in other years) at 00:00 Europe/Berlin').waitFor()
  expect(await select('First day').locator('option').count()).toBe(29)
  await select('Resets').selectOption({ label: 'Each month' })
  await page.getByText('resets on the 1st at 00:00 Europe/Berlin').waitFor()
  expect(await select('First month').count()).toBe(0)
  await select('Resets').selectOption({ label: 'Each year' })
  await select('First month').selectOption({ label: 'April' })
  await create(page).click()
  const quota = await created(page, /^Grant \d+$/)
  expect(quota).toMatchObject({ period: 'year', anchor: '04-01' })
  await page.getByText('100 units each year, resets on 1 April at 00:00 Europe/Berlin').waitFor()
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByText('Each year from 1 April').waitFor()
})

test('a preset or a copy fills the form', async () => {
  const source = await site.call('POST', '/api/sms/admin/quota', {
    body: {
      user_id: 28,
      kind: 'cap',
      limit: 77,
      period: 'week',
      name: 'Original',
      external_ref: 'R-1',
      metadata: { a: '1' },
    },
  })
  const page = await site.visit(`${NEW}?copy=${source.body.id}`)
  await page.getByText('A copy of Original').waitFor()
  await field(page, 'Name').fill('Copied')
  await create(page).click()
  expect(await created(page, 'Copied')).toMatchObject({
    user_id: 28,
    kind: 'cap',
    limit: 77,
    period: 'week',
    external_ref: null,
    metadata: { a: '1' },
  })

  // Leaving a form with input, by the back button or a link, asks first.
  await page.getByRole('link', { name: 'Duplicate' }).click()
  await page.getByRole('button', { name: 'Country cap' }).click()
  expect(await field(page, 'Limit').inputValue()).toBe('500')
  await page.getByRole('status').filter({ hasText: 'each month to Germany' }).waitFor()
  await page.getByRole('button', { name: 'Prepaid pack' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /^5,000 units in total; until \d/ })
    .waitFor()
  await page.getByRole('button', { name: 'Daily cap' }).click()
  await page.getByRole('status').filter({ hasText: 'At most 200 units each day' }).waitFor()
  await page.getByRole('button', { name: 'Monthly package' }).click()
  await page.getByRole('status').filter({ hasText: '1,000 units each month, resets on the 1st' }).waitFor()
  expect(await field(page, 'User id').inputValue()).toBe('28')
  const answers = [false, false, true]
  const asked: string[] = []
  page.on('dialog', dialog => {
    asked.push(dialog.message())
    void (answers.shift() === true ? dialog.accept() : dialog.dismiss())
  })
  const toQuotas = page.getByRole('link', { name: 'Quotas', exact: true })
  await page.evaluate('history.back()')
  await expect.poll(() => asked.length).toBe(1)
  await toQuotas.click()
  expect(page.url()).toContain('/quotas/new?copy=')
  expect(await field(page, 'Limit').inputValue()).toBe('1000')
  await toQuotas.click()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  expect(asked).toEqual(Array(3).fill('Your input is not saved. Leave this page and lose it?'))
})

test('is in German for a German browser', async () => {
  const page = await site.visit(`${NEW}?user_id=7`, { locale: 'de-DE' })
  await page.getByRole('heading', { level: 1, name: 'Neues Kontingent' }).waitFor()
  await page.getByRole('button', { name: 'Tagesobergrenze' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: 'Höchstens 200 Einheiten pro Tag, zurückgesetzt um 00:00 Uhr Europe/Berlin; über alle Pakete' })
    .waitFor()
  await field(page, 'Limit').fill('viele')
  await page.getByRole('button', { name: 'Kontingent anlegen' }).click()
  await page.getByText('Eine ganze Zahl von 0 bis 1.000.000.000.000 eingeben.').waitFor()

  // The form of a block says what it blocks, and names it.
  await goTo(page, `${NEW}?kind=cap&limit=0&user_id=7&countries=NG`)
  await page.getByRole('heading', { level: 1, name: 'Nigeria für Benutzer 7 sperren' }).waitFor()
  await page.getByText('oder endet. Nachrichten in andere Länder gehen weiter.').waitFor()
  await page.getByRole('status').filter({ hasText: 'Sperrt alle Einheiten mit Ziel Nigeria' }).waitFor()
  await page.getByLabel('Grund der Sperre').fill('Betrug')
  await page.getByRole('button', { name: 'Sperren', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Sperre Nigeria', exact: true }).waitFor()
})

test('a user’s page leads to the form of a block, which asks what it blocks', async () => {
  const page = await site.visit('/users/29')
  await page.getByRole('link', { name: 'Block…' }).click()
  await page.getByRole('heading', { level: 1, name: 'Block all messages for user 29' }).waitFor()
  await page.getByRole('status').filter({ hasText: 'Blocks all messages' }).waitFor()
  await page.getByRole('combobox', { name: 'Countries' }).fill('Ghana')
  await page.getByRole('option', { name: 'Ghana (GH, +233)' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { level: 1, name: 'Block Ghana for user 29' }).waitFor()
  await expectAccessible(page.getByRole('main'))
  await page.getByText('beside denials. The user does not see it.').waitFor()
  await page.getByLabel('Reason for the block').fill('Fraud')
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Block Ghana', exact: true }).waitFor()
  // As the form says.
  const { body } = await site.call('GET', '/api/sms/quota/list', { token: await site.userToken(29) })
  expect(body.items).toMatchObject([{ name: 'Block Ghana', metadata: {} }])
})

test('hides fields that do not apply to unlimited grants and caps', async () => {
  const page = await site.visit(`${NEW}?user_id=23`)
  await field(page, 'Limit').fill('500')
  await page.getByLabel('Unlimited').check()
  expect(await field(page, 'Limit').isDisabled()).toBe(true)
  expect(await group(page, 'Rollover and overage').count()).toBe(0)
  await page.getByRole('status').filter({ hasText: 'Unlimited units' }).waitFor()
  await create(page).click()
  expect(await created(page, /^Grant/)).toMatchObject({ limit: null })

  await goTo(page, `${NEW}?user_id=23`)
  await page.getByLabel('Unlimited').check()
  await page.getByLabel('Cap').check()
  expect(await page.getByLabel('Unlimited').count()).toBe(0)
  await field(page, 'Limit').fill('9')
  await page.getByRole('status').filter({ hasText: 'At most 9 units in total; across all grants' }).waitFor()
  await create(page).click()
  expect(await created(page, /^Cap/)).toMatchObject({ kind: 'cap', limit: 9 })
})

test('shows validation errors of the service at their fields, and keeps the input', async () => {
  const existing = await site.call('POST', '/api/sms/admin/quota', {
    body: { user_id: 24, limit: 1, external_ref: 'K-1' },
  })
  const page = await site.visit(NEW)
  const long = 'x'.repeat(10_000)
  await field(page, 'Name').fill(long)
  await expandAll(page)
  await field(page, 'Alerts').fill('50, 101')
  await field(page, 'Priority').fill(SCRIPT)
  await page.getByRole('button', { name: 'Add a key' }).click()
  await field(page, 'Key 1').fill('a b')
  await page.getByRole('button', { name: 'Add a key' }).click()
  await field(page, 'Key 2').fill('a b')
  await page.getByText('The key “a b” is used twice.').waitFor()
  await create(page).click()
  expect(await isFocused(page, field(page, 'Key 1'))).toBe(true)
  expect(await page.getByText('Enter the id of a user').count()).toBe(0)
  await page.getByRole('button', { name: 'Remove key 2' }).click()
  await collapseAll(page)
  await create(page).click()

  await page.getByText('Enter the id of a user: a whole number.').waitFor()
  const wholeNumber = page.getByText('Enter a whole number from 0 to 1,000,000,000,000.')
  await wholeNumber.waitFor()
  await page.getByText('Use at most 120 characters.').waitFor()
  expect(await isFocused(page, field(page, 'User id'))).toBe(true)
  // Groups with errors are expanded.
  await page.getByText('Enter a whole number from 0 to 255.').waitFor()
  await page.getByText('Enter percentages from 1 to 100').waitFor()
  await page.getByText('A key has up to 64 of these characters').waitFor()
  expect(await field(page, 'Name').inputValue()).toBe(long)
  expect(await field(page, 'Priority').getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page.locator('form'))

  await field(page, 'User id').fill('24')
  await field(page, 'Limit').fill('99999999999999999999')
  await field(page, 'Name').fill(SCRIPT)
  await field(page, 'Alerts').fill('')
  await field(page, 'Priority').fill('1')
  await field(page, 'Key 1').fill('a')
  await field(page, 'External reference').fill('K-1')
  await create(page).click()
  await page.getByText('Use at most 120 characters.').waitFor({ state: 'detached' })
  await wholeNumber.waitFor()
  await field(page, 'Limit').fill('10')
  await create(page).click()
  const link = page.getByRole('link', { name: `Open quota ${existing.body.id}` })
  await link.waitFor()
  expect(await isFocused(page, field(page, 'External reference'))).toBe(true)
  await field(page, 'External reference').fill('K-2')
  await create(page).click()
  expect(await created(page, SCRIPT)).toMatchObject({ limit: 10, alert_at: [], metadata: { a: '' } })
})

test('a double click, or a retry after a lost response, creates one quota', async () => {
  const page = await site.visit(`${NEW}?user_id=25`)
  await field(page, 'Limit').fill('10')
  await create(page).dblclick()
  await created(page, /^Grant/)
  expect(await quotasOf(25)).toHaveLength(1)

  // The answer to the second click may still be on its way, and leads to the quota.
  await page.goto(`${site.url}/console${NEW}?user_id=26`)
  await field(page, 'Limit').fill('10')
  await loseResponse(page, '**/api/sms/admin/quota')
  await create(page).click()
  const alert = page.getByRole('alert').filter({ hasText: 'The request may have been processed' })
  await alert.waitFor()
  await create(page).click()
  await created(page, /^Grant/)
  expect(await quotasOf(26)).toHaveLength(1)

  // With changed input, the user confirms that it is another quota.
  await goTo(page, `${NEW}?user_id=27`)
  await field(page, 'Limit').fill('10')
  await loseResponse(page, '**/api/sms/admin/quota')
  await create(page).click()
  await alert.waitFor()
  await field(page, 'Limit').fill('20')
  await create(page).click()
  await page.getByText('An earlier request of this form already created a quota').waitFor()
  expect(await page.locator(':focus').getAttribute('role')).toBe('alert')
  await page.getByRole('button', { name: 'Create another quota' }).click()
  await created(page, /^Grant/)
  expect((await quotasOf(27)).map(({ limit }: { limit: number }) => limit)).toEqual([10, 20])
})

/** The service processes the next request, but the browser gets no response. */
async function loseResponse(page: Page, url: string): Promise<void> {
  await page.route(
    url,
    async route => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
}

test('is accessible and fits 1280 and 360 px', async () => {
  const page = await site.visit(`${NEW}?user_id=7`)
  await field(page, 'Limit').fill('1000')
  await field(page, 'Name').fill(`${RTL}${'x'.repeat(10_000)}`)
  await expandAll(page)
  // With its first month, and the first day, which months have, too.
  await page.getByLabel('Resets').selectOption('year')
  await page.getByRole('combobox', { name: 'First month' }).waitFor()
  await page.getByRole('table').waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
})
