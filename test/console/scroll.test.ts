import { expect, test } from 'vitest'
import { startSite } from '../support/browser.ts'

/** Where pages begin, and where Back leads to. */

const site = await startSite()
const { body: grant } = await site.call('POST', '/api/sms/admin/quota', {
  body: { user_id: 7, limit: 1_000, name: 'Package' },
})
for (let user_id = 1; user_id <= 12; user_id++) {
  await site.call('POST', '/api/sms/admin/quota', { body: { user_id, limit: 100, opening_used: 90 } })
  const body = { user_id, id: 'first', units: 1 }
  await site.call('POST', '/api/sms/sender/quota/consume', { token: site.senderToken, body })
}
const LOW = { now: site.clock.now, viewport: { width: 1280, height: 300 } }

/** Parts of the DOM, whose types the tests do not have. */
interface Clickable {
  click(): void
}

test('a page begins at its top, also if its files and its data load slowly', async () => {
  const page = await site.visit('/quotas', { ...LOW, load: true })
  const scrollY = () => page.evaluate<number>('scrollY')
  const link = page.getByRole('link', { name: 'Package' })
  await link.waitFor()
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  expect(await scrollY()).toBeGreaterThan(0)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(/\/console\/assets\/|\/api\//, async route => {
    await released
    await route.continue()
  })
  // A click by the mouse would scroll to the link.
  await link.evaluate((element: Clickable) => element.click())
  await page.waitForURL(`${site.url}/console/quotas/${grant.id}`)
  await expect.poll(scrollY).toBe(0)
  release()
  await page.getByRole('region', { name: 'Current window' }).waitFor()
  expect(await scrollY()).toBe(0)
})

test('Back from the page of a user leads to where one was on the overview', async () => {
  const page = await site.visit('/overview?by=message_type', LOW)
  const scrollY = () => page.evaluate<number>('scrollY')
  const activity = page.getByRole('region', { name: 'Activity' })
  await activity.getByRole('listitem').first().waitFor()
  const top = page.getByRole('region', { name: 'Top users' })
  const link = top.getByRole('link', { name: 'User 7' })
  await link.waitFor()
  await link.scrollIntoViewIfNeeded()
  const before = await scrollY()
  expect(before).toBeGreaterThan(500)
  await link.click()
  await page.getByRole('region', { name: 'Can this user send?' }).waitFor()
  expect(await scrollY()).toBe(0)
  // After a while, nothing of the overview is in memory any more.
  await page.clock.fastForward(600_000)
  await page.goBack()
  await link.waitFor()
  await expect.poll(scrollY).toBe(before)
  // It stays when the page is no longer kept there, and figures are read again. Those above may change by a part of a pixel.
  await page.clock.fastForward(20_000)
  await activity.getByRole('listitem').first().waitFor()
  expect(Math.abs((await scrollY()) - before)).toBeLessThanOrEqual(1)
})
