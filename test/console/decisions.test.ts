import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'
import { startSite } from '../support/browser.ts'

/* What the overview puts first, on a platform of four users, and 20 others with small quotas. */
const site = await startSite()
const { call, clock, senderToken } = site
const ask = (op: string, body: object) => call('POST', `/api/sms/sender/quota/${op}`, { token: senderToken, body })
async function allow(body: object): Promise<void> {
  expect((await call('POST', '/api/sms/admin/quota', { body: { limit: 1_000, ...body } })).status).toBe(201)
}
const panel = (page: Page, title: string) => page.getByRole('region', { name: title })

const expires_at = new Date(clock.now + 3 * DAY_MS).toISOString()
await allow({ user_id: 1, name: 'Trial', limit: 100, expires_at, alert_at: [] })
await allow({ user_id: 2, name: 'Pack', limit: 5_000, expires_at, alert_at: [] })
await allow({ user_id: 3, name: 'Nearly', alert_at: [50] })
await allow({ user_id: 4, name: 'Almost', alert_at: [90] })
await allow({ user_id: 4, name: 'Daily', kind: 'cap', period: 'day', alert_at: [] })
await ask('consume', { user_id: 3, id: 'otp', units: 555, message_type: 'otp' })
await ask('consume', { user_id: 4, id: 'news', units: 999, message_type: 'news' })
await ask('consume', { user_id: 4, id: 'capped', units: 50 })
await Promise.all(
  Array.from({ length: 20 }, async (_, index) => {
    const user_id = 100 + index
    await allow({ user_id, limit: 10, alert_at: [10] })
    await ask('consume', { user_id, id: 'first', units: 1 })
  }),
)
clock.now += HOUR_MS
for (const id of ['one', 'two']) await ask('consume', { user_id: 3, id, units: 900 })

test('what is nearest to its limit and what loses most comes first, with real percents, and denials by the hour', async () => {
  const page = await site.visit('/overview?by=message_type', { now: clock.now })
  const near = panel(page, 'Near their limit').getByRole('row')
  await near.nth(1).filter({ hasText: 'Almost' }).getByText('99%').waitFor()
  await near.nth(2).filter({ hasText: 'Nearly' }).getByText('55%').waitFor()
  const ending = panel(page, 'Ending this week').getByRole('row')
  await ending.nth(1).filter({ hasText: 'Pack' }).getByText('5,000', { exact: true }).waitFor()
  await ending.nth(2).filter({ hasText: 'Trial' }).getByText('100', { exact: true }).waitFor()
  const types = panel(page, 'Where messages go').getByRole('row')
  await types.filter({ hasText: 'news' }).getByText('999').waitFor()
  await types.filter({ hasText: 'otp' }).getByText('555').waitFor()

  // A limit is adjusted without leaving the page.
  await near.nth(2).getByRole('button', { name: 'Actions for Nearly' }).click()
  await page.getByRole('menuitem', { name: 'Adjust' }).click()
  await page.getByRole('dialog').getByRole('button', { name: '+100', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Goodwill' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Adjust limit' }).click()
  await near.filter({ hasText: 'Nearly' }).getByText('50%').waitFor()

  // Further ones are loaded, and what their users can send.
  const list = panel(page, 'Near their limit')
  await list.getByRole('button', { name: 'Show the first 20' }).click()
  await list.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => list.getByRole('rowheader').count()).toBe(22)
  await expect.poll(() => list.getByRole('cell', { name: '9', exact: true }).count()).toBe(20)

  // Denials are shown by the hour and reason.
  const denied = panel(page, 'Denied in 24 hours')
  await denied.getByText('messages, 1,850 units').waitFor()
  const chart = denied.getByRole('img', { name: 'Most from 14:00: 2.' })
  expect(await chart.getByTitle('From 13:00').getAttribute('title')).toBe('From 13:00: 1 cap reached')
  expect(await chart.getByTitle('From 14:00').getAttribute('title')).toBe('From 14:00: 2 quota exhausted')
  expect(await chart.getByTitle('none denied').count()).toBe(22)
})
