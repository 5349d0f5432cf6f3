/** Rate cards in the console: made, priced by a file, given to a plan and a user, and looked up. */
import { expect, test } from 'vitest'
import { expectAccessibleInEachLayout, expectFits, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const { call, clock } = site
const CARDS = '/api/sms/admin/rate-cards'

const PRICES = `prefix,country,message_type,per_segment,per_message
,,,400,
49,,,75,10
49,,otp,50,
,FR,,60,`

test('a card is made, gets prices after a preview, is given to a plan, and prices a message', async () => {
  const page = await site.visit('/prices', { now: clock.now })
  await page.getByRole('button', { name: 'New card' }).click()
  const dialog = page.getByRole('dialog', { name: 'New rate card' })
  await dialog.getByRole('button', { name: 'Create card' }).click()
  await dialog.getByText('Use 1 to 120 characters.').waitFor()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Standard')
  await expectAccessibleInEachLayout(dialog)
  await dialog.getByRole('button', { name: 'Create card' }).click()
  await page.getByRole('heading', { level: 1, name: 'Standard' }).waitFor()
  const id = Number(new URL(page.url()).pathname.split('/').at(-1))

  // What the service refuses is named by the line of the text.
  const change = page.getByRole('region', { name: 'Change prices' })
  const text = change.getByRole('textbox', { name: 'Prices as CSV' })
  await text.fill(`${PRICES}\n,DE,,0.075,`)
  await change.getByRole('button', { name: 'Preview' }).click()
  await change.getByText('Line 6: per_segment is a whole number').waitFor()
  await text.fill(PRICES)
  await change.getByRole('button', { name: 'Preview' }).click()
  await change.getByText('Lines: 3 new and 1 dearer.').and(page.locator(':focus')).waitFor()
  const largest = change.getByRole('table', { name: 'The largest changes' })
  const changes = await largest.getByRole('row').allTextContents()
  expect(changes.slice(1).toSorted()).toEqual([
    '+49AnyNew– → 75 + 10 a message',
    '+49otpNew– → 50',
    'All other destinationsAnyDearer1 → 400',
    'France (FR)AnyNew– → 60',
  ])
  await expectAccessibleInEachLayout(change)

  // Another version comes between the preview and the change: what was not shown is not set.
  await call('PUT', `${CARDS}/${id}/lines`, { body: { lines: [{ per_segment: 2 }] } })
  await change.getByRole('button', { name: 'Set these prices' }).click()
  await change.getByText('Another version was saved since the preview.').waitFor()
  await change.getByRole('button', { name: 'Preview' }).click()
  await largest.getByText('2 → 400').waitFor()
  // The answer is lost, and the same call again sets them once.
  await page.route(
    `**${CARDS}/${id}/lines`,
    async route => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await change.getByRole('button', { name: 'Set these prices' }).click()
  await change.getByText('Your input is kept').waitFor()
  await change.getByRole('button', { name: 'Set these prices' }).click()
  await change.getByText('Version 3 of the prices is set.').waitFor()
  expect((await call('GET', `${CARDS}/${id}`)).body).toMatchObject({ version: 3, lines: 4 })

  const lookUp = page.getByRole('region', { name: 'Look up a number' })
  const decided = async (text: string, shown: string) => {
    await lookUp.getByRole('textbox').fill(text)
    await lookUp.getByRole('button', { name: 'Look up' }).click()
    await lookUp.getByRole('paragraph').filter({ hasText: shown }).waitFor()
    const rows = lookUp.getByRole('table', { name: 'The lines that decide' }).getByRole('row')
    return (await rows.allTextContents()).slice(1)
  }
  expect(await decided('+49 151 12345678', '+4915112345678 · Germany (DE)')).toEqual(['Any+497510', 'otp+49500'])
  const toFrance = ['AnyFrance (FR)600']
  expect(await decided('France', 'France (FR)')).toEqual(toFrance)
  expect(await decided('0033612', '+33612 · France (FR)')).toEqual(toFrance)
  expect(await decided('+1 2', '+12')).toEqual(['AnyAll other destinations4000'])
  await lookUp.getByRole('textbox').fill('0151')
  await lookUp.getByRole('button', { name: 'Look up' }).click()
  await lookUp.getByText('Enter a number with its calling code').waitFor()
  await expectAccessibleInEachLayout(page)

  const lines = page.getByRole('table', { name: 'Prices of version 3' })
  expect(await lines.getByRole('row').count()).toBe(5)
  await page.getByLabel('Prefix').fill('+49')
  await page.keyboard.press('Enter')
  await expect.poll(() => lines.getByRole('row').count()).toBe(3)

  await goTo(page, '/plans/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('Basic')
  await page.getByLabel('Prices').selectOption('Standard')
  await page.getByRole('textbox', { name: 'Limit' }).fill('1000')
  await page.getByRole('button', { name: 'Create plan' }).click()
  await page.getByRole('heading', { level: 1, name: 'Basic' }).waitFor()
  const plan_id = Number(new URL(page.url()).pathname.split('/').at(-1))
  await call('PUT', '/api/sms/admin/users/7/plan', { body: { plan_id } })
  const message = { to: '+4915112345678', text: 'x'.repeat(161) }
  const reserve = () =>
    call('POST', '/api/sms/sender/quota/reserve', {
      token: site.senderToken,
      body: { user_id: 7, id: 'm-1', message },
    })
  await expect.poll(async () => (await reserve()).body.units).toBe(160)
  await goTo(page, '/users/7')
  await page.getByText('Prices: Standard, by the plan').waitFor()
  await goTo(page, '/users/7/messages/m-1')
  await page.getByText('2 segments × 75 units + 10 a message').waitFor()
})

test('a card that a user has cannot be archived, and is named in the profile and the changes', async () => {
  const { body: card } = await call('POST', CARDS, { body: { name: 'Negotiated' } })
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 8, limit: 10 } })
  const page = await site.visit('/users/8/profile', { now: clock.now })
  await page.getByRole('button', { name: 'Edit the profile' }).click()
  await page.getByRole('dialog').getByLabel('Prices').selectOption('Negotiated')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('The profile is saved.').waitFor()
  await page.getByRole('link', { name: 'Negotiated' }).click()
  await page.getByText('1 user has it as the card negotiated with them').waitFor()
  await page.getByRole('button', { name: 'Archive…' }).click()
  const archive = page.getByRole('dialog').getByRole('button', { name: 'Archive card' })
  await page.getByRole('dialog').getByText('It cannot be archived yet.').waitFor()
  expect(await archive.isDisabled()).toBe(true)
  await page.keyboard.press('Escape')

  await call('PUT', '/api/sms/admin/users/8/profile', { body: { rate_card_id: null } })
  await goTo(page, `/prices/${card.id}`)
  await page.getByRole('button', { name: 'Archive…' }).click()
  // Meanwhile it becomes the default.
  await archive.and(page.locator(':enabled')).waitFor()
  await call('PUT', `${CARDS}/${card.id}`, { body: { is_default: true } })
  await archive.click()
  await page.getByRole('dialog').getByText('It is the default, or a plan or a user has it.').waitFor()
  await page.keyboard.press('Escape')
  await goTo(page, '/users/8')
  await page.getByText('Prices: Negotiated, the default').waitFor()

  await goTo(page, `/prices/${card.id}`)
  await page.getByRole('button', { name: 'Edit…' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit the rate card' })
  await edit.getByRole('textbox', { name: 'Name' }).fill('Renamed')
  await edit.getByRole('checkbox', { name: 'Default card' }).uncheck()
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
  await page.getByRole('button', { name: 'Archive…' }).click()
  await archive.click()
  await page.getByText('No plan and no user has it, and none can get it.').waitFor()

  await goTo(page, '/changes?resource=rate_card')
  await page.getByText('Negotiated → Renamed').waitFor()
})

test('an auditor reads the prices and changes none; in German', async () => {
  const { body: card } = await call('POST', CARDS, { body: { name: 'Read', lines: [{ per_segment: 3 }] } })
  const token = await site.token({ sub: 'ann', roles: ['sms-quota:auditor'] })
  const page = await site.visit('/prices', { token, now: clock.now, locale: 'de-DE' })
  await page.getByRole('heading', { level: 1, name: 'Preise' }).waitFor()
  expect(await page.getByRole('button', { name: 'Neue Preisliste' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Read' }).click()
  await page.getByRole('table', { name: 'Preise der Fassung 1' }).waitFor()
  expect(await page.getByRole('button', { name: 'Archivieren …' }).count()).toBe(0)
  expect(await page.getByRole('region', { name: 'Preise ändern' }).count()).toBe(0)
  expect(page.url()).toBe(`${site.url}/console/prices/${card.id}`)
  await expectFits(page)
})

test('the check of a message has its price', async () => {
  const lines = [
    { per_segment: 400 },
    { prefix: '49', per_segment: 75, per_message: 10 },
    { prefix: '1', per_segment: 3 },
  ]
  const { body: card } = await call('POST', CARDS, { body: { name: 'Checked', lines } })
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 9, limit: 1_000 } })
  await call('PUT', '/api/sms/admin/users/9/profile', { body: { rate_card_id: card.id } })
  const page = await site.visit('/users/9', { now: clock.now })
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  const check = page.getByRole('region', { name: 'Would this message go?' })
  const ask = async (to: string) => {
    await check.getByLabel('Phone number or country').fill(to)
    await check.getByRole('button', { name: 'Check' }).click()
  }
  await check.getByRole('textbox', { name: 'Text' }).fill('x'.repeat(161))
  await ask('+49 151 12345678')
  await check.getByText('It costs 160 units: 2 segments × 75 units + 10 a message.').waitFor()
  await check.getByText('After it, 840 units could still be sent like this.').waitFor()
  await ask('France')
  await check.getByText('It costs 2 units: 2 segments in GSM-7.').waitFor()
  await check.getByText('A rate card prices it by its number: enter one.').waitFor()
  // Units are not segments, also of a number that several countries share.
  await check.getByText('Units', { exact: true }).click()
  await check.getByRole('textbox', { name: 'Units' }).fill('7')
  await ask('+1 436 234 5678')
  await check.getByText('It costs 7 units.').waitFor()
  await check.getByText('After it, 993 units could still be sent like this.').waitFor()
})
