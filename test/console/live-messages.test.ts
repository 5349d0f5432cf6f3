import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startSite } from '../support/browser.ts'

/** Lists of messages and denials follow what is sent while they are open. */

const site = await startSite()
const SENDER = '/api/sms/sender/quota'
/** The interval at which an open list is read again. */
const INTERVAL_MS = 10_000

await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 100 } })
const send = async (op: 'reserve' | 'commit', body: object) => {
  site.clock.now += 1_000
  const answer = await site.call('POST', `${SENDER}/${op}`, {
    token: site.senderToken,
    body: { user_id: 7, ...body },
  })
  expect(answer.status).toBe(200)
}
for (let index = 0; index < 15; index++) {
  await send('reserve', { id: `kept-${index}`, units: 1 })
  await send('reserve', { id: `denied-${index}`, units: 1_000 })
}

/** Where the top of a row is on the screen. */
async function topOf(page: Page, row: string): Promise<number | undefined> {
  const box = await page.getByRole('row').filter({ hasText: row }).boundingBox()
  return box === null ? undefined : Math.round(box.y)
}

test('new messages and new states appear, and the rows that are read stay where they are', async () => {
  const page = await site.visit('/users/7/reservations', {
    now: site.clock.now,
    viewport: { width: 1280, height: 500 },
  })
  const row = (id: string) => page.getByRole('row').filter({ hasText: id })
  await row('kept-0').scrollIntoViewIfNeeded()
  await row('kept-0').getByRole('link').first().focus()
  const before = await topOf(page, 'kept-2')
  await send('reserve', { id: 'new', units: 1 })
  await send('commit', { id: 'kept-0' })
  expect(await row('new').count()).toBe(0)
  await page.clock.fastForward(INTERVAL_MS)
  await row('new').waitFor({ state: 'attached' })
  await row('kept-0').getByText('Committed').waitFor()
  await expect.poll(() => topOf(page, 'kept-2')).toBe(before)
  expect(await page.evaluate('document.activeElement.textContent')).toBe('kept-0')
})

test('new denials appear under an open explanation, which stays open', async () => {
  const page = await site.visit('/users/7/denials', { now: site.clock.now })
  const table = page.getByRole('table', { name: 'Denials' })
  await table.getByRole('row').filter({ hasText: 'denied-14' }).getByRole('button').click()
  const dialog = page.getByRole('dialog', { name: 'Why it was denied' })
  await dialog.getByText('1,000 units').first().waitFor()
  await send('reserve', { id: 'refused', units: 2_000 })
  await page.clock.fastForward(INTERVAL_MS)
  await page.locator('table').getByText('refused').waitFor({ state: 'attached' })
  expect(await dialog.isVisible()).toBe(true)
})

test('the life of a message goes on while it is shown', async () => {
  await send('reserve', { id: 'followed', units: 1 })
  const page = await site.visit('/users/7/messages/followed', { now: site.clock.now })
  const steps = page.getByRole('region', { name: 'Life of the message' }).locator('ol > li b')
  await expect.poll(() => steps.allTextContents()).toEqual(['Reserved: 1 unit', '1 unit still reserved'])
  await send('commit', { id: 'followed' })
  await page.clock.fastForward(INTERVAL_MS)
  await expect.poll(() => steps.allTextContents()).toEqual(['Reserved: 1 unit', '1 unit committed'])
})
