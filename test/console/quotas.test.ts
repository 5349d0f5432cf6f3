import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  expectAccessible,
  expectAccessibleInEachLayout,
  expectWidestColumn,
  goTo,
  RETRY_MS,
  reopen,
  startSite,
} from '../support/browser.ts'
import { expectNoHorizontalScroll } from '../support/horizontal-scroll.ts'
import { START } from '../support/service.ts'

const site = await startSite()
for (let n = 1; n <= 45; n++) {
  const isCap = n % 9 === 0
  const body = {
    user_id: n % 5,
    kind: isCap ? 'cap' : 'grant',
    name: `Quota ${n}`,
    limit: n * 1_000,
    external_ref: `K-${n}`,
    countries: n % 22 === 0 ? ['DE', 'AT'] : null,
    enabled: n % 10 !== 0,
    expires_at: n > 40 ? `2027-01-${n - 30}T00:00:00Z` : null,
    ...(isCap ? {} : { opening_used: n * 100 }),
  }
  expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
}

const LIST = '/quotas'
const names = (page: Page) => page.getByRole('rowheader').getByRole('link').allTextContents()

/** Waits until the list shows exactly these quotas. */
const untilListed = (page: Page, numbers: number[]) =>
  expect.poll(() => names(page)).toEqual(numbers.map(n => `Quota ${n}`))

const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index)

test('lists the newest quotas first, with usage as text', async () => {
  const page = await site.visit(LIST, { now: START })
  await untilListed(page, down(45, 21))
  const row = page.getByRole('row').filter({ hasText: 'Quota 44' })
  await row.getByText('4,400 used · 39,600 left').waitFor()
  await row.getByText('in 10 months').waitFor()
  const expires = row.locator('time').last()
  expect(await expires.textContent()).toBe('14 Jan 2027, 01:00')
  expect(await expires.getAttribute('title')).toBe('in 10 months · Europe/Berlin · 2027-01-14 00:00:00 UTC')
  await page.getByText('1–25 of 45').waitFor()
})

test('pages through the list, keeps the page in the URL, and goes back', async () => {
  const page = await site.visit(LIST)
  await untilListed(page, down(45, 21))
  await page.getByRole('button', { name: 'Next' }).click()
  await untilListed(page, down(20, 1))
  expect(page.url()).toBe(`${site.url}/console/quotas?page=2`)
  expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
  await page.goBack()
  await untilListed(page, down(45, 21))
  await page.goForward()
  await reopen(page)
  await untilListed(page, down(20, 1))
  await page.getByLabel('Rows').selectOption('50')
  await untilListed(page, down(45, 1))
  expect(page.url()).toBe(`${site.url}/console/quotas?page_size=50`)
  // The heads of the columns stay in view.
  await page.getByRole('rowheader').filter({ hasText: 'Quota 1' }).last().scrollIntoViewIfNeeded()
  const top = (await page.getByRole('columnheader', { name: 'Status' }).boundingBox())?.y ?? Number.NaN
  expect(top).toBeGreaterThanOrEqual(0)
  expect(top).toBeLessThan(100)
})

test('filters by user, status, kind, name and reference', async () => {
  const page = await site.visit(`${LIST}?page=2`)
  await page.getByLabel('Kind').selectOption('Caps')
  await untilListed(page, [45, 36, 27, 18, 9])
  await page.getByLabel('User', { exact: true }).fill('4')
  await page.keyboard.press('Enter')
  await untilListed(page, [9])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByLabel('Status').selectOption('Suspended')
  await untilListed(page, [40, 30, 20, 10])
  expect(page.url()).toBe(`${site.url}/console/quotas?status=suspended`)
  await page.getByLabel('User', { exact: true }).fill('many')
  await page.getByText('No user was found. Enter an id, a name or a reference').waitFor()
  await page.goBack()
  await untilListed(page, down(45, 21))
  await page.getByLabel('Name').fill('quota 1')
  await page.keyboard.press('Enter')
  await untilListed(page, [...down(19, 10), 1])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  // A pause applies it, too.
  await page.getByLabel('User', { exact: true }).fill('9901')
  await page.getByText('User 9901 is unknown or has no quotas.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByLabel('Reference').fill('K-7')
  await page.keyboard.press('Enter')
  await untilListed(page, [7])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  const country = page.getByLabel('Country')
  await country.fill('+1')
  await page.keyboard.press('Enter')
  await page.getByText('Choose one country, such as Germany, DE or +49').waitFor()
  await country.fill('+43')
  await page.keyboard.press('Enter')
  await untilListed(page, [44, 22])
  expect(await country.inputValue()).toBe('Austria (AT, +43)')
  expect(page.url()).toBe(`${site.url}/console/quotas?country=AT`)
})

test('sorts by columns', async () => {
  const page = await site.visit(`${LIST}?user_id=4`)
  await untilListed(page, [44, 39, 34, 29, 24, 19, 14, 9, 4])
  const usage = page.getByRole('columnheader', { name: 'Usage' })
  await usage.getByRole('button').click()
  await expect.poll(async () => (await names(page)).at(-1)).toBe('Quota 9')
  expect(await usage.getAttribute('aria-sort')).toBe('descending')
  await usage.getByRole('button').click()
  await expect.poll(async () => (await names(page)).at(0)).toBe('Quota 9')
  // Sorting by usage needs a single user.
  await page.getByLabel('User', { exact: true }).fill('')
  await page.keyboard.press('Enter')
  await untilListed(page, down(45, 21))
  expect(await usage.getAttribute('aria-sort')).toBe(null)
  await page.getByRole('button', { name: 'Ends' }).click()
  await untilListed(page, [41, 42, 43, 44, 45, ...Array.from({ length: 20 }, (_, index) => index + 1)])
})

test('has views of its own, and saves others in this browser', async () => {
  const page = await site.visit(LIST, { now: Date.parse('2027-01-07T12:00:00Z') })
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'Ends this week' }).click()
  await untilListed(page, [41, 42, 43, 44])
  expect(await views.getByRole('link', { name: 'Ends this week' }).getAttribute('aria-current')).toBe('page')
  await page.getByLabel('User', { exact: true }).fill('3')
  await page.keyboard.press('Enter')
  await untilListed(page, [43])
  await views.getByRole('button', { name: 'Save this view' }).click()
  await page.keyboard.type('Caps')
  await views.getByText('A view already has this name').waitFor()
  await page.keyboard.type(' of three')
  await page.keyboard.press('Enter')
  await views.getByRole('link', { name: 'All' }).click()
  await reopen(page)
  await views.getByRole('link', { name: 'Caps of three' }).click()
  await untilListed(page, [43])
  await views.getByRole('button', { name: 'Remove the view Caps of three' }).click()
  await views.getByRole('link', { name: 'Caps of three' }).waitFor({ state: 'detached' })
})

test('keeps the choice of columns, and the density of all tables', async () => {
  const page = await site.visit(`${LIST}?user_id=4`)
  await untilListed(page, [44, 39, 34, 29, 24, 19, 14, 9, 4])
  await page.getByRole('button', { name: 'Columns' }).click()
  const options = page.getByRole('region', { name: 'Columns of the table' })
  await options.getByLabel('Reference').check()
  await options.getByLabel('Scope').check()
  await expectNoHorizontalScroll(page)
  await options.getByLabel('Limit').uncheck()
  await expectAccessible(options)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitemradio', { name: 'Compact' }).click()
  await reopen(page)
  await page.getByRole('columnheader', { name: 'Reference' }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Limit' }).count()).toBe(0)
  expect(await page.getByRole('table').getAttribute('data-density')).toBe('compact')
  await goTo(page, '/plans')
})

test('a filter in the URL that does not exist is named, instead of a list of all', async () => {
  const page = await site.visit(`${LIST}?status=odd&user_id=x&kind=cap`)
  await page.getByText('The address has filters that do not exist: user_id=x and status=odd').waitFor()
  expect(await page.getByRole('table').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Export CSV' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Show the list without filters' }).click()
  await untilListed(page, down(45, 21))
  await goTo(page, '/denials?reason=odd')
  await page.getByText('The address has a filter that does not exist: reason=odd').waitFor()

  // Other invalid parameters are ignored.
  await goTo(page, `${LIST}?page=-1&page_size=9999&sort=odd`)
  await untilListed(page, down(45, 21))
  await goTo(page, '/quotas?page=99')
  await page.getByText('This page is past the end of the list.').waitFor()
  await goTo(page, '/quotas?sort=remaining')
  await page.getByRole('alert').filter({ hasText: 'possible only for a single user' }).waitFor()
})

test('filters and navigates by keyboard', async () => {
  const page = await site.visit(LIST)
  await untilListed(page, down(45, 21))
  await page.keyboard.press('Tab')
  expect(await page.locator(':focus').textContent()).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.locator(':focus').textContent()).toBe('Columns')
  await page.getByLabel('User', { exact: true }).focus()
  await page.keyboard.type('3')
  await page.keyboard.press('Enter')
  await untilListed(page, [43, 38, 33, 28, 23, 18, 13, 8, 3])
  // A new page gets the focus at its top.
  await page.getByRole('link', { name: 'New quota' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'New quota' }).waitFor()
  await page.locator('main:focus').waitFor()
})

test('an auditor is offered only what reads', async () => {
  const token = await site.token({ sub: 'audit', roles: ['sms-quota:auditor'] })
  const page = await site.visit(`${LIST}?user_id=4`, { token })
  await untilListed(page, [44, 39, 34, 29, 24, 19, 14, 9, 4])
  expect(await page.getByRole('checkbox').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Import, give units (CSV)' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Actions for Quota 44' }).click()
  await page.getByRole('menuitem', { name: 'Open' }).waitFor()
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Open'])
})

test('is accessible and fits 1280 and 360 px', async () => {
  // A cap, grants that end or are suspended, and others: more rows only take more time.
  const page = await site.visit(`${LIST}?user_id=0`)
  await untilListed(page, [45, 40, 35, 30, 25, 20, 15, 10, 5])
  await expectWidestColumn(page.getByRole('table'), 'Quota')
  await expectAccessibleInEachLayout(page.getByRole('table'))
})

test('on a narrow screen the navigation opens, navigates and closes', async () => {
  const page = await site.visit(`${LIST}?user_id=0`, { viewport: { width: 360, height: 740 } })
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' })
  await page.getByRole('rowheader').first().waitFor()
  expect(await link.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await link.waitFor({ state: 'hidden' })

  // The search leads away, too; with Caps Lock, its key is a K.
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await link.waitFor()
  await page.keyboard.press('Control+K')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('Webhooks')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Webhooks & alerts' }).waitFor()
  await link.waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'Open navigation' }).click()
  await link.waitFor()
  await page.keyboard.press('Escape')
  await link.waitFor({ state: 'hidden' })
})

describe('changes of many', () => {
  const search = '/api/sms/admin/quota/list?user_id='
  const statuses = async (user: number) =>
    (await site.call('GET', `${search}${user}`)).body.items.map((quota: { status: string }) => quota.status)
  const limits = async (user: number) =>
    (await site.call('GET', `${search}${user}&sort=id`)).body.items.map((quota: { limit: number }) => quota.limit)

  beforeAll(async () => {
    for (let user = 100; user < 130; user++) {
      const package_ = { user_id: user, name: 'Package', limit: 1_000, period: 'month' }
      expect((await site.call('POST', '/api/sms/admin/quota', { body: package_ })).status).toBe(201)
    }
    const cap = { user_id: 100, kind: 'cap', name: 'Package cap', limit: 500, period: 'day' }
    expect((await site.call('POST', '/api/sms/admin/quota', { body: cap })).status).toBe(201)
  })

  test('all that match are suspended after a dry run, over pages, and resumed one by one', async () => {
    const page = await site.visit('/quotas?name=Package')
    await page.getByLabel('Select this page').check()
    await page.getByText('25 quotas selected').waitFor()
    await page.getByRole('button', { name: 'Select all 31 that match' }).click()
    await page.getByText('All 31 quotas that match are selected').waitFor()
    await page.getByRole('button', { name: 'Suspend…' }).click()
    await page.getByText('31 quotas would be suspended.').waitFor()
    await page.getByText('One of them is a cap: its limit is lifted').waitFor()
    const first = page.getByRole('table', { name: 'What would change: the first 20 of 31' })
    expect(await first.getByRole('rowheader').count()).toBe(20)
    await expectAccessible(page.getByRole('region').filter({ has: first }))
    await page.getByRole('button', { name: 'Show 11 more' }).click()
    const all = page.getByRole('table', { name: 'What would change', exact: true })
    await all.getByRole('row', { name: 'Package 129 Status: Active → Suspended' }).waitFor()
    expect(await all.getByRole('rowheader').count()).toBe(31)
    expect(await statuses(129)).toEqual(['active'])
    await page.getByRole('button', { name: 'Suspend 31 quotas' }).click()
    await page.getByText('31 of 31 · 31 changed · 0 unchanged · 0 failed').waitFor()
    expect(await statuses(100)).toEqual(['suspended', 'suspended'])
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download report' }).click()
    expect(await readFile(await (await download).path(), 'utf8')).toBe(
      'Where,Why\nTotal: 31,31 changed · 0 unchanged · 0 failed\n',
    )
    await page.getByRole('button', { name: 'Close' }).click()

    await page.getByLabel('Select Package', { exact: true }).first().check()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('26–31 of 31').waitFor()
    await page.locator('table[aria-busy=false]').waitFor()
    await page.getByLabel('Select Package', { exact: true }).first().check()
    await page.getByText('2 quotas selected').waitFor()
    await page.getByRole('button', { name: 'Resume…' }).click()
    await page.getByRole('button', { name: 'Resume 2 quotas' }).click()
    await page.getByText('2 of 2 · 2 changed').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()

    // Of chosen rows, those that would change are shown, too.
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByText('1–25 of 31').waitFor()
    await page.locator('table[aria-busy=false]').waitFor()
    await page.getByLabel('Select this page').check()
    await page.getByRole('button', { name: 'Resume…' }).click()
    await page.getByText('24 quotas would count again.').waitFor()
    await page.getByRole('button', { name: 'Show 4 more' }).click()
    await all.waitFor()
    expect(await all.getByRole('rowheader').count()).toBe(24)
    expect(await page.getByRole('button', { name: /^Show / }).count()).toBe(0)
  })

  test('units for this period only are shown before they are given', async () => {
    for (let user_id = 200; user_id < 225; user_id++) {
      const body = { user_id, name: 'Bundle', limit: 1_000, period: 'month', time_zone: 'Europe/Berlin' }
      expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
    }
    const page = await site.visit('/quotas?name=Bundle&sort=id', { now: START })
    await page.getByLabel('Select this page').check()
    await page.getByRole('button', { name: 'Adjust…' }).click()
    await page.getByRole('textbox', { name: 'Units' }).fill('250')
    await page.getByLabel('This period only').check()
    await page.getByLabel('Reason').fill('Goodwill')
    await page.getByRole('button', { name: 'Show what would change' }).click()
    await page.getByRole('table', { name: 'Who gets units: the first 20 of 25' }).waitFor()
    await page.getByRole('button', { name: 'Show 5 more' }).click()
    await page.getByRole('row', { name: '224 Bundle 1,000 1,250 1 Apr 2026, 00:00' }).waitFor()
    await page.getByRole('button', { name: 'Adjust 25 quotas' }).click()
    await page.getByText('25 of 25 · 25 created').waitFor()
    expect(await limits(224)).toEqual([1_000, 250])
  })

  test('a break of the connection is repaired, and nothing is changed twice', async () => {
    const page = await site.visit('/quotas?user_id=101', { now: site.clock.now })
    await page.getByLabel('Select this page').check()
    await page.getByRole('button', { name: 'Adjust…' }).click()
    await page.getByRole('textbox', { name: 'Units' }).fill('250')
    await page.getByLabel('Reason').fill('Goodwill')
    await page.getByRole('button', { name: 'Show what would change' }).click()
    await page.getByText('Limit: 1,000 → 1,250').waitFor()
    // The service makes the change, but its answer is lost.
    let calls = 0
    await page.route('**/admin/quota/bulk?dry_run=false', async route => {
      calls += 1
      if (calls > 1) return route.continue()
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.getByRole('button', { name: 'Adjust 1 quota' }).click()
    await page.getByText('Trying again…').waitFor()
    await page.clock.fastForward(RETRY_MS)
    await page.getByText('1 of 1 · 1 changed').waitFor()
    expect(calls).toBe(2)
    expect(await limits(101)).toEqual([1_250])
  })

  test('a change that a reload interrupts goes on under the same key', async () => {
    const page = await site.visit('/quotas?user_id=102')
    await page.getByLabel('Select this page').check()
    await page.getByRole('button', { name: 'Adjust…' }).click()
    await page.getByText('Remove units').click()
    await page.getByRole('textbox', { name: 'Units' }).fill('400')
    await page.getByLabel('Reason').fill('Booked by mistake')
    await page.getByRole('button', { name: 'Show what would change' }).click()
    // The service makes the change, and the page never learns of it.
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    await page.route('**/admin/quota/bulk?dry_run=false', route => route.fetch().then(() => resolve()))
    await page.getByRole('button', { name: 'Adjust 1 quota' }).click()
    await answered
    await page.reload()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    const notice = page.getByRole('region', { name: 'A change of 1 quota was interrupted.' })
    await notice.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('1 of 1 · 1 changed').waitFor()
    expect(await limits(102)).toEqual([600])
    await reopen(page)
    await page.getByLabel('Select this page').waitFor()
    expect(await notice.count()).toBe(0)
  })
})

test('the list of customers finds users by the beginning of an id, and says who is unknown', async () => {
  const page = await site.visit('/users')
  const search = page.getByLabel('Id, reference or name')
  await page.getByText('The service has not looked at all users yet').first().waitFor()
  await search.fill('10')
  await expect.poll(async () => (await names(page)).slice(0, 2)).toEqual(['100', '101'])
  await page.getByText('Nothing is known of user 10').waitFor()
  await search.fill('no-user')
  await page.getByText('No user has an id, a reference or a name that begins so').waitFor()
  await search.fill('4242')
  await page.getByRole('link', { name: 'New quota for user 4242' }).click()
  await page.waitForURL(`${site.url}/console/quotas/new?user_id=4242`)
})

test('speaks German, also in texts that files read as they are evaluated, and of changes of many', async () => {
  const page = await site.visit('/quotas?name=Quota+44', { locale: 'de-DE' })
  await page.getByRole('heading', { level: 1, name: 'Kontingente' }).waitFor()
  const row = page.getByRole('row').filter({ hasText: 'Quota 44' })
  await row.getByText('Aktiv', { exact: true }).waitFor()
  expect(await page.getByLabel('Status').locator('option').allTextContents()).toContain('Aufgebraucht')
  await goTo(page, '/quotas?kind=cap&user_id=100')
  await page.getByLabel('Package cap auswählen').check()
  await page.getByText('1 Kontingent ausgewählt').waitFor()
  await page.getByRole('button', { name: 'Anpassen …' }).click()
  await page.getByText('Abziehen').click()
  await page.getByRole('textbox', { name: 'Einheiten' }).fill('5000')
  await page.getByLabel('Grund').fill('Irrtum')
  await page.getByRole('button', { name: 'Zeigen, was sich ändern würde' }).click()
  await page.getByRole('cell', { name: /^Es hat kein Limit, oder das neue Limit läge nicht zwischen 0 und / }).waitFor()
  await page.getByRole('region').getByRole('button', { name: 'Zurück' }).click()
  await page.getByRole('button', { name: 'Abbrechen' }).click()
  await page.getByLabel('Package cap auswählen').check()
  await page.getByRole('button', { name: 'Löschen …' }).click()
  await page.getByText('Darunter ist eine Obergrenze: Sie fällt weg').waitFor()
  const confirm = page.getByRole('button', { name: '1 Kontingent löschen' })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel('Zur Bestätigung 1 eingeben').fill('1')
  expect(await confirm.isEnabled()).toBe(true)
  await expectAccessibleInEachLayout(page.getByRole('region').filter({ has: confirm }))
})
