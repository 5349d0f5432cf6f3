import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time.ts'
import { expectAccessible, expectAccessibleWideAndNarrow, startSite } from '../support/browser.ts'

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

test('shows how it stands and all that is set, and leads to its user', async () => {
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
    .getByText('1,000 units each month to Germany, starting anew on the 1st at 00:00 Europe/Berlin; unused up to 200')
    .waitFor()
  await page.getByText('Germany (DE)').waitFor()
  const start = page.locator('time').first()
  expect([await start.textContent(), await start.getAttribute('title')]).toEqual([
    '15 Mar 2026, 13:00',
    '2026-03-15 12:00:00 UTC',
  ])
  expect(await page.getByRole('link', { name: 'user 31' }).getAttribute('href')).toBe('/console/users/31')
})

test('suspends and resumes with one press', async () => {
  const { id } = await make({ name: 'Switched' })
  const page = await site.visit(`/quotas/${id}`)
  await press(page, 'Suspend')
  await page.getByRole('status').filter({ hasText: 'It is suspended' }).waitFor()
  await page.getByText('Suspended', { exact: true }).waitFor()
  expect(await quotaNow(id)).toMatchObject({ enabled: false, status: 'suspended' })
  await press(page, 'Resume')
  await page.getByRole('status').filter({ hasText: 'It is resumed.' }).waitFor()
  expect(await quotaNow(id)).toMatchObject({ enabled: true, status: 'active', version: 3 })
})

test('the keyboard alone adjusts a limit, and below what is used only after a warning', async () => {
  const { id } = await make({ name: 'Adjusted', opening_used: 600 })
  const page = await site.visit(`/quotas/${id}`)
  const { keyboard } = page
  await page.getByRole('button', { name: 'Adjust limit' }).focus()
  await keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Adjust the limit' })
  await dialog.waitFor()
  await dialog.getByLabel('Take units away').focus()
  await keyboard.press('Space')
  await keyboard.press('Tab')
  await keyboard.type('500')
  await dialog.getByText('The limit goes from 1,000 to 500.').waitFor()
  await keyboard.press('Enter')
  await dialog.getByText('of 1 to 500 characters').waitFor()
  await dialog.getByLabel('Reason').focus()
  await keyboard.type(SCRIPT)
  await keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'Below usage' }).waitFor()
  await expectAccessible(page)
  expect(await quotaNow(id)).toMatchObject({ limit: 1_000 })
  await dialog.getByRole('button', { name: 'Set it all the same' }).focus()
  await keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: 'The limit is 500 now.' }).waitFor()
  expect(await quotaNow(id)).toMatchObject({ limit: 500, status: 'exhausted' })
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText(SCRIPT).waitFor()
  const change = await lastChange(id)
  expect(change).toMatchObject({ reason: SCRIPT, actor: '1' })
  await page.getByText(change.request_id).waitFor()
  expect(await page.getByRole('listitem').filter({ hasText: SCRIPT }).locator('dl').textContent()).toBe(
    'Limit1,000 units → 500 units',
  )
})

test('an edit sends what was changed, and nothing else', async () => {
  const { id } = await make({ name: 'Edited', period: 'day', rollover_limit: 5, metadata: { a: '1', b: '2' } })
  const page = await site.visit(`/quotas/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await heading(page, 'Edit Edited')
  expect(await page.getByRole('combobox', { name: 'Time zone' }).count()).toBe(0)
  await page.getByLabel('Settled when it was made').getByText('Each day').waitFor()
  await field(page, 'Limit').fill('2000')
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

  // Nothing changed, nothing sent. Back of the browser leaves the form.
  await page.getByRole('link', { name: 'Edit' }).click()
  await press(page, 'Save changes')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({ version: 2 })
  await page.goBack()
  await heading(page, 'Edit Edited')
})

test('below what is used, an edit is saved only on purpose', async () => {
  const { id } = await make({ name: 'Lowered', opening_used: 600 })
  const page = await site.visit(`/quotas/${id}?view=edit`)
  await field(page, 'Limit').fill('100')
  await press(page, 'Save changes')
  await page.getByRole('alert').filter({ hasText: 'Nothing is taken back' }).waitFor()
  expect(await quotaNow(id)).toMatchObject({ limit: 1_000 })
  await press(page, 'Set it all the same')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({ limit: 100, status: 'exhausted', overage: 500 })
})

test('two who change a quota at once: both versions side by side, and a choice where they collide', async () => {
  const { id } = await make({ name: 'Contested', metadata: { a: '1' } })
  const page = await site.visit(`/quotas/${id}?view=edit`)
  await field(page, 'Limit').fill('2000')
  await field(page, 'Name').fill('Mine')
  const other = await site.token({ sub: `9 ${SCRIPT}`, roles: ['sms-quota:admin'] })
  const body = { limit: 3_000, priority: 5, metadata: { a: '2' } }
  await site.call('PUT', `${QUOTA}/${id}`, { token: other, body })
  await press(page, 'Save changes')
  await page.getByRole('heading', { level: 2, name: 'Somebody else changed this quota meanwhile' }).waitFor()
  await page.getByText(`“9 ${SCRIPT}”`).waitFor()
  await expectAccessible(page)
  const choices = (name: string) => page.getByRole('radiogroup', { name })
  expect(await page.getByText('You both changed it: choose').count()).toBe(1)
  expect(await choices('Name').getByLabel('Keep mine: Mine').isChecked()).toBe(true)
  expect(await choices('Priority').getByLabel('Take theirs: 5').isChecked()).toBe(true)
  const save = page.getByRole('button', { name: 'Save on top of version 2' })
  expect(await save.isDisabled()).toBe(true)
  await choices('Limit').getByLabel('Keep mine: 2,000 units').focus()
  await page.keyboard.press('Space')
  expect(await page.locator(':focus').getAttribute('value')).toBe('mine')

  // And a third one comes before it is saved.
  await site.call('PUT', `${QUOTA}/${id}`, { token: other, body: { limit: 4_000 } })
  await save.click()
  await page.getByRole('button', { name: 'Save on top of version 3' }).waitFor()
  await choices('Limit').getByLabel('Take theirs: 4,000 units').check()
  await press(page, 'Save on top of version 3')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({
    name: 'Mine',
    limit: 4_000,
    priority: 5,
    metadata: { a: '2' },
    version: 4,
  })
})

test('a service that is away while a change is saved loses nothing of it', async () => {
  const { id } = await make({ name: 'Away' })
  const page = await site.visit(`/quotas/${id}?view=edit`)
  await field(page, 'Name').fill('Still here')
  await page.route('**/api/**', route => route.abort())
  await press(page, 'Save changes')
  await page.getByRole('alert').filter({ hasText: 'Nothing that you typed is lost' }).waitFor()
  expect(await field(page, 'Name').inputValue()).toBe('Still here')
  await page.unroute('**/api/**')
  await press(page, 'Save changes')
  await untilSaved(page)
  expect(await quotaNow(id)).toMatchObject({ name: 'Still here' })
})

test('deletes with a word of confirmation, and shows what a deleted one went through', async () => {
  const { id } = await make({ user_id: 32, name: 'Unwanted' })
  const page = await site.visit(`/quotas/${id}`)
  await press(page, 'Delete')
  const dialog = page.getByRole('dialog', { name: `Delete quota ${id}` })
  const word = dialog.getByLabel(`Type ${id} to delete it`)
  await word.fill('yes')
  await page.keyboard.press('Enter')
  await dialog.getByText(`Type ${id}, the id of this quota.`).waitFor()
  await expectAccessible(page)
  expect(await quotaNow(id)).toMatchObject({ status: 'active' })
  await word.fill(String(id))
  // Somebody changes it in the meantime: it is not the quota that was looked at.
  await site.call('PUT', `${QUOTA}/${id}`, { body: { limit: 5 } })
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'press again if you still want to' }).waitFor()
  await page.getByText('5 left').waitFor()
  await dialog.getByRole('button', { name: 'Delete quota' }).click()
  await page.getByText('This quota is deleted.').waitFor()
  await heading(page, 'Unwanted')
  expect((await site.call('GET', `${QUOTA}/${id}`)).status).toBe(404)
  expect(await page.getByRole('listitem').filter({ hasText: 'Version' }).count()).toBe(3)
  await page.getByRole('link', { name: 'Past windows' }).click()
  await page.getByText('No past windows').waitFor()
  await expectAccessible(page)

  await page.goto(`${site.url}/console/quotas/999999`)
  await heading(page, 'There is no quota 999999')
  await page.goto(`${site.url}/console/quotas/01`)
  await heading(page, 'There is no such page')
})

test('past windows go by pages that the address keeps', async () => {
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
    await page.reload()
    await rows.first().getByText('101 used').waitFor()
    await page.goBack()
    await rows.first().getByText('121 used').waitFor()
  } finally {
    site.clock.now = clock
  }
})

test.each(['light', 'dark'] as const)(
  '%s: nothing hinders anybody and hostile text breaks nothing',
  async colorScheme => {
    const name = `\u202E${SCRIPT} שלום 😀${'x'.repeat(80)}`
    const metadata = { key: `${'y'.repeat(500)} 😀` }
    const { id } = await make({ user_id: 34, name, metadata, opening_used: 1_200, alert_at: [] })
    await site.call('POST', `${QUOTA}/${id}/adjust`, {
      body: { delta: 1, reason: 'z'.repeat(500), allow_below_usage: true },
    })
    const page = await site.visit(`/quotas/${id}`, { colorScheme })
    for (const view of ['Settings', 'History', 'Past windows', 'Edit']) {
      await page.getByRole('link', { name: view, exact: true }).click()
      await heading(page, /<script>/)
      await page
        .getByText(/z{500}|No past windows|Save changes/)
        .or(page.getByText('key: y'))
        .first()
        .waitFor()
      await expectAccessibleWideAndNarrow(page)
    }
  },
)
