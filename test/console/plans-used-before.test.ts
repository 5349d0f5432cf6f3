import { expect, test } from 'vitest'
import { expectAccessibleInEachLayout, startSite } from '../support/browser.ts'

const site = await startSite()
const { call } = site
const PLANS = '/api/sms/admin/plans'
const MONTHLY = { slot: 'monthly', limit: 100, period: 'month' }

/** A plan, and a user of it who has used 70 of 100 units. */
async function sender(user: number) {
  const { id } = (await call('POST', PLANS, { body: { name: `Plan ${user}`, slots: [MONTHLY] } })).body
  await call('PUT', `/api/sms/admin/users/${user}/plan`, { body: { plan_id: id } })
  const body = { user_id: user, id: 'm-1', units: 70 }
  await call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body })
  return id
}
const slotOf = async (user: number) => (await call('GET', `/api/sms/admin/users/${user}/plan`)).body.slots[0]
const quotaOf = async (user: number) =>
  (await call('GET', `/api/sms/admin/quota/${(await slotOf(user)).quota_id}`)).body

test('a plan begins on the day each user got it, and its roll-out says what counts on, or is given twice', async () => {
  const id = await sender(801)
  const page = await site.visit(`/plans/${id}/edit`)
  await page.locator('summary').filter({ hasText: 'monthly' }).click()
  await page.getByRole('combobox', { name: 'First day' }).selectOption('The day on which the user gets the plan')
  await page.getByText('resets on the day the user got the plan at 00:00').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('1 user has an earlier version than 2').waitFor()
  expect((await call('GET', `${PLANS}/${id}`)).body.slots).toMatchObject([{ anchor: 'joined' }])

  await page.getByRole('button', { name: 'Roll out…' }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('New quotas begin with what these users have used in a window that is still open: 801').waitFor()
  await page.getByText('(monthly: 70)').waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByRole('checkbox', { name: 'New quotas begin anew' }).check()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('1 user changes; 1 user gets used units again.').waitFor()
  await page.getByText('These users get again what they have used in a window that is still open: 801').waitFor()
  await expectAccessibleInEachLayout(page.getByRole('region', { name: 'Roll out' }))
  await page.getByRole('button', { name: 'Roll out to 1 user' }).click()
  await page.getByText('1 user changed', { exact: true }).waitFor()
  expect(await quotaOf(801)).toMatchObject({ used: 0, anchor: String(new Date(site.clock.now).getUTCDate()) })
})

test('a plan that is given again goes on, or begins anew', async () => {
  const id = await sender(802)
  const take = () => call('DELETE', '/api/sms/admin/users/802/plan')
  for (const [isFresh, used, text] of [
    [false, 70, 'Has “Plan 802” now: 1 new (1 with what was used before), 0 changed, 0 ended.'],
    [true, 0, 'Has “Plan 802” now: 1 new, 0 changed, 0 ended.'],
  ] as const) {
    await take()
    const page = await site.visit('/users/802')
    await page.getByRole('button', { name: 'Give a plan…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Plan' }).selectOption(String(id))
    if (isFresh) await dialog.getByRole('checkbox', { name: 'New quotas begin anew' }).check()
    await dialog.getByRole('button', { name: 'Give plan' }).click()
    await page.getByText(text).waitFor()
    expect(await quotaOf(802)).toMatchObject({ used })
  }
})
