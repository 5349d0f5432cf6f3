/** Paused destinations in the console: made, seen where messages are denied, and lifted. */
import { expect, test } from 'vitest'
import { trip } from '../../src/admin/breaker.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/breaker.ts'
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
  await goTo(page, '/pauses?show=over')
  await table.getByRole('row').filter({ hasText: 'France (FR)' }).getByText('Lifted by').waitFor()
})

test('who is denied reads that the destination is paused, and who may lifts the pause there', async () => {
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 72, limit: 10 } })
  await call('POST', '/api/sms/admin/pauses', { body: { user_id: 72, country: 'FR', reason: 'Pumped codes' } })
  await ask('consume', { user_id: 72, id: 'm', units: 1, country: 'FR' })
  const { body } = await call('GET', '/api/sms/admin/denials?user_id=72')
  const page = await site.visit('/users/72', { now: clock.now })
  await page.getByText('Messages to France are paused until further notice.').waitFor()
  await goTo(page, `/users/72/denials?denial=${body.items[0].denial_id}`)
  const explanation = page.getByRole('dialog')
  await explanation.getByText('The destination of this message was paused.').waitFor()
  await explanation.getByRole('button', { name: 'Lift the pause of France for user 72' }).click()
  await page.getByRole('dialog', { name: 'Lift the pause?' }).getByRole('button', { name: 'Lift the pause' }).click()
  await explanation.getByText('Messages to France are no longer paused.').waitFor()
  expect((await ask('check', { user_id: 72, units: 1, country: 'FR' })).body.granted).toBe(true)
})

test('what the breaker paused, and what it only observed, says how many codes were not entered', async () => {
  const codes = [{ start: clock.now - 60_000, end: clock.now, sent: 41, verified: 0 }]
  const evidence = judge(measure(codes, clock.now), { day: 0, quarter: 0 }, DEFAULT_BUDGETS)
  expect(evidence).not.toBe(null)
  if (evidence === null) return
  for (const observed of [true, false]) {
    const found = { user_id: observed ? 73 : 74, country: 'LV', message_types: ['otp'], observed, evidence }
    await trip(db, found, { now: clock.now, actor: 'sms-quota', requestId: 'breaker' })
  }
  const page = await site.visit('/pauses?show=all&origin=breaker', { now: clock.now })
  const row = page.getByRole('row').filter({ hasText: 'Latvia (LV)' })
  const paused = row.filter({ hasText: '41 codes in 5 minutes not entered, 25 allowed' })
  await paused.filter({ hasText: 'Only observed, nothing was denied' }).waitFor()
  await paused.getByRole('button', { name: 'Lift the pause of Latvia for user 74' }).waitFor()
})
