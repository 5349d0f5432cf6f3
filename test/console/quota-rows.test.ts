import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const LIST = '/quotas?user_id=1'

async function make(body: object): Promise<number> {
  const answer = await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 1, limit: 100, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  site.clock.now += 1_000
  return answer.body.id
}
await make({ name: 'Package', external_ref: 'C', opening_used: 85 })
await make({ name: 'Late alert', external_ref: 'A', opening_used: 85, alert_at: [90] })
await make({ name: 'Used up', external_ref: 'B', opening_used: 100 })
await make({ name: 'Ceiling', kind: 'cap', period: 'day', message_types: ['otp'] })
await make({ name: 'Paused', opening_used: 50, enabled: false })
await make({ user_id: 6, name: 'Over', limit: 60, overage_limit: 40, opening_used: 40 })
const held = { user_id: 6, id: 'held', units: 60 }
expect((await site.call('POST', '/api/sms/sender/quota/reserve', { token: site.senderToken, body: held })).status).toBe(
  200,
)
await make({ name: 'Later', starts_at: '2027-01-01T00:00:00Z' })

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const names = (page: Page) =>
  page
    .getByRole('rowheader')
    .getByText(/^(?:Package|Late|Used|Ceil|Paused|Later)/)
    .allTextContents()

/** A part of the DOM, whose types the tests do not have. */
interface Styles {
  getComputedStyle(element: unknown): Readonly<Record<'color' | 'backgroundColor', string>>
}
const styleOf = (element: Locator, name: 'color' | 'backgroundColor') =>
  element.evaluate((of, property) => (globalThis as unknown as Styles).getComputedStyle(of)[property], name)

test('colors and icons tell caps from grants, what is near its limit or used up, and what does not count', async () => {
  const page = await site.visit(LIST)
  const kind = (name: string) => row(page, name).locator('[data-kind] svg')
  await kind('Ceiling').waitFor()
  expect(await row(page, 'Ceiling').locator('[data-kind]').textContent()).toBe('Cap')
  expect(await row(page, 'Package').locator('[data-kind]').textContent()).toBe('Grant')
  expect(await styleOf(kind('Ceiling'), 'color')).not.toBe(await styleOf(kind('Package'), 'color'))
  const drawing = (name: string) => kind(name).locator('path').getAttribute('d')
  expect(await drawing('Ceiling')).not.toBe(await drawing('Package'))

  // Amber begins at the first percent that alerts: 80, unless the quota says otherwise.
  const used = (name: string) => styleOf(row(page, name).locator('[data-part=used]'), 'backgroundColor')
  expect(await used('Package')).toBe('rgb(230, 119, 0)')
  expect(await used('Used up')).toBe('rgb(224, 49, 49)')
  expect(await used('Late alert')).toBe('rgb(66, 99, 235)')

  const active = await styleOf(row(page, 'Package'), 'backgroundColor')
  for (const [name, status] of [
    ['Paused', 'Suspended'],
    ['Later', 'Scheduled'],
  ] as const) {
    expect(await styleOf(row(page, name), 'backgroundColor'), name).not.toBe(active)
    const badge = row(page, name).locator('[data-icon]').filter({ hasText: status })
    expect(await badge.locator('svg').count(), name).toBe(1)
  }
  expect(await used('Paused')).toBe('rgb(134, 142, 150)')

  // Overage takes the place of what is reserved, then of what is used.
  await goTo(page, '/quotas?user_id=6')
  const parts = row(page, 'Over').locator('[data-part]')
  const widths = await parts.evaluateAll(all =>
    all.map(part => `${part.getAttribute('data-part')} ${part.getAttribute('style')}`),
  )
  expect(widths).toEqual(['used width: 40%;', 'reserved width: 20%;', 'overage width: 40%;'])

  // Customers read their own words, with the same icons.
  await goTo(page, '/mine', await site.userToken(1))
  const own = row(page, 'Ceiling').locator('[data-kind=cap]')
  await own.locator('svg').waitFor()
  expect(await own.textContent()).toBe('Limit')
  expect(await row(page, 'Late alert').locator('[data-kind=grant]').textContent()).toBe('Package')
})

test('sorts by name, reference and time of creation, and filters by message type', async () => {
  const page = await site.visit(LIST)
  await row(page, 'Package').waitFor()
  await page.getByRole('button', { name: 'Columns' }).click()
  const options = page.getByRole('region', { name: 'Columns of the table' })
  await options.getByLabel('Reference').check()
  await options.getByLabel('Created').check()
  const sortBy = (column: string) => page.getByRole('columnheader', { name: column }).getByRole('button').click()
  await sortBy('Quota')
  await expect.poll(() => names(page)).toEqual(['Ceiling', 'Late alert', 'Later', 'Package', 'Paused', 'Used up'])
  await sortBy('Reference')
  await expect.poll(async () => (await names(page)).slice(0, 3)).toEqual(['Late alert', 'Used up', 'Package'])
  await sortBy('Created')
  await expect.poll(() => names(page)).toEqual(['Later', 'Paused', 'Ceiling', 'Used up', 'Late alert', 'Package'])
  await sortBy('Created')
  await expect.poll(async () => (await names(page))[0]).toBe('Package')
  await page.getByLabel('Message type').fill('otp')
  await page.keyboard.press('Enter')
  await expect.poll(() => names(page)).toEqual(['Ceiling'])
})

test('a row adjusts, suspends, resumes and duplicates its quota, in the list and on the page of the user', async () => {
  const id = await make({ user_id: 2, name: 'Handled', period: 'month' })
  const page = await site.visit('/users/2')
  const act = async (action: string) => {
    await page.getByRole('button', { name: 'Actions for Handled' }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  const dialog = page.getByRole('dialog')
  const shown = row(page, 'Handled')
  await act('Adjust')
  await dialog.getByRole('button', { name: '+500' }).click()
  await dialog.getByRole('button', { name: 'Goodwill' }).click()
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()
  await shown.getByText('0 used · 600 left').waitFor()
  await page.getByText('Can send: 600 units now').waitFor()
  await page.getByRole('link', { name: 'Open in the quota list' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  await act('Suspend')
  await dialog.getByRole('button', { name: 'Suspend grant' }).click()
  await shown.getByText('Suspended').waitFor()
  await act('Resume')
  await page.getByRole('status').filter({ hasText: 'Handled counts again.' }).waitFor()
  const { body } = await site.call('GET', `/api/sms/admin/quota/${id}`)
  expect(body).toMatchObject({ limit: 600, enabled: true, version: 4 })
  await act('Duplicate')
  await page.waitForURL(`${site.url}/console/quotas/new?copy=${id}`)
  await page.getByText('A copy of Handled').waitFor()
})

test('a change of many says what fails and why, and makes the others', async () => {
  const ids = [await make({ user_id: 4, name: 'Pack 1' }), await make({ user_id: 4, name: 'Pack 2', opening_used: 85 })]
  const page = await site.visit('/quotas?user_id=4')
  await page.getByLabel('Select this page').check()
  await page.getByRole('button', { name: 'Adjust…' }).click()
  await page.getByText('Remove units', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Units' }).fill('50')
  await page.getByLabel('Reason').fill('Correction')
  await page.getByRole('button', { name: 'Show what would change' }).click()
  await page.getByText('1 quota cannot be changed:').waitFor()
  await page.getByRole('button', { name: 'Adjust 1 quota' }).click()
  await page.getByText('2 of 2 · 1 changed · 0 unchanged · 1 failed').waitFor()
  const failure = page.getByRole('table', { name: 'What cannot be changed' }).getByRole('row').nth(1)
  expect(await failure.textContent()).toBe(
    `Quota ${ids[1]} of user 4The new limit is below the units that are used and reserved.`,
  )
  const limits = await Promise.all(
    ids.map(async id => (await site.call('GET', `/api/sms/admin/quota/${id}`)).body.limit),
  )
  expect(limits).toEqual([50, 100])
})

test('the end of selected quotas is moved', async () => {
  const expires_at = '2027-01-31T00:00:00.000Z'
  const ids = [
    await make({ user_id: 3, name: 'Pack 1', expires_at }),
    await make({ user_id: 3, name: 'Pack 2', expires_at }),
  ]
  const page = await site.visit('/quotas?user_id=3')
  await page.getByLabel('Select this page').check()
  await page.getByRole('button', { name: 'Move the end…' }).click()
  await page.getByLabel('Later by').fill('2')
  await page.getByLabel('Unit of time').selectOption('weeks')
  await page.getByRole('button', { name: 'Show what would change' }).click()
  await page.getByRole('button', { name: 'Move the end of 2 quotas' }).click()
  await page.getByText('2 of 2 · 2 changed').waitFor()
  for (const id of ids)
    expect((await site.call('GET', `/api/sms/admin/quota/${id}`)).body.expires_at).toBe('2027-02-14T00:00:00.000Z')
})

test('a limit says what rolled over, so that it fits what is used and left', async () => {
  await make({ user_id: 5, name: 'Rolls over', limit: 1_500, period: 'day', rollover_limit: 500 })
  site.clock.now += DAY_MS
  await make({ user_id: 5, name: 'Extra units', limit: 500 })
  const used = { user_id: 5, id: 'rolled-1', units: 1_272 }
  await site.call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body: used })

  const page = await site.visit('/quotas?user_id=5')
  const rolling = row(page, 'Rolls over')
  await rolling.getByText('1,272 used · 728 left').waitFor()
  expect(await rolling.getByRole('cell', { name: '1,500' }).textContent()).toBe('1,500+ 500 rolled over')
  expect(await row(page, 'Extra units').getByText('rolled over').count()).toBe(0)
  await expectAccessibleInEachLayout(rolling)

  // Both grants together, with the rows that they are the sum of.
  await goTo(page, '/users/5')
  await page.getByText('Can send: 1,228 units now').waitFor()
  await row(page, 'Rolls over').getByText('+ 500 rolled over').waitFor()
})
