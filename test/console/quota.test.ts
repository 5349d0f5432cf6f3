import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { expectAccessible, expectAccessibleInEachLayout, goTo, reopen, startSite } from '../support/browser.ts'
import { expectNoHorizontalScroll } from '../support/horizontal-scroll.ts'

const site = await startSite()

const QUOTA = '/api/sms/admin/quota'
const SCRIPT = '<script>alert(1)</script>'
async function make(body: object): Promise<{ id: number; version: number }> {
  const answer = await site.call('POST', QUOTA, { body: { user_id: 7, limit: 1_000, ...body } })
  expect(answer.status).toBe(201)
  return answer.body
}
const quotaNow = async (id: number) => (await site.call('GET', `${QUOTA}/${id}`)).body
const lastChange = async (id: number) => (await site.call('GET', `${QUOTA}/${id}/history`)).body.items[0]
const consume = (userId: number, id: string, units: number) =>
  site.call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body: { user_id: userId, id, units } })

const field = (page: Page, label: string) => page.getByRole('textbox', { name: label })
const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
const untilSaved = (page: Page) => page.getByRole('button', { name: 'Adjust limit' }).waitFor()

test('shows usage and settings, and links to the user', async () => {
  const { id } = await make({
    user_id: 31,
    name: 'Monthly package',
    period: 'month',
    time_zone: 'Europe/Berlin',
    rollover_limit: 200,
    countries: ['DE'],
    opening_used: 640,
  })
  const page = await site.visit(`/quotas/${id}`)
  await heading(page, 'Monthly package')
  await page.getByText('640 used · 360 left').waitFor()
  await page
    .getByText('1,000 units each month to Germany, resets on the 1st at 00:00 Europe/Berlin; up to 200 unused units')
    .waitFor()
  await page.getByText('Germany (DE)').waitFor()
  const start = page.locator('time').first()
  expect([await start.textContent(), await start.getAttribute('title')]).toEqual([
    '15 Mar 2026, 13:00',
    expect.stringContaining('2026-03-15 12:00:00 UTC'),
  ])
  expect(await page.getByRole('link', { name: 'user 31' }).getAttribute('href')).toBe('/console/users/31')
})

test('suspends and resumes a quota, after saying what that does', async () => {
  const grant = await make({ user_id: 35, name: 'Switched', limit: 5_000, opening_used: 100 })
  const cap = await make({ user_id: 35, name: 'Nothing today', kind: 'cap', limit: 10, period: 'day' })
  await consume(35, 'm1', 10)
  const page = await site.visit(`/quotas/${cap.id}`)
  await press(page, 'Suspend')
  const dialog = page.getByRole('dialog', { name: 'Suspend this cap' })
  await dialog.getByText('This lifts a limit.').waitFor()
  await dialog.getByText('User 35 can then send 4,890 units now instead of 0.').waitFor()
  await dialog.getByRole('button', { name: 'Suspend cap' }).click()
  await dialog.getByText('Tick the box to confirm that the limit is lifted.').waitFor()
  await expectAccessible(dialog)
  expect(await quotaNow(cap.id)).toMatchObject({ enabled: true })
  await dialog.getByLabel('Lift this limit of user 35').check()
  await dialog.getByRole('button', { name: 'Suspend cap' }).click()
  await page.getByRole('status').filter({ hasText: 'Suspended: the cap limits nothing.' }).waitFor()
  expect(await quotaNow(cap.id)).toMatchObject({ enabled: false, status: 'suspended' })
  const summary = await site.call('GET', '/api/sms/admin/quota/summary?user_id=35')
  expect(summary.body.available).toBe(4_890)
  await press(page, 'Resume')
  await page.getByRole('status').filter({ hasText: 'Resumed: the cap limits again.' }).waitFor()
  expect(await quotaNow(cap.id)).toMatchObject({ enabled: true, version: 3 })

  // A grant needs no consent, but the dialog names the units.
  await goTo(page, `/quotas/${grant.id}`)
  await press(page, 'Suspend')
  const other = page.getByRole('dialog', { name: 'Suspend this grant' })
  await other.getByText('4,890 units left cannot be used any more.').waitFor()
  await other.getByText('User 35 cannot send anything now, with or without this quota.').waitFor()
  await other.getByRole('button', { name: 'Suspend grant' }).click()
  await page.getByRole('status').filter({ hasText: 'Suspended: senders cannot use it.' }).waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Suspended by “1” (you)' }).waitFor()
})

test('adjusts a limit by keyboard, keeps it over Escape, and goes below the usage only after a confirmation', async () => {
  const { id } = await make({ name: 'Adjusted', opening_used: 600 })
  const page = await site.visit(`/quotas/${id}`)
  const { keyboard } = page
  await page.getByRole('link', { name: 'History' }).click()
  await page.goBack()
  await page.getByRole('button', { name: 'Adjust limit' }).focus()
  await keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Adjust the limit' })
  await dialog.getByLabel('Remove units').focus()
  await keyboard.press('Space')
  await keyboard.press('Tab')
  await keyboard.type('500')
  await keyboard.press('Escape')
  await dialog.getByText('The limit goes from 1,000 to 500.').waitFor()
  await dialog.getByText('0 are then left now instead of 400').waitFor()
  await keyboard.press('Enter')
  await dialog.getByText('Enter a reason of 1 to 500 characters.').waitFor()
  await page.mouse.click(5, 5)
  await dialog.getByRole('textbox', { name: 'Reason' }).focus()
  await keyboard.type(SCRIPT)
  // The buttons of the browser ask before they lose the input.
  const asked: string[] = []
  page.once('dialog', question => {
    asked.push(question.message())
    void question.dismiss()
  })
  await page.evaluate('history.forward()')
  await expect.poll(() => asked).toEqual(['Your input is not saved. Leave this page and lose it?'])
  expect(await dialog.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe(SCRIPT)
  await keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'Below usage' }).waitFor()
  await expectAccessible(dialog)
  expect(await quotaNow(id)).toMatchObject({ limit: 1_000 })
  await dialog.getByRole('button', { name: 'Set limit anyway' }).focus()
  await keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: 'The limit is now 500.' }).waitFor()
  expect(await quotaNow(id)).toMatchObject({ limit: 500, status: 'exhausted' })
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText(SCRIPT).waitFor()
  const change = await lastChange(id)
  expect(change).toMatchObject({ reason: SCRIPT, actor: '1' })
  await page.getByText(change.request_id).waitFor()
  const item = page.getByRole('listitem').filter({ hasText: SCRIPT })
  expect(await item.locator('dl').textContent()).toBe('Limit1,000 units → 500 units')
  await item.getByText('Limit adjusted').waitFor()
})

test('adds units for one window only, as a grant that ends with it', async () => {
  const { id } = await make({
    user_id: 36,
    name: 'Monthly',
    period: 'month',
    rollover_limit: 500,
    countries: ['DE'],
    priority: 7,
  })
  const page = await site.visit(`/quotas/${id}`)
  await press(page, 'Adjust limit')
  const dialog = page.getByRole('dialog', { name: 'Adjust the limit' })
  await dialog.getByRole('button', { name: '-500' }).click()
  await dialog.getByText('The limit goes from 1,000 to 500.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  await press(page, 'Adjust limit')
  await dialog.getByRole('button', { name: '-500' }).click()
  // Amounts add up.
  const units = dialog.getByRole('textbox', { name: 'Units' })
  await dialog.getByRole('button', { name: '+500' }).click()
  expect(await units.inputValue()).toBe('')
  await dialog.getByRole('button', { name: '+100', exact: true }).click()
  await dialog.getByRole('button', { name: '+100', exact: true }).click()
  expect(await units.inputValue()).toBe('200')
  await dialog.getByText('The limit goes from 1,000 to 1,200.').waitFor()
  await dialog.getByRole('button', { name: '+500' }).click()
  await dialog.getByRole('button', { name: '-100', exact: true }).click()
  await dialog.getByRole('button', { name: '-100', exact: true }).click()
  await dialog.getByText('It counts this month and in every later one.').waitFor()
  await dialog.getByLabel('This month only').check()
  await dialog.getByText('This adds a one-time grant of 500 units that ends on 1 April 2026').waitFor()
  await dialog.getByRole('button', { name: 'Goodwill' }).click()
  await expectAccessible(dialog)
  await dialog.getByRole('button', { name: 'Add units', exact: true }).click()
  await page.getByRole('status').filter({ hasText: '500 units added, as a grant of their own.' }).waitFor()
  const list = (await site.call('GET', '/api/sms/admin/quota/list?user_id=36')).body.items
  expect(list).toMatchObject([
    {
      name: 'Extra units: Monthly',
      limit: 500,
      period: null,
      expires_at: '2026-04-01T00:00:00.000Z',
      countries: ['DE'],
      // It pays before the grant, whose units roll over.
      priority: 6,
      metadata: { extends_quota: String(id), reason: 'Goodwill' },
    },
    { id, limit: 1_000, version: 1 },
  ])
})

test('raises a cap for today only, also over a break, with a limit at all times and one entry in the changes', async () => {
  const user_id = 38
  await make({ user_id, name: 'Bundle', limit: 10_000 })
  const cap = await make({ user_id, name: 'Daily', kind: 'cap', limit: 100, period: 'day', external_ref: 'D-38' })
  const sendable = async () => (await site.call('GET', `${QUOTA}/summary?user_id=${user_id}`)).body.available
  await consume(user_id, 'm1', 90)
  const page = await site.visit(`/quotas/${cap.id}`)
  await press(page, 'Adjust limit')
  const dialog = page.getByRole('dialog', { name: 'Adjust the limit' })
  await dialog.getByRole('button', { name: '+500' }).click()
  await dialog.getByText('It counts today and on every later day.').waitFor()
  await dialog.getByLabel('Today only').check()
  await dialog.getByText('The limit is 600 until 16 March 2026 at 01:00').waitFor()
  await dialog.getByText('and then 100 again.').waitFor()
  await dialog.getByRole('button', { name: 'Goodwill' }).click()
  await expectAccessible(dialog)

  // The last step does not reach the service: the old limit holds, now and tomorrow.
  await page.route('**/adjust', route => route.abort(), { times: 1 })
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()
  await dialog.getByRole('alert').waitFor()
  expect(await sendable()).toBe(10)
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('The cap is raised.').waitFor()
  expect(await sendable()).toBe(510)
  await page.getByText('Raised to 600 until 16 Mar 2026, 01:00, then 100 again').waitFor()
  await page.getByText('Followed by the cap:').waitFor()

  // Raised once more on the same day.
  await press(page, 'Adjust limit')
  await dialog.getByText('It is already raised for today only. What you add counts until then, too.').waitFor()
  const follows = dialog.getByRole('link', { name: 'To raise it for good, adjust the cap that follows.' })
  const following = (await site.call('GET', `${QUOTA}/${cap.id}`)).body.metadata.continued_by
  expect(await follows.getAttribute('href')).toBe(`/console/quotas/${following}`)
  await dialog.getByRole('button', { name: '+1,000' }).click()
  await dialog.getByText('The limit is 1,600 until 16 March 2026 at 01:00').waitFor()
  await dialog.getByText('and then 100 again.').waitFor()
  expect(await dialog.getByText('every later day').count()).toBe(0)
  await page.keyboard.press('Escape')

  await goTo(page, `/users/${user_id}/changes`)
  await expect
    .poll(() => page.getByRole('row').allTextContents())
    .toMatchObject([
      expect.anything(),
      expect.stringMatching(
        /^DailyRaised to 600 until 16 Mar 2026, 01:00, then 100 againand 3 more changes at once.+Goodwill/,
      ),
      expect.stringMatching(/^DailyCreated/),
      expect.stringMatching(/^BundleCreated/),
    ])
  await page.getByText('and 3 more changes at once').click()
  const raising = page.getByRole('row').filter({ hasText: 'Goodwill' })
  await raising.getByText(`Followed by the cap: Quota ${following}`).waitFor()
  expect(await raising.getByText('Limit before the raise: 100').count()).toBe(1)
  expect(await raising.getByText('Metadata').count()).toBe(0)
  await expectAccessible(page.getByRole('table'))
  await goTo(page, `/quotas?user_id=${user_id}`)
  const rows = page.getByRole('row')
  await rows.getByText('Raised to 600 until 16 Mar 2026, 01:00, then 100 again').waitFor()
  await rows.getByText('From 16 Mar 2026, 01:00, after the raised limit').waitFor()

  await goTo(page, `/quotas/${cap.id}?view=history`)
  const changes = page.getByRole('list', { name: 'Changes' })
  await expect
    .poll(() => changes.locator(':scope > li').allTextContents())
    .toMatchObject([
      expect.stringMatching(/^Limit adjusted.*Goodwill.*and 1 more change at once/),
      expect.stringContaining('Created'),
    ])

  const clock = site.clock.now
  site.clock.now += DAY_MS
  expect(await sendable()).toBe(100)
  const { items } = (await site.call('GET', `${QUOTA}/list?user_id=${user_id}&kind=cap`)).body
  expect(items).toMatchObject([
    { limit: 100, status: 'active', external_ref: 'D-38', metadata: { continues_quota: String(cap.id) } },
    { id: cap.id, limit: 600, status: 'expired', external_ref: null },
  ])
  site.clock.now = clock
  const [{ id: next }] = items
  await goTo(page, `/quotas/${next}`)
  await page.getByRole('link', { name: `Quota ${cap.id}` }).click()
  await page.waitForURL(`${site.url}/console/quotas/${cap.id}`)
})

test('support staff adjust within their bound, and auditors change nothing', async () => {
  const { id } = await make({ name: 'Supported', period: 'month' })
  const page = await site.visit(`/quotas/${id}`, {
    token: await site.token({ sub: '8', roles: ['sms-quota:support'] }),
  })
  await press(page, 'Adjust limit')
  const dialog = page.getByRole('dialog', { name: 'Adjust the limit' })
  await dialog.getByText('Your role may change a user’s limits by up to 1,000 units a day.').waitFor()
  await dialog.getByRole('textbox', { name: 'Units' }).fill('1001')
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('too much')
  expect(await dialog.getByRole('button', { name: 'Adjust limit' }).isDisabled()).toBe(true)
  await dialog.getByRole('button', { name: 'Ask an administrator' }).click()
  await page.getByRole('status').filter({ hasText: 'Administrators are asked for the units.' }).waitFor()
  await press(page, 'Adjust limit')
  await dialog.getByRole('button', { name: '+1,000' }).click()
  await dialog.getByLabel('This month only').check()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Goodwill')
  await dialog.getByRole('button', { name: 'Add units' }).click()
  await page.getByRole('status').filter({ hasText: '1,000 units added, as a grant of their own.' }).waitFor()
  await press(page, 'Adjust limit')
  await dialog.getByRole('button', { name: '+100' }).click()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('more')
  await dialog.getByRole('button', { name: 'Adjust limit' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'in the last 24 hours' }).waitFor()
  await dialog.getByRole('button', { name: 'Ask an administrator' }).click()
  await page.getByRole('status').filter({ hasText: 'Administrators are asked for the units.' }).waitFor()
  expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0)

  const auditor = await site.token({ sub: '9', roles: ['sms-quota:auditor'] })
  await goTo(page, `/quotas/${id}?view=edit`, auditor)
  await page.getByRole('link', { name: 'History' }).waitFor()
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
})

test('an edit sends only the changed settings', async () => {
  const { id } = await make({ name: 'Edited', period: 'day', rollover_limit: 5, metadata: { a: '1', b: '2' } })
  const page = await site.visit(`/quotas/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await heading(page, 'Edit Edited')
  expect(await page.getByRole('combobox', { name: 'Time zone' }).count()).toBe(0)
  await page.getByLabel('Cannot be changed').getByText('Each day').waitFor()
  await field(page, 'Limit').fill('2000')
  // Leaving asks first.
  page.once('dialog', dialog => dialog.dismiss())
  await page.getByRole('link', { name: 'Quotas', exact: true }).click()
  expect(await field(page, 'Limit').inputValue()).toBe('2000')
  const [sent] = await Promise.all([
    page.waitForRequest(request => request.method() === 'PUT'),
    press(page, 'Save changes'),
  ])
  expect(sent.postDataJSON()).toEqual({ limit: 2_000 })
  expect(sent.headers()['if-match']).toBe('"1"')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({
    limit: 2_000,
    rollover_limit: 5,
    metadata: { a: '1', b: '2' },
    version: 2,
  })

  // Without changes nothing is sent. The back button returns to the form.
  await page.getByRole('link', { name: 'Edit' }).click()
  await press(page, 'Save changes')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({ version: 2 })
  await page.goBack()
  await heading(page, 'Edit Edited')
})

test('an edit below the usage needs a confirmation', async () => {
  const { id } = await make({ name: 'Lowered', opening_used: 600 })
  const page = await site.visit(`/quotas/${id}?view=edit`)
  await field(page, 'Limit').fill('100')
  await press(page, 'Save changes')
  await page.getByRole('alert').filter({ hasText: 'Units already used stay used' }).waitFor()
  expect(await quotaNow(id)).toMatchObject({ limit: 1_000 })
  await press(page, 'Set limit anyway')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({ limit: 100, status: 'exhausted', overage: 500 })
})

test('an edit conflict shows both versions, and the user chooses for settings changed by both', async () => {
  const { id } = await make({ name: 'Contested', metadata: { a: '1' } })
  const page = await site.visit(`/quotas/${id}?view=edit`)
  await field(page, 'Limit').fill('2000')
  await field(page, 'Name').fill('Mine')
  const other = await site.token({ sub: `9 ${SCRIPT}`, roles: ['sms-quota:admin'] })
  const body = { limit: 3_000, priority: 5, metadata: { a: '2' } }
  await site.call('PUT', `${QUOTA}/${id}`, { token: other, body })
  await press(page, 'Save changes')
  await page.getByRole('heading', { level: 2, name: 'This quota was changed by someone else' }).waitFor()
  await page.getByText(`“9 ${SCRIPT}”`).waitFor()
  await expectAccessible(page.getByRole('region', { name: 'This quota was changed by someone else' }))
  const choices = (name: string) => page.getByRole('radiogroup', { name })
  expect(await page.getByText('Changed by both: choose one').count()).toBe(1)
  expect(await choices('Name').getByLabel('Keep mine: Mine').isChecked()).toBe(true)
  expect(await choices('Priority').getByLabel('Use theirs: 5').isChecked()).toBe(true)
  const save = page.getByRole('button', { name: 'Save over version 2' })
  expect(await save.isDisabled()).toBe(true)
  await choices('Limit').getByLabel('Keep mine: 2,000 units').focus()
  await page.keyboard.press('Space')
  expect(await page.locator(':focus').getAttribute('value')).toBe('mine')

  // Another change before this one is saved.
  await site.call('PUT', `${QUOTA}/${id}`, { token: other, body: { limit: 4_000 } })
  await save.click()
  await page.getByRole('button', { name: 'Save over version 3' }).waitFor()
  await choices('Limit').getByLabel('Use theirs: 4,000 units').check()
  await press(page, 'Save over version 3')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({
    name: 'Mine',
    limit: 4_000,
    priority: 5,
    metadata: { a: '2' },
    version: 4,
  })
})

test('keeps the input of an edit if the service is not responding', async () => {
  const { id } = await make({ name: 'Away' })
  const page = await site.visit(`/quotas/${id}?view=edit`)
  await field(page, 'Name').fill('Still here')
  await page.route('**/api/**', route => route.abort())
  await press(page, 'Save changes')
  await page.getByRole('alert').filter({ hasText: 'Your input is kept' }).waitFor()
  expect(await field(page, 'Name').inputValue()).toBe('Still here')
  await page.unroute('**/api/**')
  await press(page, 'Save changes')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({ name: 'Still here' })
})

test('deletes after a confirmation, and shows the history of the deleted quota', async () => {
  const { id } = await make({ user_id: 32, name: 'Unwanted' })
  const page = await site.visit(`/quotas/${id}`)
  await press(page, 'Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete this grant' })
  await dialog.getByText('1,000 units left cannot be used any more.').waitFor()
  const confirmation = dialog.getByLabel(`Type the name, or the id ${id}, to delete it`)
  await confirmation.fill('yes')
  await page.keyboard.press('Enter')
  await dialog.getByText(`Type the name of this quota, or its id ${id}.`).waitFor()
  await expectAccessible(dialog)
  expect(await quotaNow(id)).toMatchObject({ status: 'active' })
  await confirmation.fill('Unwanted')
  // Another change before the deletion, so the confirmed version is outdated.
  await site.call('PUT', `${QUOTA}/${id}`, { body: { limit: 5 } })
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'Confirm again to delete it' }).waitFor()
  await page.getByText('5 left').waitFor()
  await dialog.getByRole('button', { name: 'Delete grant' }).click()
  await page.getByText('This quota is deleted.').waitFor()
  await heading(page, 'Unwanted')
  expect((await site.call('GET', `${QUOTA}/${id}`)).status).toBe(404)
  expect(await page.getByRole('listitem').filter({ hasText: 'Version' }).count()).toBe(3)
  await page.getByText('5 unused units lost').waitFor()
  await page.getByRole('link', { name: 'Past windows' }).click()
  await page.getByText('No past windows').waitFor()
  await expectAccessible(page.getByRole('main'))

  await goTo(page, '/quotas/999999')
  await heading(page, 'Quota 999999 not found')
  await goTo(page, '/quotas/01')
  await heading(page, 'Page not found')
})

test('deleting a cap names what becomes possible, and what is worth little needs no typed name', async () => {
  const user_id = 40
  const grant = await make({ user_id, name: 'Almost used up', opening_used: 950 })
  const cap = await make({ user_id, name: 'Ceiling', kind: 'cap', limit: 10, period: 'day' })
  const page = await site.visit(`/quotas/${cap.id}`)
  await press(page, 'Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete this cap' })
  await dialog.getByText('This lifts a limit.').waitFor()
  await dialog.getByText('User 40 can then send 50 units now instead of 10.').waitFor()
  await dialog.getByText('The cap limits user 40 no longer. This cannot be undone.').waitFor()
  await dialog.getByRole('button', { name: 'Delete cap' }).click()
  await dialog.getByText(`Type the name of this quota, or its id ${cap.id}.`).waitFor()
  await dialog.getByLabel('Type the name').fill(String(cap.id))
  await dialog.getByRole('button', { name: 'Delete cap' }).click()
  await page.getByText('This quota is deleted.').waitFor()

  await goTo(page, `/quotas/${grant.id}`)
  await press(page, 'Delete')
  const other = page.getByRole('dialog', { name: 'Delete this grant' })
  await other.getByText('50 units left cannot be used any more.').waitFor()
  expect(await other.getByRole('textbox').count()).toBe(0)
  await other.getByRole('button', { name: 'Delete grant' }).click()
  await page.getByText('This quota is deleted.').waitFor()
})

test('pages through past windows, with the cursor in the URL', async () => {
  const clock = site.clock.now
  const { id } = await make({
    user_id: 33,
    name: 'Daily',
    period: 'day',
    rollover_limit: 100,
    starts_at: '2026-03-01T00:00:00Z',
  })
  try {
    for (let day = 0; day < 22; day++) {
      await consume(33, `m${day}`, 100 + day)
      site.clock.now += DAY_MS
    }
    const page = await site.visit(`/quotas/${id}?view=windows`)
    const rows = page.getByRole('table', { name: 'Past windows' }).locator('tbody').getByRole('row')
    await rows.nth(19).waitFor()
    await rows.first().getByText('121 used · 979 left').waitFor()
    await press(page, 'Older')
    await rows.first().getByText('101 used').waitFor()
    expect(await rows.count()).toBe(2)
    expect(page.url()).toMatch(/\?view=windows&cursor=/)
    await page.goBack()
    await rows.first().getByText('121 used').waitFor()
    await page.goForward()
    await reopen(page)
    await rows.first().getByText('101 used').waitFor()
  } finally {
    site.clock.now = clock
  }
})

test('the list and the page of a quota are read again when a window ends', async () => {
  const user_id = 39
  for (const period of ['hour', 'day']) {
    await make({ user_id, kind: 'cap', name: `Each ${period}`, limit: 10, period })
  }
  await make({ user_id })
  await consume(user_id, 'm1', 10)
  const start = site.clock.now
  const page = await site.visit(`/quotas?user_id=${user_id}&kind=cap`, { now: start })
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('Each hour').getByText('Exhausted', { exact: true }).waitFor()
  await row('Each day').getByText('Exhausted', { exact: true }).waitFor()
  site.clock.now = start + 3_600_000
  await page.clock.fastForward(3_602_000)
  await row('Each hour').getByText('Active', { exact: true }).waitFor()
  await row('Each day').getByText('Exhausted', { exact: true }).waitFor()
  await row('Each day').getByRole('link').first().click()
  await page.getByText(/^10 used/).waitFor()
  site.clock.now = start + 86_400_000
  await page.clock.fastForward(86_402_000)
  await page.getByText(/^0 used/).waitFor()
  site.clock.now = start
})

test('hostile text fits 1280 and 360 px', async () => {
  const name = `\u202E${SCRIPT} שלום 😀${'x'.repeat(80)}`
  const metadata = { key: `${'y'.repeat(500)} 😀` }
  const { id } = await make({ user_id: 34, name, metadata, opening_used: 1_200, alert_at: [] })
  await site.call('POST', `${QUOTA}/${id}/adjust`, {
    body: { delta: 1, reason: 'z'.repeat(500), allow_below_usage: true },
  })
  const page = await site.visit(`/quotas/${id}`)
  for (const view of ['Settings', 'History', 'Past windows', 'Edit']) {
    await page.getByRole('link', { name: view, exact: true }).click()
    await heading(page, /<script>/)
    await page
      .getByText(/z{500}|No past windows|Save changes/)
      .or(page.getByText('key: y'))
      .first()
      .waitFor()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await expectNoHorizontalScroll(page)
    }
    if (view === 'History') await expectAccessibleInEachLayout(page.getByRole('list', { name: 'Changes' }))
    if (view === 'Edit') await expectAccessibleInEachLayout(page.locator('form'))
  }
})
