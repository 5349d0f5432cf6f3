import { expect, test } from 'vitest'
import { expectAccessible, startSite } from '../support/browser.ts'
import { startBusyUser } from './user-fixture.ts'

const site = await startSite()
const { quotas } = await startBusyUser(site, 7)
const QUOTA = '/api/sms/admin/quota'

const HOSTILE = '<script>alert(1)</script> \u202Eשלום مرحبا 🙂 '
/** As long as each field may be. */
const longest = (length: number) => HOSTILE + 'x'.repeat(length - HOSTILE.length)

async function adjust(quotaId: number, reason: string, token = site.adminToken): Promise<void> {
  const answer = await site.call('POST', `${QUOTA}/${quotaId}/adjust`, { token, body: { delta: 1, reason } })
  expect(answer.status).toBe(200)
}

test('by keyboard alone: to a user who has nothing, and on to their first quota', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  await page.getByLabel('Go to user').focus()
  await page.keyboard.insertText(HOSTILE.repeat(250))
  await page.keyboard.press('Enter')
  await page.getByText('A user id is a whole number').waitFor()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('99')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'User 99' }).waitFor()
  await page.getByText('0 used · 0 left').waitFor()
  await page.getByText('Too early to tell').waitFor()
  await page.getByRole('link', { name: 'Make the first one' }).focus()
  await page.keyboard.press('Enter')
  expect(page.url()).toBe(`${site.url}/console/quotas/new?user_id=99`)

  await page.goto(`${site.url}/console/users/99/changes`)
  await page.getByText('Administrators have made no quota for this user.').waitFor()
  await page.goto(`${site.url}/console/users/99/reservations`)
  await page.getByText('What is reserved or sent shows here.').waitFor()
  for (const id of ['x', '-1', '99999999999999999', '%3Cscript%3E']) {
    await page.goto(`${site.url}/console/users/${id}`)
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor()
  }
})

test('the list of one user leads to their page', async () => {
  const page = await site.visit('/quotas?user_id=7')
  await page.getByRole('link', { name: 'Open user 7' }).click()
  await page.getByRole('heading', { level: 1, name: 'User 7' }).waitFor()
  await page.getByRole('link', { name: 'New quota for this user' }).click()
  expect(page.url()).toBe(`${site.url}/console/quotas/new?user_id=7`)
})

test('the latest changes of all quotas of a user stand together, the deleted ones too', async () => {
  const { body: gone } = await site.call('POST', QUOTA, { body: { user_id: 7, limit: 5, name: 'Given by mistake' } })
  site.clock.now += 60_000
  await adjust(quotas['Monthly package'], 'Goodwill')
  site.clock.now += 60_000
  await site.call('DELETE', `${QUOTA}/${gone.id}`)
  const page = await site.visit('/users/7/changes')
  await expect
    .poll(() => page.getByRole('row').allTextContents())
    .toMatchObject([
      expect.anything(),
      expect.stringMatching(/^Given by mistakeDeletedVersion 2/),
      expect.stringMatching(/^Monthly packageChangedVersion 2Goodwill1/),
      expect.stringMatching(/^Given by mistakeCreated/),
      expect.stringMatching(/^Daily ceilingCreated/),
      expect.stringMatching(/^Codes to Germany and AustriaCreated/),
      expect.stringMatching(/^Monthly packageCreated/),
    ])
})

test('hostile text is text, and breaks no layout', async () => {
  const actor = await site.token({ sub: longest(200), roles: ['sms-quota:admin'] })
  const name = longest(120)
  const type = 'x'.repeat(64)
  const made = await site.call('POST', QUOTA, {
    token: actor,
    body: { user_id: 66, limit: 999_999_999_999, period: 'year', name, message_types: [type] },
  })
  expect(made.status).toBe(201)
  await adjust(made.body.id, longest(500), actor)
  await site.call('POST', QUOTA, { body: { user_id: 66, kind: 'cap', limit: 1_000_000_000, name } })
  const send = { user_id: 66, id: `m${'-'.repeat(127)}`, units: 999_999_999, message_type: type }
  const sent = await site.call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body: send })
  expect(sent.body.granted).toBe(true)
  const page = await site.visit('/users/66')
  const views = {
    '?group_by=message_type': type,
    '?group_by=quota&as=table': name,
    '/reservations': type,
    '/changes': name,
  }
  for (const [view, shown] of Object.entries(views)) {
    await page.goto(`${site.url}/console/users/66${view}`)
    await page.getByText(shown).last().waitFor()
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${view} ${width}`).toBe(width)
    }
  }
  await page.getByText(longest(500)).waitFor()
  await page.getByText(longest(200)).first().waitFor()
  await expectAccessible(page)
  await page.goto(`${site.url}/console/users/66?days=${encodeURIComponent(HOSTILE)}&from=2026-02-30&measure=x&page=0`)
  await page.getByText('Last 90 days').waitFor({ state: 'attached' })
  await page.goto(`${site.url}/console/users/66/reservations?cursor=bm90IG91cnM&state=odd`)
  await page.getByRole('alert').filter({ hasText: 'cursor' }).waitFor()
})

test('a service that goes away is told of where something was asked, and the rest stays', async () => {
  const page = await site.visit('/users/7')
  await page.getByRole('application').waitFor()
  await page.context().setOffline(true)
  await page.getByLabel('Period').selectOption('Last 7 days')
  await page.getByRole('region', { name: 'Usage' }).getByRole('alert').waitFor()
  await page.getByRole('region', { name: 'Summary' }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('region', { name: 'Usage' }).getByRole('alert').waitFor({ state: 'detached' })
  await page.getByRole('application').waitFor()
})

test.each([
  ['light', 1280, 360, 'Reservations'],
  ['dark', 360, 1280, 'Changes'],
] as const)('%s: nothing hinders anybody, wide or narrow', async (colorScheme, width, otherWidth, view) => {
  const page = await site.visit('/users/7?group_by=country', { colorScheme })
  const expectGood = async (wide: number) => {
    await page.setViewportSize({ width: wide, height: 800 })
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(wide)
  }
  await page.getByRole('application').waitFor()
  await page.getByRole('row').filter({ hasText: 'Monthly package' }).waitFor()
  await expectGood(width)
  await page.getByRole('button', { name: 'Show as table' }).click()
  await page.getByRole('region', { name: 'Units by day' }).waitFor()
  await expectGood(otherWidth)
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click()
  await page.getByRole('table', { name: view }).waitFor()
  await expectGood(width)
})
