/** Units are handed on and given back, and users are called by their names. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  expectAccessible,
  expectAccessibleInEachLayout,
  expectFits,
  follow,
  goTo,
  startSite,
} from '../support/browser.ts'

const site = await startSite()
const { call } = site
const ADMIN = '/api/sms/admin'
const UUID = '7d3c2a52-6f6b-4f0e-9b7a-0c1f2e3d4b5a'

const quotaOf = async (id: number) => (await call('GET', `${ADMIN}/quota/${id}`)).body
const named = (user: number, body: object) => call('PUT', `${ADMIN}/users/${user}/profile`, { body })

/** A grant of 2,000 units a month. */
async function grantOf(user_id: number): Promise<number> {
  const body = { user_id, limit: 2_000, period: 'month', name: `Package ${user_id}` }
  return (await call('POST', `${ADMIN}/quota`, { body })).body.id
}

/** Loses the answer of the first call to a path, after the service has made the change. */
async function loseAnswer(page: Page, path: string): Promise<void> {
  let isLost = false
  await page.route(path, async route => {
    if (isLost) return route.continue()
    isLost = true
    await route.fetch()
    await route.abort()
  })
}

test('moves 500 units to a branch, once although the first answer is lost, and 200 back', async () => {
  const [mother, branch] = [await grantOf(131), 132]
  await named(131, { name: 'Example Ltd' })
  await named(branch, { name: 'Branch in Lyon', ref: UUID })
  const page = await site.visit(`/quotas/${mother}`)
  await page.getByRole('button', { name: 'Hand units on' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hand units on' })
  await dialog.getByRole('textbox', { name: 'To', exact: true }).fill('branch in')
  await dialog.getByRole('button', { name: 'Branch in Lyon (132)' }).click()
  const units = dialog.getByLabel('Units')
  await units.fill('2001')
  await dialog.getByRole('button', { name: 'Hand units on' }).click()
  await dialog.getByText('Only 2,000 units can go now.').waitFor()
  await units.fill('500')
  await dialog.getByLabel('Reason').fill('Branch')
  await dialog.getByText('Branch in Lyon (132) gets a grant of 500 units').waitFor()
  await expectAccessibleInEachLayout(dialog)
  await loseAnswer(page, `**/quota/${mother}/transfer`)
  const submit = dialog.getByRole('button', { name: 'Hand units on' })
  await submit.click()
  await dialog.getByText('The change is applied only once.').waitFor()
  await submit.click()
  await page.getByRole('status').filter({ hasText: '500 units handed on to Branch in Lyon (132).' }).waitFor()
  await page.getByText('500 used · 1,500 left').waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  const changes = page.getByRole('list', { name: 'Changes' }).getByRole('listitem')
  await expect.poll(() => changes.first().textContent()).toMatch(/^500 units handed on to Branch in Lyon \(132\) by /)

  await follow(page, '/users/132/transfers')
  await page.getByRole('heading', { level: 1, name: 'Branch in Lyon (132)' }).waitFor()
  const row = page.getByRole('row').filter({ hasText: 'From Example Ltd (131)' })
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await row.getByRole('button').click()
  const back = page.getByRole('dialog', { name: 'Give units back' })
  await back.getByText('500 units now').waitFor()
  await back.getByLabel('Units').fill('501')
  expect(await back.getByRole('status').textContent()).toBe('')
  await back.getByRole('button', { name: 'Give back' }).click()
  await back.getByText('Only 500 units can go now.').waitFor()
  await back.getByLabel('Units').fill('200')
  await back.getByText('Example Ltd (131) then has 1,700 units left, Branch in Lyon (132) keeps 300.').waitFor()
  await back.getByLabel('Reason').fill('Too many')
  await back.getByRole('button', { name: 'Give back' }).click()
  await page.getByText('Of 500 units, 200 are given back now.').waitFor()
  await row.getByText('200 given back').waitFor()
  await follow(page, `/quotas/${mother}?view=history`)
  await changes.first().getByText('200 units came back from Branch in Lyon (132)').waitFor()
  await changes.first().getByText('Too many').waitFor()
  await follow(page, '/users/131/transfers')
  await page.getByRole('button', { name: 'Take back, of 500 units' }).waitFor()

  const { items } = (await call('GET', `${ADMIN}/transfers?user_id=${branch}`)).body
  expect(items).toMatchObject([{ user_id: 131, units: 500, returned: 200, reason: 'Branch' }])
  expect(await quotaOf(mother)).toMatchObject({ used: 300 })
  expect(await quotaOf(items[0].to_quota_id)).toMatchObject({ user_id: branch, limit: 300 })
  await follow(page, `/quotas/${items[0].to_quota_id}?view=history`)
  await changes.first().getByText('200 units given back to Example Ltd (131)').waitFor()
  await changes.filter({ hasText: 'Branch' }).getByText('500 units handed on by Example Ltd (131)').waitFor()
})

test('a profile is edited, and lists and the search then show the name', async () => {
  await grantOf(140)
  const page = await site.visit('/users/140/profile')
  await page.getByRole('heading', { level: 1, name: 'User 140' }).waitFor()
  await page.getByRole('button', { name: 'Edit the profile' }).click()
  const dialog = page.getByRole('dialog')
  const save = dialog.getByRole('button', { name: 'Save' })
  await named(141, { ref: 'taken' })
  await dialog.getByLabel('Reference').fill('taken')
  await dialog.getByLabel('Name').fill('Nordwind GmbH')
  await dialog.getByLabel('E-mail').fill('no address')
  await save.click()
  await dialog.getByText('Enter an address such as ann@example.com.').waitFor()
  await dialog.getByLabel('E-mail').fill('ann@example.com')
  await save.click()
  await dialog.getByText('Another user has this reference').waitFor()
  await dialog.getByLabel('Reference').fill('customer-140')
  await expectAccessible(dialog)
  // Another administrator is faster.
  await named(140, { name: 'Nordwind', language: 'de' })
  await save.click()
  await dialog.getByText('Now “Nordwind”.').waitFor()
  expect(await dialog.getByLabel('Language').inputValue()).toBe('de')
  await save.click()
  await page.getByRole('heading', { level: 1, name: 'Nordwind GmbH (140)' }).waitFor()
  await page.getByRole('button', { name: 'Edit the profile' }).click()
  expect(await dialog.getByLabel('Reference').isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await follow(page, '/quotas')
  const filter = page.getByLabel('User', { exact: true })
  const filterBy = async (text: string) => {
    await filter.fill(text)
    await filter.press('Enter')
  }
  await filterBy('ref:nothing')
  await page.getByText('No user was found.').waitFor()
  await filterBy('ref:customer-140')
  await page.waitForURL('**/quotas?user_id=140')
  // Two users have names that begin so.
  await named(141, { name: 'Nordlicht' })
  await filterBy('nord')
  await page.getByText('Several users were found.').waitFor()
  const list = page.locator(`datalist[id="${await filter.getAttribute('list')}"] option`)
  const options = await list.evaluateAll(all => all.map(option => option.getAttribute('value')))
  expect(options).toEqual(['Nordlicht (141)', 'Nordwind GmbH (140)'])
  await filterBy('Nordlicht (141)')
  await page.waitForURL('**/quotas?user_id=141')
  await filterBy('nordwind gmbh')
  await page.waitForURL('**/quotas?user_id=140')
  await page.getByRole('cell', { name: 'Nordwind GmbH (140)' }).waitFor()
  await follow(page, '/users')
  await page.getByLabel('Id, reference or name').fill('ref:customer-14')
  await page.getByRole('row').filter({ hasText: 'customer-140' }).getByRole('link', { name: 'Nordwind' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('nordw')
  await page.getByRole('option', { name: 'Nordwind GmbH (140)' }).waitFor()
  await page.getByRole('dialog').getByRole('combobox').fill('ref:customer-140')
  await page.getByRole('option', { name: 'Nordwind GmbH (140)' }).waitFor()
  await page.keyboard.press('Escape')
  await follow(page, '/users/140/changes')
  await page.getByRole('row').filter({ hasText: 'customer-140' }).getByText('Nordwind →').waitFor()
})

test('in German, transfers fit 360 px, in the menu of a row, too', async () => {
  const id = await grantOf(150)
  await named(150, { name: 'Überlandwerke' })
  const page = await site.visit('/users/150', { locale: 'de-DE', viewport: { width: 360, height: 800 } })
  await page.getByRole('button', { name: 'Aktionen für Package 150' }).click()
  await page.getByRole('menuitem', { name: 'Einheiten übertragen' }).click()
  const dialog = page.getByRole('dialog', { name: 'Einheiten übertragen' })
  await dialog.getByRole('textbox', { name: 'An', exact: true }).fill('151')
  await dialog.getByText('Über Benutzer 151 ist noch nichts bekannt.').waitFor()
  await dialog.getByLabel('Einheiten').fill('10')
  await expectAccessibleInEachLayout(dialog)
  await dialog.getByRole('button', { name: 'Einheiten übertragen' }).click()
  await page.getByText('10 Einheiten an Benutzer 151 übertragen.').waitFor()
  await goTo(page, '/users/150/transfers')
  const handOn = page.getByRole('button', { name: 'Einheiten übertragen' })
  await handOn.click()
  await dialog.getByText('Package 150').waitFor()
  await page.keyboard.press('Escape')
  await grantOf(150)
  await goTo(page, '/users/150/changes')
  await page.reload()
  await goTo(page, '/users/150/transfers')
  await handOn.click()
  await page.getByRole('menuitem').nth(1).click()
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  for (const path of ['/users/150/transfers', '/users/150/profile', `/quotas/${id}?view=history`]) {
    await goTo(page, path)
    await expectFits(page)
  }
})
