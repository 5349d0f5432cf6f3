/** A cap that counts each recipient by itself, from the form to the message that it stops. */
import { expect, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })

const USER = 31
const NUMBER = '+4915112345678'
const OTHER = '+4915112345679'

/** One number has got all the codes of this hour. */
async function sendCodes(count: number) {
  const send = (id: number) =>
    site.call('POST', '/api/sms/sender/quota/consume', {
      token: site.senderToken,
      body: { user_id: USER, id: `code-${id}`, units: 1, recipient: NUMBER, message_type: 'otp' },
    })
  const answers = []
  for (let id = 1; id <= count; id++) answers.push((await send(id)).body.granted)
  return answers
}

test('an administrator limits the codes to one number, and finds out why the fourth was denied', async () => {
  await site.call('POST', '/api/sms/admin/quota', { body: { user_id: USER, limit: 1_000 } })
  const page = await site.visit(`/quotas/new?user_id=${USER}`, { now: site.clock.now })
  await page.getByRole('button', { name: '3 codes an hour to one number' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  const rule = /^At most 3 messages each hour to one number \(only for otp messages\), resets on the hour in /
  await preview.getByText(rule).waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByRole('button', { name: 'Create quota' }).click()
  await page.getByRole('heading', { level: 1, name: 'Codes to one number' }).waitFor()
  await page.getByText(rule).waitFor()
  expect(
    await page
      .getByRole('region', { name: 'Current window' })
      .getByText(/used|Unlimited/i)
      .count(),
  ).toBe(0)

  expect(await sendCodes(4)).toEqual([true, true, true, false])
  await goTo(page, `/users/${USER}`)
  await page.getByText('3 messages to one number').waitFor()
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  const check = page.getByRole('region', { name: 'Would this message go?' })
  await check.getByLabel('Message type').fill('otp')
  const ask = async (to: string) => {
    await check.getByLabel('Phone number or country').fill(to)
    await check.getByRole('button', { name: 'Check' }).click()
  }
  await ask(NUMBER)
  await check.getByText('No: a cap has too little room.').waitFor()
  await ask(OTHER)
  await check.getByText('Yes, it would go now.').waitFor()

  await goTo(page, `/users/${USER}/denials`)
  await page.getByRole('button', { name: 'Explain: code-4' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Limit: 3 messages to one number, each hour. This number had reached it.').waitFor()
  await dialog.getByText(/It can go again from .*:00/).waitFor()
  await expectAccessible(dialog)

  await goTo(page, '/overview')
  await page.getByText('created by you: 3 messages each hour to one number').waitFor()
})

test('the form of a cap shows what such a cap can have, and sends it', async () => {
  const page = await site.visit('/quotas/new?user_id=32&kind=cap')
  const choose = (label: string, option: string) => page.getByRole('combobox', { name: label }).selectOption(option)
  const minute = page.getByRole('combobox', { name: 'Resets' }).getByRole('option', { name: 'Each minute' })
  await page.getByRole('textbox', { name: 'Limit' }).fill('500')
  expect(await minute.count()).toBe(0)
  await choose('The limit holds for', 'Each country by itself')
  await choose('Resets', 'Each minute')
  await choose('Counts', 'Units')
  expect(await page.locator('summary').filter({ hasText: 'Alerts' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Create quota' }).click()
  await page.getByRole('heading', { level: 1, name: /^Cap \d+$/ }).waitFor()
  const [cap] = (await site.call('GET', '/api/sms/admin/quota/list?user_id=32')).body.items
  expect(cap).toMatchObject({ per: 'country', counts: 'units', period: 'minute', limit: 500, used: null, alert_at: [] })
})
