import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessibleInEachLayout, startSite } from '../support/browser.ts'

const site = await startSite()
for (let n = 1; n <= 45; n++) {
  const isCap = n % 9 === 0
  const body = {
    user_id: n % 5,
    kind: isCap ? 'cap' : 'grant',
    name: `Quota ${n}`,
    limit: n * 1_000,
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
  const page = await site.visit(LIST)
  await untilListed(page, down(45, 26))
  const row = page.getByRole('row').filter({ hasText: 'Quota 44' })
  await row.getByText('4,400 used · 39,600 left').waitFor()
  const expires = row.locator('time').last()
  expect(await expires.textContent()).toBe('14 Jan 2027, 01:00')
  expect(await expires.getAttribute('title')).toBe('2027-01-14 00:00:00 UTC')
  await page.getByText('1–20 of 45').waitFor()
})

test('pages through the list, keeps the page in the URL, and goes back', async () => {
  const page = await site.visit(LIST)
  await untilListed(page, down(45, 26))
  await page.getByRole('button', { name: 'Next' }).click()
  await untilListed(page, down(25, 6))
  expect(page.url()).toBe(`${site.url}/console/quotas?page=2`)
  await page.getByRole('button', { name: 'Last' }).click()
  await untilListed(page, down(5, 1))
  expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
  await page.goBack()
  await untilListed(page, down(25, 6))
  await page.reload()
  await untilListed(page, down(25, 6))
  await page.getByLabel('Rows').selectOption('50')
  await untilListed(page, down(45, 1))
  expect(page.url()).toBe(`${site.url}/console/quotas?page_size=50`)
})

test('filters by user, status and kind', async () => {
  const page = await site.visit(`${LIST}?page=2`)
  await page.getByLabel('Kind').selectOption('Caps')
  await untilListed(page, [45, 36, 27, 18, 9])
  await page.getByLabel('User id').fill('4')
  await page.keyboard.press('Enter')
  await untilListed(page, [9])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByLabel('Status').selectOption('Suspended')
  await untilListed(page, [40, 30, 20, 10])
  expect(page.url()).toBe(`${site.url}/console/quotas?status=suspended`)
  await page.getByLabel('User id').fill('many')
  await page.getByText('Enter a whole number').waitFor()
  await page.goBack()
  await untilListed(page, down(45, 26))
})

test('sorts by columns', async () => {
  const page = await site.visit(`${LIST}?user_id=4`)
  await untilListed(page, [44, 39, 34, 29, 24, 19, 14, 9, 4])
  await page.getByRole('button', { name: 'Usage' }).click()
  await untilListed(page, [4, 9, 14, 19, 24, 29, 34, 39, 44])
  expect(await page.getByRole('columnheader', { name: 'Usage' }).getAttribute('aria-sort')).toBe('ascending')
  await page.getByRole('button', { name: 'Usage' }).click()
  await untilListed(page, [44, 39, 34, 29, 24, 19, 14, 9, 4])
  await page.getByLabel('User id').fill('')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Expires' }).click()
  await untilListed(page, [41, 42, 43, 44, 45, ...Array.from({ length: 15 }, (_, index) => index + 1)])
})

test('ignores invalid parameters in the URL', async () => {
  const page = await site.visit(`${LIST}?page=-1&page_size=9999&status=odd&user_id=x&sort=name`)
  await untilListed(page, down(45, 26))
  await page.goto(`${site.url}/console/quotas?page=99`)
  await page.getByText('This page is past the end of the list.').waitFor()
  await page.goto(`${site.url}/console/quotas?sort=remaining`)
  await page.getByRole('alert').filter({ hasText: 'possible only for a single user' }).waitFor()
})

test('filters and navigates by keyboard', async () => {
  const page = await site.visit(LIST)
  await untilListed(page, down(45, 26))
  await page.keyboard.press('Tab')
  expect(await page.locator(':focus').textContent()).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.locator(':focus').textContent()).toBe('New quota')
  await page.keyboard.press('Tab')
  await page.keyboard.type('3')
  await page.keyboard.press('Enter')
  await untilListed(page, [43, 38, 33, 28, 23, 18, 13, 8, 3])
  // A new page gets the focus at its top.
  await page.getByRole('link', { name: 'New quota' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'New quota' }).waitFor()
  await page.locator('main:focus').waitFor()
})

test('is accessible and fits 1280 and 360 px', async () => {
  const page = await site.visit(LIST)
  await untilListed(page, down(45, 26))
  await expectAccessibleInEachLayout(page)
})

test('on a narrow screen the navigation opens, navigates and closes', async () => {
  const page = await site.visit(LIST, { viewport: { width: 360, height: 740 } })
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' })
  await untilListed(page, down(45, 26))
  expect(await link.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await link.waitFor({ state: 'hidden' })
})
