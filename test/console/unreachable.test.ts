import { expect, test } from 'vitest'
import { expectAccessible, RETRY_MS, startSite } from '../support/browser.ts'

const site = await startSite()
for (let n = 1; n <= 30; n++) {
  const body = { user_id: 7, limit: 100, name: `Quota ${n}` }
  expect((await site.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
}

test('shows that the service is not responding, and loads the requested page when it is back', async () => {
  const page = await site.visit('/quotas', { now: Date.now() })
  await page.getByRole('link', { name: 'Quota 30' }).waitFor()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('status').filter({ hasText: 'The service is not responding.' }).waitFor()
  await page.getByRole('alert').filter({ hasText: 'Retrying' }).waitFor()
  await expectAccessible(page)
  await page.context().setOffline(false)
  await page.clock.fastForward(RETRY_MS)
  await page.getByRole('link', { name: 'Quota 5', exact: true }).waitFor()
  await page.getByText('The service is not responding.').waitFor({ state: 'detached' })
})
