import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { expectAccessible, expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

/** What helps a blocked user, and what the user's page says of a cap that is raised until its window ends. */

const site = await startSite()
const { clock } = site

async function allow(body: object): Promise<number> {
  const answer = await site.call('POST', '/api/sms/admin/quota', { body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}
let messages = 0
async function ask(body: object, granted: boolean): Promise<void> {
  const answer = await site.call('POST', '/api/sms/sender/quota/consume', {
    token: site.senderToken,
    body: { id: `m-${messages++}`, ...body },
  })
  expect(answer.body).toMatchObject({ granted })
}
const DAILY = { kind: 'cap', period: 'day', time_zone: 'Europe/Berlin' }

test('a blocked user gets what was asked for, for today only, and the page says what comes after', async () => {
  const user_id = 40
  await allow({ user_id, limit: 5_000, name: 'Package' })
  await allow({ user_id, ...DAILY, limit: 100, name: 'Ceiling' })
  await allow({ user_id, kind: 'cap', limit: 0, countries: ['NG'] })
  await ask({ user_id, units: 100 }, true)
  await ask({ user_id, units: 120 }, false)
  await ask({ user_id, units: 120, country: 'FR' }, false)
  // Blocked on purpose: a higher cap would not let it pass.
  await ask({ user_id, units: 900, country: 'NG' }, false)

  const page = await site.visit(`/users/${user_id}`, { now: clock.now })
  const status = page.getByRole('region', { name: 'Can this user send?' })
  await status.getByRole('button', { name: 'Raise “Ceiling”' }).click()
  const dialog = page.getByRole('dialog', { name: 'Raise the daily cap of user 40' })
  const demand = '340 units were asked for: 100 granted, 240 denied because of a cap. Each attempt counts.'
  await dialog.getByText(`Today, ${demand}`).waitFor()
  expect(await dialog.getByLabel('Today only').isChecked()).toBe(true)
  expect(await dialog.getByLabel('Remove units').count()).toBe(0)
  await dialog.getByRole('button', { name: '+100', exact: true }).click()
  await dialog.getByRole('button', { name: '+240 covers what was denied' }).click()
  expect(await dialog.getByRole('textbox', { name: 'Units to add' }).inputValue()).toBe('240')
  await dialog.getByText('The limit is 340 until 16 March 2026').waitFor()
  await dialog.getByRole('button', { name: 'Cap too low' }).click()
  await expectAccessible(dialog)
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()

  await status.getByText('Can send: 240 units now').waitFor()
  const raised = 'The daily cap is 340 until 16 Mar 2026, 00:00, and then 100.'
  await status.getByText(raised).waitFor()
  const quotas = page.getByRole('table', { name: 'Quotas' })
  await quotas.getByText('Raised to 340 until 16 Mar 2026, 00:00, then 100 again').waitFor()
  await ask({ user_id, units: 240 }, true)
  await page.clock.fastForward(30_000)
  await status.getByText('the daily cap of 340 is used up').waitFor()
  await status.getByText(raised).waitFor()
  await expectAccessibleInEachLayout(status)
  await page.getByText('Cap: 100 units each day').waitFor()

  // Units of a grant would not help.
  await page.getByRole('button', { name: 'Give units' }).click()
  const giving = page.getByRole('dialog', { name: 'Add units for user 40' })
  await giving.getByText('More units do not help now: the daily cap of 340 is used up.').waitFor()
  expect(await giving.getByRole('link', { name: 'To the cap' }).getAttribute('href')).toMatch(/\/quotas\/\d+$/)
  const units = giving.getByRole('textbox', { name: 'Units to add' })
  await expect.poll(() => units.evaluate(field => field.matches(':focus'))).toBe(true)

  await goTo(page, '/mine', await site.userToken(user_id))
  await page.getByText('The daily limit is 340 until 16 Mar 2026, 00:00, and then 100.').waitFor()
  await page.getByRole('button', { name: 'Ask for more…' }).click()
  const asking = page.getByRole('dialog', { name: 'Ask for more units' })
  await asking.getByText('More units do not help now: the daily limit of 340 is used up.').waitFor()
  await asking.getByText('If the limit itself should be raised, say so in the reason.').waitFor()
})

test('a used-up grant says what was asked for this month, and gets units for this month', async () => {
  const user_id = 42
  await allow({ user_id, limit: 50, period: 'month' })
  await ask({ user_id, units: 40 }, true)
  await ask({ user_id, units: 10 }, true)
  await ask({ user_id, units: 30 }, false)
  const page = await site.visit(`/users/${user_id}`, { now: clock.now })
  await page.getByRole('button', { name: 'Add units' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add units for user 42' })
  const demand = '80 units were asked for: 50 granted, 30 denied because of too few units.'
  await dialog.getByText(`This month, ${demand}`).waitFor()
  await dialog.getByRole('button', { name: '+30 covers what was denied' }).click()
  await dialog.getByText('This adds a one-time grant of 30 units').waitFor()
  await dialog.getByRole('button', { name: 'Goodwill' }).click()
  await dialog.getByRole('button', { name: 'Add units' }).click()
  await page.getByText('Can send: 30 units now').waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Changes' }).click()
  await page
    .getByRole('row')
    .filter({ hasText: /Created: 30 units until 1 Apr 2026.+ · Version 1\+30Goodwill/ })
    .waitFor()
})

test('the forecast says which cap stops sending after the raise', async () => {
  const user_id = 41
  await allow({ user_id, limit: 5_000 })
  const last = clock.now + 14 * DAY_MS
  for (; clock.now < last; clock.now += DAY_MS) await ask({ user_id, units: 90 }, true)
  const until = '2026-03-29T22:00:00Z'
  await allow({ user_id, ...DAILY, limit: 500, expires_at: until, metadata: { raised_from: '50' } })
  await allow({ user_id, ...DAILY, limit: 50, starts_at: until })
  const page = await site.visit(`/users/${user_id}`, { now: clock.now })
  const text = 'at that rate, the daily cap, which is 50 again by then, stops sending around 30 March 2026.'
  await page.getByText(`About 83 units used per day; ${text}`).waitFor()
})

test('early in the day a raise is proposed that lasts for a day as busy as the last ones', async () => {
  const user_id = 43
  await allow({ user_id, limit: 5_000 })
  await allow({ user_id, ...DAILY, limit: 100, name: 'Ceiling' })
  await ask({ user_id, units: 100 }, true)
  await ask({ user_id, units: 110 }, false)
  clock.now += DAY_MS
  await ask({ user_id, units: 100 }, true)
  await ask({ user_id, units: 26 }, false)

  const page = await site.visit(`/users/${user_id}`, { now: clock.now })
  await page.getByRole('button', { name: 'Raise “Ceiling”' }).click()
  const dialog = page.getByRole('dialog', { name: 'Raise the daily cap of user 43' })
  const demand = '126 units were asked for: 100 granted, 26 denied because of a cap. Each attempt counts.'
  await dialog.getByText(`Today, ${demand} On the busiest of the last 7 days it was 210.`).waitFor()
  await dialog.getByText('On 1 of the last 7 days, units were denied as well.').waitFor()
  expect(await dialog.getByLabel('Today only').isChecked()).toBe(true)
  await dialog.getByRole('button', { name: '+110 covers the busiest of the last 7 days' }).click()
  await dialog.getByRole('button', { name: 'Customer request' }).click()
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()
  await page.getByText('Can send: 110 units now').waitFor()
  await page.getByText('The cap is raised.').waitFor()

  // Two caps have the same name from now on.
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  await page.getByRole('button', { name: 'Check' }).click()
  const said = page.getByRole('list', { name: 'What each quota says' }).getByRole('listitem')
  await said.filter({ hasText: 'Cap CeilingHas room, and counts 1' }).waitFor()
  await said.filter({ hasText: 'Cap CeilingDoes not count yet: follows the raised cap on' }).waitFor()
})

test('a cap that is too low on most days is raised for good', async () => {
  const user_id = 44
  await allow({ user_id, limit: 5_000 })
  await allow({ user_id, ...DAILY, limit: 100, name: 'Ceiling' })
  for (let day = 0; day <= 5; day++) {
    if (day > 0) clock.now += DAY_MS
    await ask({ user_id, units: 100 }, true)
    await ask({ user_id, units: 30 }, false)
  }
  const page = await site.visit(`/users/${user_id}`, { now: clock.now })
  await page.getByRole('button', { name: 'Raise “Ceiling”' }).click()
  const dialog = page.getByRole('dialog', { name: 'Raise the daily cap of user 44' })
  await dialog.getByText('On 5 of the last 7 days, units were denied as well.').waitFor()
  expect(await dialog.getByLabel('Every day from now on').isChecked()).toBe(true)
})
