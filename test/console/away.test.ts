import { expect, test } from 'vitest'
import { expectAccessible, startSite } from '../support/browser.ts'

const site = await startSite()
for (let n = 1; n <= 25; n++) {
  const body = { user_id: 7, limit: 100, name: `Quota ${n}` }
  expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
}

test('a service that goes away is told of, and what was asked for comes by itself when it is back', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('link', { name: 'Quota 25' }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('status').filter({ hasText: 'The service does not answer.' }).waitFor()
  await page.getByRole('alert').filter({ hasText: 'Trying again by itself' }).waitFor()
  await expectAccessible(page)
  await page.context().setOffline(false)
  await page.getByRole('link', { name: 'Quota 5', exact: true }).waitFor()
  await page.getByText('The service does not answer.').waitFor({ state: 'detached' })
})

test('who signs in while the service is away is told so, and can try again', async () => {
  const page = await site.visit('/quotas', { token: null })
  await page.getByLabel('Token', { exact: true }).fill(site.adminToken)
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').filter({ hasText: 'The service does not answer.' }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Quota 25' }).waitFor()
})
