import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { expectAccessibleInEachLayout, follow, goTo, RETRY_MS, startSite } from '../support/browser.ts'
import { startBusyUser } from './user-fixture.ts'

const site = await startSite()
const { quotas } = await startBusyUser(site, 7, 14)
const QUOTA = '/api/sms/admin/quota'

const HOSTILE = '<script>alert(1)</script> \u202Eשלום مرحبا 🙂 '

test('by keyboard: opens a user without quotas and goes on to their first quota', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).waitFor()
  await page.keyboard.insertText(HOSTILE.repeat(250))
  await page.getByText('Nothing found.').waitFor()
  await page.keyboard.press('Escape')
  await goTo(page, '/users/99')
  await page.getByRole('heading', { level: 1, name: 'User 99' }).waitFor()
  await page.getByText('Blocked: there are no quotas yet.').waitFor()
  await page.getByRole('link', { name: 'Create the first one' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/quotas/new?user_id=99`)

  await goTo(page, '/users/99/changes')
  await page.getByText('Changes of this user’s quotas appear here.').waitFor()
  await goTo(page, '/users/99/reservations')
  await page.getByText('Messages appear here when they are reserved or sent.').waitFor()
  for (const id of ['x', '-1', '99999999999999999', '%3Cscript%3E']) {
    await goTo(page, `/users/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  }
})

test('the quota list of one user links to the user', async () => {
  const page = await site.visit('/quotas?user_id=7')
  await page.getByRole('link', { name: 'Open user 7' }).click()
  await page.getByRole('heading', { level: 1, name: 'User 7' }).waitFor()
  await page.getByRole('link', { name: 'New quota for this user' }).click()
  await page.waitForURL(`${site.url}/console/quotas/new?user_id=7`)
})

test('shows the latest changes of all quotas of a user, including deleted ones', async () => {
  const { body: deleted } = await site.call('POST', QUOTA, { body: { user_id: 7, limit: 5, name: 'Given by mistake' } })
  site.clock.now += 60_000
  await site.call('POST', `${QUOTA}/${quotas['Monthly package']}/adjust`, { body: { delta: 1, reason: 'Goodwill' } })
  site.clock.now += 60_000
  await site.call('DELETE', `${QUOTA}/${deleted.id}`)
  const page = await site.visit('/users/7/changes')
  await expect
    .poll(() => page.getByRole('row').allTextContents())
    .toMatchObject([
      expect.anything(),
      expect.stringMatching(/^Given by mistakeDeleted · Version 2/),
      expect.stringMatching(/^Monthly packageChanged · Version 2Limit 4,000 units → 4,001 units\+1Goodwill“1” \(you\)/),
      expect.stringMatching(/^Given by mistakeCreated/),
      expect.stringMatching(/^Daily ceilingCreated/),
      expect.stringMatching(/^Codes to Germany and AustriaCreated/),
      expect.stringMatching(/^Monthly packageCreated/),
    ])
})

test('who made a change is named where the token has a name, and otherwise by its subject', async () => {
  const token = await site.token({ sub: 'ann-4711', name: 'Ann Lee', roles: ['sms-quota:admin'] })
  const { body: quota } = await site.call('POST', QUOTA, { token, body: { user_id: 69, limit: 5, name: 'By Ann' } })
  const page = await site.visit('/users/69/changes', { token })
  await page.getByRole('row').filter({ hasText: 'By Ann' }).getByText('“Ann Lee” (you)').waitFor()
  await page.getByRole('link', { name: 'By Ann' }).click()
  await page.getByText('by “Ann Lee” (you)').first().waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Created by “Ann Lee” (you)' }).waitFor()
  await page.evaluate(`location.hash = 'token=${site.adminToken}'`)
  await page.getByRole('dialog').getByText('You are signed in as “Ann Lee”.').waitFor()

  const other = await site.visit(`/quotas/${quota.id}?view=history`)
  const created = other.getByRole('listitem').filter({ hasText: 'Created by “Ann Lee”' })
  await created.getByTitle('ann-4711').waitFor()
})

test('the status comes first; it, the forecast and a check of units and type apply caps', async () => {
  const last = site.clock.now
  site.clock.now = last - 14 * DAY_MS
  for (const body of [
    { name: 'Package', limit: 1_000 },
    { name: 'Ceiling', kind: 'cap', limit: 160 },
  ])
    expect((await site.call('POST', QUOTA, { body: { user_id: 68, ...body } })).status).toBe(201)
  for (let day = 13; day >= 0; day--) {
    site.clock.now = last - day * DAY_MS
    const body = { user_id: 68, id: `m-${day}`, units: 10 }
    await site.call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body })
  }
  const page = await site.visit('/users/68', { now: last })
  await page.getByText('Can send: 20 units now. 860 units remain in the grants.').waitFor()
  await page.getByText('About 10 units used per day; at that rate, sending stops around 14 June 2026.').waitFor()
  const first = page.getByRole('main').getByRole('region').first()
  expect(await first.getAttribute('aria-label')).toBe('Can this user send?')

  await page.getByRole('button', { name: 'Would this message go?' }).click()
  const check = page.getByRole('region', { name: 'Would this message go?' })
  const verdicts = check.getByRole('list', { name: 'What each quota says' }).getByRole('listitem')
  await check.getByText('Units', { exact: true }).click()
  await check.getByRole('textbox', { name: 'Units' }).fill('15')
  await check.getByLabel('Message type').fill('otp')
  await page.keyboard.press('Enter')
  await check.getByText('It costs 15 units.').waitFor()
  await check.getByText('After it, 5 units could still be sent like this.').waitFor()
  expect(await verdicts.allTextContents()).toEqual(['Cap CeilingHas room, and counts 15', 'Grant PackagePays 15 units'])
  await check.getByRole('textbox', { name: 'Units' }).fill('25')
  await page.keyboard.press('Enter')
  await check.getByText('20 units could be sent like this now.').waitFor()
  expect(await verdicts.first().textContent()).toBe('Cap CeilingStops the message: too little room')
})

test('a number that several countries share is counted by caps on each of them, and the check says so', async () => {
  const create = (body: object) => site.call('POST', QUOTA, { body: { user_id: 61, limit: 1_000, ...body } })
  await create({})
  await create({ kind: 'cap', limit: 0, countries: ['CA'], name: 'Block' })
  const page = await site.visit('/users/61', { now: site.clock.now })
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  const check = page.getByRole('region', { name: 'Would this message go?' })
  await check.getByLabel('Phone number or country').fill('+1 436 234 5678')
  const main = 'Not listed in the numbering plan: United States (US, +1) for grants.'
  await check.getByText(`${main} Caps on AG, AI, AS, BB, BM, BS, CA, DM, DO`).waitFor()
  for (const by of ['Text', 'Units']) {
    await check.getByText(by, { exact: true }).first().click()
    await check.getByRole('button', { name: 'Check' }).click()
    await check.getByText('No: a cap has too little room.').waitFor()
  }
  // As many as the segments of a text, which the service takes with a number.
  await check.getByRole('textbox', { name: 'Units' }).fill('256')
  await check.getByRole('button', { name: 'Check' }).click()
  await check.getByText('Enter a whole number from 1 to 255.').waitFor()
  await check.getByRole('textbox', { name: 'Units' }).fill('255')
  await check.getByRole('button', { name: 'Check' }).click()
  await check.getByText('It costs 255 units.').waitFor()
  await expectAccessibleInEachLayout(check)
})

test('customers read no operator’s words, in either language', async () => {
  const token = await site.userToken(7)
  const operators = {
    'en-GB': /\b(?:committed|refunded|released|reservation|principal|window|subject|senders?|grants?|caps?)\b/i,
    'de-DE': /bestätigt|erstattet|freigegeben|versender|zeitfenster/i,
  }
  const pages = [
    '/mine?measure=denied&days=30',
    '/mine/denials',
    '/mine?as=table&days=7&group_by=quota',
    '/mine/messages/waiting',
  ]
  for (const [locale, words] of Object.entries(operators)) {
    const page = await site.visit('/nowhere', { token, locale })
    await page.getByRole('heading', { level: 1 }).waitFor()
    for (const path of pages) {
      await follow(page, path)
      expect(await page.getByRole('main').textContent(), path).not.toMatch(words)
    }
  }
})

test('an address with values that do not exist shows what there is, or says what is wrong', async () => {
  const page = await site.visit(`/users/7?days=${encodeURIComponent(HOSTILE)}&from=2026-02-30&measure=x&page=0`)
  await page.getByRole('application').waitFor()
  expect(await page.getByLabel('Period').inputValue()).toBe('30')
  await goTo(page, '/users/7/reservations?cursor=bm90IG91cnM')
  await page.getByRole('alert').filter({ hasText: 'cursor' }).waitFor()
  await goTo(page, '/users/7/reservations?state=odd')
  await page.getByText('The address has a filter that does not exist: state=odd').waitFor()
})

test('shows an outage where data was requested, and keeps the other sections', async () => {
  const page = await site.visit('/users/7', { now: Date.now() })
  await page.getByRole('application').waitFor()
  await page.context().setOffline(true)
  await page.getByLabel('Period').selectOption('Last 7 days')
  await page.getByRole('region', { name: 'Usage' }).getByRole('alert').waitFor()
  await page.getByRole('region', { name: 'Can this user send?' }).waitFor()
  await page.context().setOffline(false)
  await page.clock.fastForward(RETRY_MS)
  await page.getByRole('region', { name: 'Usage' }).getByRole('alert').waitFor({ state: 'detached' })
  await page.getByRole('application').waitFor()
})
