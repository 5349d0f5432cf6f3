/** An operator finds the customers that need help, those that grow, and takes the list along as a file. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { expectAccessibleInEachLayout, startSite } from '../support/browser.ts'

const site = await startSite()
const { call, clock, db } = site

async function customer(user_id: number, name: string, limit: number, sends: readonly number[]): Promise<void> {
  await call('PUT', `/api/sms/admin/users/${user_id}/profile`, { body: { name, ref: `customer-${user_id}` } })
  const quota = { user_id, limit, period: 'month', time_zone: 'UTC', alert_at: [80] }
  expect((await call('POST', '/api/sms/admin/quota', { body: quota })).status).toBe(201)
  for (const [n, units] of sends.entries()) {
    const body = { user_id, id: `m-${n}`, units }
    await call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body })
  }
}
await customer(1, 'Zeta', 1_000, [400, 50])
await customer(2, 'Acme', 100, [95])
await customer(3, 'Nordwind GmbH & Co. KG für Benachrichtigungen aller Art', 100, [100, 25])
await createUsageRollup({ db, log: console }).rollUpOnce()
clock.now += 10 * 60_000
while ((await createCustomerFigures({ db, now: () => clock.now }).renewOnce(clock.now)).isBehind);

test('lists customers by what they sent, shows those at risk, sorts, and saves a file', async () => {
  const page = await site.visit('/users', { now: clock.now })
  const names = () => page.getByRole('rowheader').getByRole('link').allTextContents()
  const untilListed = (...ids: number[]) =>
    expect.poll(async () => (await names()).map(name => Number(/\((\d)\)$/.exec(name)?.[1]))).toEqual(ids)
  await untilListed(1, 3, 2)
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('Zeta').getByText('550 now').waitFor()
  await row('Zeta').getByText('Can send').waitFor()
  await row('Zeta').getByText('45%').waitFor()
  await row('Zeta').getByRole('img', { name: 'Units on each of the last 30 days, at most 450' }).waitFor()
  await row('Zeta').getByText('customer-1').waitFor()
  await row('Zeta').getByText('new', { exact: true }).waitFor()
  await row('Nordwind').getByText('Blocked').waitFor()
  await row('Nordwind').getByRole('link', { name: 'Quota exhausted' }).waitFor()
  await row('Nordwind').getByText('20%').waitFor()
  await expectAccessibleInEachLayout(page)

  await page.getByRole('button', { name: 'Customer' }).click()
  await untilListed(2, 3, 1)
  await page.getByRole('link', { name: 'At risk' }).click()
  await untilListed(3, 2)
  expect(new URL(page.url()).search).toBe('?view=at_risk')
  await row('Acme').getByText('Near a limit').waitFor()

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  await page.getByText('2 customers exported.').waitFor()
  const lines = (await readFile(await (await download).path(), 'utf8')).split('\n')
  expect(lines[0]).toMatch(/^user_id,user_ref,user_name,state,reason,sendable,.*,daily\r?$/)
  expect(lines.slice(1, 3)).toEqual([
    expect.stringMatching(
      /^3,customer-3,Nordwind .*,blocked,quota_exhausted,0,2026-04-01T00:00:00.000Z,\d+,,,100,100,25,20,,25,/,
    ),
    expect.stringMatching(/^2,customer-2,Acme,near_limit,,5,/),
  ])

  await page.getByRole('link', { name: 'Ask for more than they may' }).click()
  await untilListed(3)
  await row('Nordwind').getByText('25', { exact: true }).waitFor()
  await page.getByText('How old these figures are').click()
  await page.getByText('has what happened until').waitFor()
  await page.getByLabel('State').selectOption('ending')
  await page.getByText('No customer matches').waitFor()
})

test('in German, customers fit 360 px', async () => {
  const page = await site.visit('/users?view=at_risk', { locale: 'de-DE', now: clock.now })
  await page.getByRole('row').filter({ hasText: 'Nordwind' }).getByText('jetzt nichts').waitFor()
  await expectAccessibleInEachLayout(page)
})
