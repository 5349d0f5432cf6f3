/** A user sets an address for messages, confirms it by the link in an e-mail, gets one, and ends them by its link. */
import { expect, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, startSite } from '../support/browser.ts'
import { createMailServer, shownTextOf } from '../support/mail-server.ts'

const server = await createMailServer()
const site = await startSite({
  env: {
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'quotas@sms.example',
    PUBLIC_URL: 'https://sms.example',
    USER_NOTIFICATIONS: 'true',
  },
})
const { call, clock, webhooks } = site
const USER = 7

/** The path in the console to which the link in the newest e-mail leads. */
function linkIn(what: 'confirm' | 'stop'): string {
  const [mail] = server.mails.splice(0)
  const text = shownTextOf(mail ?? { body: '' })
  const [, path = ''] = new RegExp(`https://sms.example/console(/notifications/${what}#[\\w.-]+)`).exec(text) ?? []
  expect(path).not.toBe('')
  return path
}

test('an address is set, confirmed by its link, written to, and taken back by the link in the message', async () => {
  await call('POST', '/api/sms/admin/webhooks', { body: { kind: 'users' } })
  await call('PUT', `/api/sms/admin/users/${USER}/profile`, { body: { email: 'office@mail.example' } })
  const token = await site.userToken(USER)
  const page = await site.visit('/mine', { token })
  const section = page.getByRole('region', { name: 'Messages by e-mail' })
  await section.getByText('You get no messages.').waitFor()
  const address = section.getByLabel('E-mail address')
  const send = section.getByRole('button', { name: 'Send a link' })
  expect(await address.inputValue()).toBe('office@mail.example')
  await address.fill('ann')
  await send.click()
  await section.getByText('Enter an e-mail address.').waitFor()
  await address.fill('ann@mail.example')
  await section.getByLabel('Language').selectOption('de')
  await send.click()
  await section.getByText('Follow the link that was sent to ann@mail.example.').waitFor()
  await expectAccessibleInEachLayout(section)

  // A program that only opens the link confirms nothing.
  const link = await site.visit(linkIn('confirm'), { token: null })
  await link.getByRole('heading', { name: 'Confirm your e-mail address' }).waitFor()
  expect((await call('GET', '/api/sms/quota/notifications', { token })).body.status).toBe('pending')
  await expectAccessible(link.getByRole('main'))
  await link.getByRole('button', { name: 'Confirm' }).click()
  await link.getByText('The address is confirmed.').waitFor()

  await call('POST', '/api/sms/admin/quota', { body: { user_id: USER, limit: 10, name: 'Paket' } })
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
  const path = linkIn('stop')
  for (const said of ['Sie erhalten keine Nachrichten mehr.', 'Sie erhalten keine Nachrichten mehr.']) {
    const stop = await site.visit(path, { token: null, locale: 'de-DE' })
    await stop.getByRole('button', { name: 'Beenden' }).click()
    await stop.getByText(said).waitFor()
  }
  expect((await call('GET', '/api/sms/quota/notifications', { token })).body.status).toBe('none')
})
