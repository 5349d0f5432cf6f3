/** Paused destinations in the console: made, seen where messages are denied, and lifted. */
import { expect, test } from 'vitest'
import { trip } from '../../src/admin/pauses/breaker.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/pauses/breaker.ts'
import { expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const { call, clock, db, senderToken } = site
const ask = (op: string, body: object) => call('POST', `/api/sms/sender/quota/${op}`, { token: senderToken, body })

test('a person pauses countries for a user and one for all, and lifts one of them', async () => {
  const page = await site.visit('/pauses?pause=FR&for=71', { now: clock.now })
  const form = page.getByRole('dialog', { name: 'Pause destinations' })
  expect(await form.getByLabel('User id or ref: and the reference').inputValue()).toBe('71')
  await form.getByRole('combobox', { name: 'Countries' }).fill('Belgium')
  await page.getByRole('option', { name: /^Belgium/ }).click()
  await form.getByRole('button', { name: 'Make 2 pauses' }).click()
  await form.getByText('Enter a reason.').waitFor()
  await expectAccessibleInEachLayout(form)
  await form.getByRole('textbox', { name: 'Reason' }).fill('Pumped codes')
  await form.getByRole('button', { name: 'Make 2 pauses' }).click()
  await page.getByText('Paused: France and Belgium.').waitFor()
  const table = page.getByRole('table', { name: 'Paused destinations' })
  await table.getByRole('row').filter({ hasText: 'France (FR)' }).filter({ hasText: 'Pumped codes' }).waitFor()

  await page.getByRole('button', { name: 'Lift the pause of France for user 71' }).click()
  const lifting = page.getByRole('dialog', { name: 'Lift the pause?' })
  await expectAccessibleInEachLayout(lifting)
  await lifting.getByRole('button', { name: 'Lift the pause' }).click()
  await page.getByText('Messages to France are no longer paused.').waitFor()
  const { body } = await call('GET', '/api/sms/admin/pauses?user_id=71')
  expect(body.items).toMatchObject([
    { country: 'BE', active: true },
    { country: 'FR', active: false },
  ])

  // A country without a user, as "Pause for all users" links to it.
  await goTo(page, '/pauses?pause=NL')
  expect(await form.getByRole('radio', { name: 'All users' }).isChecked()).toBe(true)
  await page.keyboard.press('Escape')
  await goTo(page, '/pauses?show=over')
  await table.getByRole('row').filter({ hasText: 'France (FR)' }).getByText('Lifted by').waitFor()
})

test('who is denied reads that the destination is paused, and who may lifts the pause there', async () => {
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 72, limit: 10 } })
  await call('POST', '/api/sms/admin/pauses', { body: { user_id: 72, country: 'FR', reason: 'Pumped codes' } })
  await ask('consume', { user_id: 72, id: 'm', units: 1, country: 'FR' })
  const { body } = await call('GET', '/api/sms/admin/denials?user_id=72')
  const page = await site.visit('/users/72', { now: clock.now })
  await page.getByText('Messages to France are paused until further notice: Pumped codes').waitFor()
  await goTo(page, `/users/72/denials?denial=${body.items[0].denial_id}`)
  const explanation = page.getByRole('dialog')
  await explanation.getByText('The destination of this message was paused.').waitFor()
  await explanation.getByRole('button', { name: 'Lift the pause of France for user 72' }).click()
  await page.getByRole('dialog', { name: 'Lift the pause?' }).getByRole('button', { name: 'Lift the pause' }).click()
  await explanation.getByText('Messages to France are no longer paused.').waitFor()
  expect((await ask('check', { user_id: 72, units: 1, country: 'FR' })).body.granted).toBe(true)
})

test('what the breaker paused says why, where messages are denied, too, and users read only until when', async () => {
  const codes = [{ start: clock.now - 1_800_000, end: clock.now - 1_740_000, sent: 41, verified: 0 }]
  const evidence = judge(measure(codes, clock.now), { day: 0, quarter: 0 }, DEFAULT_BUDGETS)
  expect(evidence).not.toBe(null)
  if (evidence === null) return
  for (const observed of [true, false]) {
    const found = { user_id: observed ? 73 : 74, country: 'LV', message_types: ['otp'], observed, evidence }
    await trip(db, found, { now: clock.now, actor: 'sms-quota', requestId: 'breaker' })
  }
  const page = await site.visit('/pauses?show=all&origin=breaker', { now: clock.now })
  const row = page.getByRole('row').filter({ hasText: 'Latvia (LV)' })
  const paused = row.filter({ hasText: '41 codes in an hour not entered, 15 allowed' })
  await paused.filter({ hasText: 'Only observed, nothing was denied' }).waitFor()
  await paused.getByRole('button', { name: 'Lift the pause of Latvia for user 74' }).waitFor()

  await call('POST', '/api/sms/admin/quota', { body: { user_id: 74, limit: 10 } })
  // A process that makes a pause reads those that others made.
  await call('POST', '/api/sms/admin/pauses', { body: { user_id: 75, country: 'LV' } })
  const denied = await ask('consume', { user_id: 74, id: 'm', units: 1, country: 'LV', message_type: 'otp' })
  expect(denied.body.reason).toBe('destination_paused')
  const { denial_id } = (await call('GET', '/api/sms/admin/denials?user_id=74')).body.items[0]
  const until = 'Messages of type otp to Latvia are paused until 15 Mar 2026, 14:00'
  await goTo(page, '/mine', await site.userToken(74))
  await page.getByText(`${until}.`).waitFor()
  await goTo(page, `/mine/denials?denial=${denial_id}`)
  const explanation = page.getByRole('dialog', { name: 'Why it was denied' })
  await explanation.getByText('The destination of this message was paused.').waitFor()
  expect(await explanation.getByText(/41 codes|What helps/).count()).toBe(0)

  const why = `${until}: 41 codes in an hour, none entered`
  const lift = { name: 'Lift the pause of Latvia for user 74' }
  await goTo(page, `/users/74/denials?denial=${denial_id}`, site.adminToken)
  await explanation.getByText(why).waitFor()
  await explanation.getByRole('button', lift).waitFor()
  await goTo(page, '/users/74')
  await page.getByRole('region', { name: 'Can this user send?' }).getByText(why).waitFor()
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  const check = page.getByRole('region', { name: 'Would this message go?' })
  await check.getByRole('textbox', { name: 'Phone number or country' }).fill('LV')
  await check.getByRole('textbox', { name: 'Message type' }).fill('otp')
  await check.getByRole('button', { name: 'Check' }).click()
  await check.getByText(why).waitFor()
  await expectAccessibleInEachLayout(check)
  await check.getByRole('button', lift).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Lift the pause' }).click()
  await check.getByText('Yes, it would go now.').waitFor()
})

test('rules say what they denied in the last day, and lead to the plan of the caps', async () => {
  const slots = [
    { slot: 'monthly', limit: 10 },
    { slot: 'codes', name: 'Codes to one country', kind: 'cap', limit: 1, period: 'hour', per: 'country' },
  ]
  const { body: plan } = await call('POST', '/api/sms/admin/plans', { body: { name: 'Basic', slots } })
  await call('PUT', '/api/sms/admin/users/75/plan', { body: { plan_id: plan.id } })
  await call('POST', '/api/sms/admin/pauses', { body: { user_id: 75, country: 'MT', reason: 'Pumped codes' } })
  const code = { user_id: 75, units: 1, country: 'DE' }
  expect((await ask('consume', { id: 'first', ...code })).body.granted).toBe(true)
  expect((await ask('consume', { id: 'second', ...code })).body.granted).toBe(false)
  expect((await ask('consume', { id: 'malta', ...code, country: 'MT' })).body.granted).toBe(false)
  const page = await site.visit('/pauses?user_id=75', { now: clock.now })
  const pause = page.getByRole('row').filter({ hasText: 'Malta (MT)' })
  await pause.getByRole('link', { name: '1', exact: true }).click()
  await page.getByRole('row').filter({ hasText: 'malta' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Caps' }).click()
  await page.getByText('No plan is the default').waitFor()
  await call('PUT', `/api/sms/admin/plans/${plan.id}`, { body: { is_default: true } })
  await goTo(page, '/pauses/caps')
  const cap = page.getByRole('row').filter({ hasText: 'Codes to one country' })
  await cap.getByRole('link', { name: '1', exact: true }).waitFor()
  await page.getByText('Other caps denied no message.').waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))
  await page.getByRole('link', { name: 'Edit the plan “Basic”' }).click()
  await page.waitForURL(`${site.url}/console/plans/${plan.id}/edit`)
})
