import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, expectFits, goTo, startSite } from '../support/browser.ts'
import { createReceiver, type Delivery } from '../support/receiver.ts'

const site = await startSite({ webhooks: { allowPrivate: true, timeoutMs: 1_000 } })
const { call, clock, webhooks } = site
// The Standard Webhooks library compares timestamps with the machine's clock.
clock.now = Date.now()
const WEBHOOKS = '/api/sms/admin/webhooks'
const HOSTILE = '<script>alert(1)</script> \u202eabc\u202c مرحبا שלום 🎉'

const panel = (page: Page, title: string) => page.getByRole('region', { name: title })
const stored = async (id: number | string) => (await call('GET', `${WEBHOOKS}/${id}`)).body
const idOf = (page: Page) => new URL(page.url()).pathname.split('/').at(-1) ?? ''
const focused = (page: Page) => page.locator(':focus')

async function make(body: object): Promise<{ id: number; secret: string }> {
  const answer = await call('POST', WEBHOOKS, { body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

let lastUser = 0
/** Emits an event and delivers it. */
async function emitEvent(): Promise<void> {
  lastUser += 1
  await call('POST', '/api/sms/admin/quota', { body: { user_id: lastUser, limit: 10 } })
  await dispatch()
}
async function dispatch(): Promise<void> {
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
}
function verify(secret: string, delivery: Delivery | undefined): unknown {
  if (delivery === undefined) throw new Error('nothing was delivered')
  return new Webhook(secret).verify(delivery.body, delivery.headers)
}

test('by keyboard: creates a webhook, copies its secret, and verifies the test event with it', async () => {
  const receiver = await createReceiver()
  const page = await site.visit('/webhooks')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  onTestFinished(() => page.context().clearPermissions())
  await page.getByText('No webhooks yet').waitFor()
  await expectAccessible(page.getByRole('main'))
  await page.getByRole('link', { name: 'New webhook' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'New webhook' }).waitFor()

  await page.getByLabel('URL').focus()
  await page.keyboard.type('ftp://nowhere')
  await page.keyboard.press('Enter')
  await page.getByText('Enter a public http or https URL without user and password.').waitFor()
  expect(await focused(page).inputValue()).toBe('ftp://nowhere')
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(receiver.url)
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.getByLabel('Description').focus()
  await page.keyboard.insertText(HOSTILE)
  await page.getByRole('button', { name: 'Create webhook' }).focus()
  await page.keyboard.press('Enter')

  await page.getByText('It is not shown again').waitFor()
  await expectAccessible(page.getByRole('main'))
  const secret = await page.getByLabel('Signing secret').inputValue()
  await page.getByRole('button', { name: 'Copy' }).press('Enter')
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  await page.getByRole('button', { name: 'Send test event' }).press('Enter')
  await page.getByText('Delivered: the receiver answered 204').waitFor()
  expect(verify(secret, receiver.deliveries[0])).toMatchObject({ type: 'webhook.test' })

  await page.getByRole('link', { name: 'Go to the webhook' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
  const id = idOf(page)
  expect(await stored(id)).toMatchObject({ url: receiver.url, types: ['quota.created'], description: HOSTILE })
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('link', { name: 'Settings' }).press('Enter')
  await page.getByLabel('Type “delete” to confirm').focus()
  await page.keyboard.type('delete')
  await page.keyboard.press('Enter')
  await page.getByText('No webhooks yet').waitFor()
  expect((await call('GET', `${WEBHOOKS}/${id}`)).status).toBe(404)
})

test('shows failed deliveries, what they post, and resends one or all that failed', async () => {
  const receiver = await createReceiver()
  receiver.answer = 500
  const { id } = await make({ url: receiver.url, types: ['quota.created'] })
  await emitEvent()
  const page = await site.visit(`/webhooks/${id}`, { now: clock.now })
  await panel(page, 'Status').getByText('Enabled, failing since').waitFor()
  await panel(page, 'Status').getByText('retried for 3 days with increasing delays').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'quota.created' })
  await row.getByText('the answer was not a 2xx').waitFor()
  expect((await row.getByRole('cell').allTextContents()).slice(0, 3)).toEqual([
    'Pending',
    expect.stringContaining('500'),
    '1',
  ])
  await panel(page, 'Status').getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('Not delivered (500): the answer was not a 2xx').waitFor()
  await page.getByText('Answer: {"text":"of the receiver"}').waitFor()
  await expectAccessible(page.getByRole('main'))

  await row.getByRole('button', { name: /^quota\.created/ }).click()
  const drawer = page.getByRole('dialog', { name: 'quota.created' })
  await drawer.getByText(`POST ${receiver.url}`).waitFor()
  await drawer.getByText('{"text":"of the receiver"}').waitFor()
  const [delivery] = receiver.deliveries
  await drawer.getByText(`webhook-id: ${delivery?.headers['webhook-id']}`).waitFor()
  const body = JSON.stringify(JSON.parse(delivery?.body ?? ''), null, 2)
  expect(await drawer.locator('pre').last().textContent()).toBe(body)
  expect(new URL(page.url()).search).toMatch(/^\?delivery=evt_/)
  await expectAccessibleInEachLayout(drawer)

  receiver.answer = 204
  await drawer.getByRole('button', { name: 'Resend' }).click()
  await drawer.getByText('It is being sent again.').waitFor()
  await expect
    .poll(async () => {
      await dispatch()
      return receiver.received.length
    })
    .toBe(1)
  // The page asks for new deliveries every 5 s.
  await page.clock.fastForward(5_000)
  await drawer.getByText('Delivered').waitFor()
  await page.keyboard.press('Escape')
  await row.getByText('Delivered').waitFor()

  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed')
  await page.getByText('Nothing matches these filters').waitFor()
  expect(new URL(page.url()).search).toBe('?status=failed')
  await page.goBack()
  await row.waitFor()
  await page.getByRole('button', { name: 'Resend failed…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Resend events' })
  await expectAccessible(dialog)
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await dialog.getByText('There are no such events since then.').waitFor()
  await dialog.getByLabel('Since').fill('')
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await dialog.getByText('Enter a date and a time.').waitFor()
  await dialog.getByLabel('Since').fill('2020-01-01T00:00:00')
  await dialog.getByLabel('All, for a receiver that lost data').check()
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await dialog.getByText(/events? (is|are) being sent again/).waitFor()
  await dispatch()
  expect(receiver.received.length).toBeGreaterThan(1)
  await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('auditors and support staff read webhooks, and are offered no change', async () => {
  const { id } = await make({ url: 'https://receiver.example/', description: 'Billing' })
  const token = await site.token({ sub: 'ann', roles: ['sms-quota:auditor'] })
  const page = await site.visit('/webhooks', { token })
  await page.getByRole('link', { name: 'Billing' }).click()
  await page.getByText('No deliveries').waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('definition').filter({ hasText: 'Billing' }).waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('row').filter({ hasText: 'Created' }).waitFor()
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  await goTo(page, '/webhooks/new')
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('rotates a secret, and both secrets sign for a day', async () => {
  const receiver = await createReceiver()
  const { id, secret } = await make({ url: receiver.url })
  const page = await site.visit(`/webhooks/${id}/settings`)
  const signing = panel(page, 'Signing secret')
  await signing.getByRole('button', { name: 'Rotate secret…' }).click()
  await signing.getByRole('button', { name: 'Create new secret' }).click()
  const rotated = await signing.getByLabel('Signing secret').inputValue()
  await signing.getByText('Two secrets sign').waitFor()
  expect(rotated).not.toBe(secret)
  await emitEvent()
  verify(secret, receiver.deliveries[0])
  verify(rotated, receiver.deliveries[0])
  await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('settings: sends only changed fields, and shows errors of the API at their fields', async () => {
  const { id } = await make({ url: 'https://receiver.example/', description: 'Before' })
  const page = await site.visit(`/webhooks/${id}/settings`)
  const settings = panel(page, 'Settings')
  await settings.getByLabel('URL').fill('https://receiver.example/other')
  await call('PUT', `${WEBHOOKS}/${id}`, { body: { description: 'By another administrator' } })
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Saved.').waitFor()
  expect(await stored(id)).toMatchObject({
    url: 'https://receiver.example/other',
    types: null,
    description: 'By another administrator',
  })

  await settings.getByLabel('Description').fill('x'.repeat(10_000))
  await settings.getByLabel('Selected events').check()
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Use at most 200 characters.').waitFor()
  await settings.getByText('Choose at least one event.').waitFor()
  expect(await settings.getByLabel('Description').inputValue()).toHaveLength(10_000)
  await expectAccessible(settings)
  await settings.getByRole('button', { name: 'Discard changes' }).click()
  expect(await settings.getByLabel('Description').inputValue()).toBe('By another administrator')

  await page.getByRole('link', { name: 'History' }).click()
  await page
    .getByRole('row')
    .filter({ hasText: 'https://receiver.example/ → https://receiver.example/other' })
    .waitFor()
  await expectAccessibleInEachLayout(page.getByRole('table'))
  await panel(page, 'Status').getByRole('button', { name: 'Disable' }).click()
  await panel(page, 'Status').getByText('Disabled: events are kept').waitFor()
  expect(await stored(id)).toMatchObject({ enabled: false })

  await page.context().setOffline(true)
  await panel(page, 'Status').getByRole('button', { name: 'Enable' }).click()
  await panel(page, 'Status').getByText('Check before you try again').waitFor()
  await page.context().setOffline(false)
  await goTo(page, '/webhooks/99999')
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('writes to people: says what e-mail lacks, and keeps the link of a channel as a secret', async () => {
  const page = await site.visit('/webhooks/new')
  await page.getByRole('radio', { name: 'E-mail' }).check()
  await page.getByLabel('Addresses').fill('team@example.com')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByText('E-mail needs the settings SMTP_URL and MAIL_FROM of the service.').waitFor()
  await page.getByRole('radio', { name: 'Slack' }).check()
  await page.getByLabel('URL').fill('https://hooks.slack.com/services/T012/B345/hidden-6789')
  await page.getByLabel('Language of messages').selectOption('German')
  expect(await page.getByRole('radio', { name: 'What people need to hear of' }).isChecked()).toBe(true)
  await page.getByRole('radio', { name: 'Once a day' }).check()
  await page.getByLabel('Hour').selectOption('17:00')
  await page.getByLabel('Time zone').selectOption('Europe/Berlin')
  await page
    .getByText(/Thresholds, expired quotas, .* of all users, once a day at 17:00 \(Europe\/Berlin\)\./)
    .waitFor()
  await expectAccessible(page.getByRole('main'))
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByRole('link', { name: /Go to the webhook/ }).click()
  await page.getByRole('link', { name: 'Settings' }).click()
  const [created] = (await call('GET', '/api/sms/admin/webhooks')).body.items.slice(-1)
  expect(created).toMatchObject({
    kind: 'slack',
    url: 'https://hooks.slack.com/…',
    language: 'de',
    addresses: null,
    types: expect.arrayContaining(['quota.threshold_reached', 'request.made', 'webhook.disabled']),
    digest: { hour: 17, time_zone: 'Europe/Berlin' },
  })
  await page.getByText('Now: https://hooks.slack.com/…. Only another one replaces it.').waitFor()
  await page.getByLabel('URL').fill('x')
  await page.getByLabel('URL').fill('')
  await page.getByLabel('Description').fill('Operations')
  await page.getByRole('checkbox', { name: 'Thresholds only when little is left' }).check()
  await page.getByRole('radio', { name: 'Only these users' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Choose 1 to 100 users.').waitFor()
  await page.getByText('Enter a number of units, a share of up to 100%, or both.').waitFor()
  await page.getByLabel('Less of the limit than, in percent').fill('12.5')
  await page.getByRole('combobox', { name: 'Which users' }).fill('7')
  await page.getByRole('option', { name: '7', exact: true }).click()
  await page.getByText('Thresholds only with less than 12.5% of the limit left.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  const saved = (await call('GET', `/api/sms/admin/webhooks/${created.id}`)).body
  expect(saved).toMatchObject({ url: 'https://hooks.slack.com/…', description: 'Operations' })
  expect(saved).toMatchObject({ user_ids: [7], only_when_low: { share: 0.125 } })
  await page.getByRole('radio', { name: 'At once' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  const changes = page.getByRole('table')
  await changes.getByText('When: once a day at 17:00 (Europe/Berlin) → at once').waitFor()
  await changes.getByText('Users: All users, and events of no user → 7').waitFor()
  await changes.getByText('Thresholds only when little is left: – → less than 12.5% of the limit').waitFor()
  expect(await page.content()).not.toContain('hidden-6789')
})

test('leaving a half-filled form asks first', async () => {
  const url = 'https://receiver.example/half'
  const { id } = await make({ url })
  const page = await site.visit('/webhooks/new')
  const asked: string[] = []
  page.on('dialog', dialog => {
    asked.push(dialog.message())
    void dialog.dismiss()
  })
  await page.getByLabel('URL').fill(url)
  const cancel = page.getByRole('link', { name: 'Cancel' })
  await cancel.click()
  expect(await page.getByLabel('URL').inputValue()).toBe(url)
  await page.getByLabel('URL').fill('')
  await cancel.click()

  await page.getByRole('link', { name: url }).click()
  const tabs = page.getByRole('navigation', { name: 'Parts of the webhook' })
  await tabs.getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Description').fill('Half')
  // What is dangerous stands apart from the settings.
  const danger = panel(page, 'Dangerous actions')
  expect(await danger.getByRole('button').allTextContents()).toEqual(['Rotate secret…', 'Delete webhook'])
  expect(await panel(page, 'Settings').getByRole('button').allTextContents()).toEqual(['Save', 'Discard changes'])
  await tabs.getByRole('link', { name: 'Deliveries' }).click()
  expect(await page.getByLabel('Description').inputValue()).toBe('Half')
  expect(asked).toEqual(Array(2).fill('Your input is not saved. Leave this page and lose it?'))
  await danger.getByLabel('Type “delete” to confirm').fill('delete')
  await danger.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  expect(asked).toHaveLength(2)
  expect((await call('GET', `${WEBHOOKS}/${id}`)).status).toBe(404)
})

test('in German: is accessible and fits 1280 and 360 px', async () => {
  const receiver = await createReceiver()
  receiver.answer = 410
  const disabled = await make({ url: receiver.url, description: `${HOSTILE} ${'w'.repeat(100)}` })
  const long = await make({
    url: `https://receiver.example/${'long'.repeat(100)}`,
    types: ['quota.threshold_reached', 'webhook.disabled'],
  })
  await emitEvent()
  const page = await site.visit('/webhooks', { locale: 'de-DE' })
  await page.getByText('Abgeschaltet: Der Empfänger antwortete 410').first().waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByRole('link', { name: /w{100}/ }).click()
  await page.getByRole('row').filter({ hasText: '410' }).waitFor()
  await expectFits(page)
  await page.goBack()
  await page.getByRole('link', { name: 'Neuer Webhook' }).click()
  await page.getByLabel('Ausgewählte Ereignisse').check()
  await page.getByRole('button', { name: 'Webhook anlegen' }).click()
  await page.getByText('Mindestens ein Ereignis auswählen.').waitFor()
  await expectFits(page)
  for (const { id } of [disabled, long]) await call('DELETE', `${WEBHOOKS}/${id}`)
})
