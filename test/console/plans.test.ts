import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessibleInEachLayout, expectFits, goTo, reopen, startSite } from '../support/browser.ts'

const site = await startSite()
const { call } = site
const PLANS = '/api/sms/admin/plans'

const region = (page: Page, name: string) => page.getByRole('region', { name })
const planOf = async (id: number) => (await call('GET', `${PLANS}/${id}`)).body
const quotasOf = async (user: number) =>
  (await call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=id`)).body.items
const give = (user: number, plan_id: number) => call('PUT', `/api/sms/admin/users/${user}/plan`, { body: { plan_id } })
const consume = (user_id: number, units: number, country?: string) =>
  call('POST', '/api/sms/sender/quota/consume', {
    token: site.senderToken,
    body: { user_id, id: `m-${user_id}-${country ?? 'any'}`, units, country },
  })

async function make(name: string, slots: object[]): Promise<number> {
  const answer = await call('POST', PLANS, { body: { name, slots } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

test('the sample becomes the default plan, which a new user gets with the first message', async () => {
  // Those of other tests.
  for (const { id } of (await call('GET', PLANS)).body.items) await call('DELETE', `${PLANS}/${id}`)
  const page = await site.visit('/plans')
  await page.getByRole('link', { name: 'Begin with a sample' }).click()
  await page.getByRole('checkbox', { name: 'Default plan' }).check()

  // What the service refuses is shown at the field of the slot, which opens.
  await page.getByText('At most 50 units each day').click()
  const daily = page.getByRole('group', { name: 'daily' })
  await daily.getByRole('textbox', { name: 'Limit' }).fill('many')
  await page.getByText('Enter a limit').click()
  await daily.getByRole('textbox', { name: 'Limit' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Create plan' }).click()
  await daily.getByText('Enter a whole number from 0').waitFor()
  expect(await page.locator(':focus').inputValue()).toBe('many')
  await daily.getByRole('textbox', { name: 'Limit' }).fill('40')
  await page.getByText('At most 10 units each day to all countries except Germany').click()
  const abroad = page.getByRole('group', { name: 'abroad' })
  await abroad.getByText('Scope').click()
  // The home country is replaced: the cap stays one for messages abroad.
  const countries = abroad.getByRole('combobox', { name: 'Countries' })
  await countries.press('Backspace')
  await page.getByText('At most 10 units each day, resets').waitFor()
  expect(await abroad.getByLabel('All countries except these').isChecked()).toBe(true)
  await countries.fill('austria')
  await countries.press('Enter')
  await countries.fill('ie')
  await countries.press('Enter')
  await page.getByText('to all countries except Austria and Ireland').waitFor()
  await page.getByRole('button', { name: 'Create plan' }).click()

  await page.getByRole('heading', { level: 1, name: 'Basic' }).waitFor()
  await page.getByText('No user has this plan').waitFor()
  await page.getByText('New users get it with their first message').waitFor()
  const id = Number(new URL(page.url()).pathname.split('/').at(-1))
  expect(await planOf(id)).toMatchObject({ is_default: true, version: 1, slots: [{}, { limit: 40 }, { limit: 10 }] })
  const granted = async (units: number, country: string) => (await consume(700, units, country)).body.granted
  await expect.poll(() => granted(11, 'FR')).toBe(false)
  expect(await Promise.all([granted(11, 'IE'), granted(10, 'DE')])).toEqual([true, true])
  expect((await call('GET', '/api/sms/admin/users/700/plan')).body.plan).toEqual({ id, name: 'Basic', version: 1 })
})

test('a changed plan is rolled out after a preview in words, and a limit that was set by hand stays', async () => {
  const id = await make('Standard', [
    { slot: 'monthly', name: 'Package', limit: 100, period: 'month' },
    { slot: 'daily', kind: 'cap', limit: 50, period: 'day' },
  ])
  for (const user of [711, 712, 713]) await give(user, id)
  const [negotiated] = await quotasOf(711)
  await call('PUT', `/api/sms/admin/quota/${negotiated.id}`, { body: { limit: 150 } })
  expect((await consume(712, 30)).body.granted).toBe(true)

  const page = await site.visit(`/plans/${id}/edit`)
  for (const [slot, limit] of [
    ['monthly', '200'],
    ['daily', '30'],
  ] as const) {
    await page
      .locator('summary')
      .filter({ hasText: slot === 'monthly' ? 'Package' : slot })
      .click()
    await page.getByRole('group', { name: slot }).getByRole('textbox', { name: 'Limit' }).fill(limit)
  }
  // Someone else saves first.
  await call('PUT', `${PLANS}/${id}`, { body: { name: 'Standard 2027' } })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'This plan was changed by someone else' }).waitFor()
  await page.getByText('Name: Standard → Standard 2027').waitFor()
  // The answer to the save is lost, and the same save again is not a conflict.
  await page.route(
    `**${PLANS}/${id}`,
    async route => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await page.getByRole('button', { name: 'Save mine on top' }).click()
  await page.getByText('Your input is kept').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('3 users have an earlier version than 3').waitFor()

  await page.getByRole('button', { name: 'Roll out…' }).click()
  await page.getByRole('textbox', { name: 'Reason' }).fill('Spring offer')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page
    .getByText('3 users change; 1 would be over their new limit; 1 quota keeps a value that was changed by hand.')
    .waitFor()
  const rows = await region(page, 'Roll out').getByRole('row').allTextContents()
  expect(rows.slice(1).toSorted()).toEqual([
    'Package: Limit 100 units → 200 units · daily: Limit 50 units → 30 units712, 713',
    'Package: keeps Limit 150 units · daily: Limit 50 units → 30 units711',
  ])
  await expectAccessibleInEachLayout(region(page, 'Roll out'))

  // Another change comes between the preview and the roll-out: what was not shown is not given.
  await call('PUT', `${PLANS}/${id}`, { body: { name: 'Standard 2028' } })
  await page.getByRole('button', { name: 'Roll out to 3 users' }).click()
  await page.getByRole('alert').getByText('The plan now has version 4.').waitFor()
  expect((await planOf(id)).users).toEqual([{ version: 1, users: 3 }])

  // The whole answer is lost: under the same key it goes on, and counts those who have got the plan.
  const keys: (string | undefined)[] = []
  await page.route('**/roll-out', async route => {
    keys.push(route.request().headers()['idempotency-key'])
    await (keys.length === 1 ? route.fetch().then(() => route.abort()) : route.continue())
  })
  await page.getByRole('button', { name: 'Roll out to 3 users' }).click()
  await page.getByText('3 users changed', { exact: true }).waitFor()
  expect(new Set(keys).size).toBe(1)
  await region(page, 'Roll out').getByRole('button', { name: 'Close' }).click()
  await page.getByText('All who have the plan have version 4.').waitFor()
  const { body: audit } = await call('GET', '/api/sms/admin/audit?user_id=712&page_size=1')
  expect(audit.items).toMatchObject([{ action: 'updated', reason: 'Spring offer' }])
  const limits = async (user: number) => (await quotasOf(user)).map(({ limit }: { limit: number }) => limit)
  expect(await Promise.all([711, 712, 713].map(limits))).toEqual([
    [150, 30],
    [200, 30],
    [200, 30],
  ])

  // Named users get it whichever plan they have; the list is still there after a look at the preview.
  await call('PUT', '/api/sms/admin/users/715/profile', { body: { ref: 'customer-715' } })
  await page.getByRole('button', { name: 'Roll out…' }).click()
  await page.getByLabel('Who gets it').selectOption('Users of a list')
  const list = page.getByRole('textbox', { name: 'Users' })
  await list.fill('714 Ada')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('“Ada” is neither an id').waitFor()
  await list.fill('713, ref:customer-999')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('No user has the reference customer-999.').waitFor()
  await list.fill('713, 714\nref:customer-715')
  await expectAccessibleInEachLayout(region(page, 'Roll out'))
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('2 users change; 1 user already has all of it.').waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
  expect(await list.inputValue()).toContain('customer-715')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('button', { name: 'Roll out to 2 users' }).waitFor()
  keys.length = 0
  await page.getByRole('button', { name: 'Roll out to 2 users' }).click()
  await page.getByText('2 users changed · 1 already had this version').waitFor()
  expect(keys).toHaveLength(2)
  await region(page, 'Roll out').getByRole('button', { name: 'Close' }).click()

  await goTo(page, '/users/711/changes')
  await page.getByRole('table').locator('summary').first().click()
  await page.getByText('Plan Standard 2028, version 1 → 4').waitFor()
  await goTo(page, `/plans/${id}`)

  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('monthly, Limit: 100 units → 200 units').waitFor()
  await page.getByRole('link', { name: 'Overview' }).last().click()
  await page.getByRole('link', { name: 'Open in the quota list' }).click()
  await page.getByRole('row').nth(10).waitFor()
  expect(await page.getByRole('row').count()).toBe(11)
  await page.getByLabel('Plan').filter({ hasText: 'Standard 2028, version 4' }).waitFor()
})

test('a user is given a plan, keeps what was changed by hand or gives it up, and loses the plan', async () => {
  const id = await make('Pro', [{ slot: 'monthly', limit: 300, period: 'month' }])
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 721, limit: 5, name: 'Own' } })
  const page = await site.visit('/users/721')
  const plan = page.getByRole('group', { name: 'Plan' })
  await plan.getByText('No plan').waitFor()
  await plan.getByRole('button', { name: 'Give a plan…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Give plan' }).click()
  await dialog.getByText('Choose a plan').last().waitFor()
  await dialog.getByLabel('Plan').selectOption('Pro, version 1')
  await dialog.getByText('300 units each month').waitFor()
  await dialog.getByRole('checkbox', { name: 'New quotas begin anew' }).waitFor()
  await dialog.getByRole('button', { name: 'Give plan' }).click()
  await plan.getByText('Has “Pro” now: 1 new, 0 changed, 0 ended.').waitFor()
  await plan.getByText('Plan Pro, version 1').waitFor()

  const [, monthly] = await quotasOf(721)
  await page
    .getByRole('link', { name: `Grant ${monthly.id}` })
    .first()
    .click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Limit' }).fill('350')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('button', { name: 'Adjust limit' }).waitFor()
  await page.getByRole('link', { name: 'User 721' }).first().click()
  await plan.getByText('Changed by hand, and kept by later versions: monthly (Limit)').waitFor()
  const slots = [{ slot: 'monthly', limit: 400, period: 'month' }]
  await call('PUT', `${PLANS}/${id}`, { body: { slots } })
  await reopen(page)
  await plan.getByText('version 2 is newer').waitFor()
  await plan.getByRole('button', { name: 'Change…' }).click()
  await dialog.getByLabel('Give up the values that were changed by hand').check()
  await dialog.getByRole('button', { name: 'Give plan' }).click()
  await plan.getByText('Has “Pro” now: 0 new, 1 changed, 0 ended.').waitFor()
  expect(await quotasOf(721)).toMatchObject([{ plan: null }, { limit: 400, plan: { version: 2 } }])

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('pro')
  await page.getByRole('group', { name: 'Plans' }).getByRole('option', { name: 'Pro' }).click()
  await page.getByRole('heading', { level: 1, name: 'Pro' }).waitFor()
  await page.goBack()
  await page
    .getByRole('link', { name: `Grant ${monthly.id}` })
    .first()
    .click()
  await page.getByText('by the plan Pro, version 2').waitFor()
  await page.goBack()
  await plan.getByRole('button', { name: 'Take away…' }).click()
  await dialog.getByRole('button', { name: 'Take plan away' }).click()
  await plan.getByText('No plan').waitFor()
  expect((await call('GET', '/api/sms/admin/users/721/plan')).body.plan).toBeNull()
})

test('in German: a plan is archived, in words that fit 360 px', async () => {
  const id = await make('Übergangstarif', [{ slot: 'welcome', limit: 100, lasts_days: 30, name: 'Willkommen' }])
  await give(731, id)
  const page = await site.visit(`/plans/${id}`, { locale: 'de-DE' })
  await page.getByText('100 Einheiten insgesamt; endet nach 30 Tagen').waitFor()
  await page.getByText('Alle, die den Tarif haben, haben Fassung 1.').waitFor()
  await expectFits(page)
  await page.getByRole('button', { name: 'Archivieren …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Diesen Tarif archivieren' })
  await dialog.getByText('1 Benutzer hat ihn und behält ihn mit den Kontingenten.').waitFor()
  await dialog.getByRole('button', { name: 'Tarif archivieren' }).click()
  await page.getByText('Kein weiterer Benutzer bekommt ihn. Wer ihn hat').waitFor()
  expect(await planOf(id)).toMatchObject({ archived: true, users: [{ version: 1, users: 1 }] })
  await page.getByRole('link', { name: 'Tarife' }).click()
  await page.getByLabel('Anzeigen').selectOption('Archivierte Tarife')
  await page.getByRole('link', { name: 'Übergangstarif' }).waitFor()
})
