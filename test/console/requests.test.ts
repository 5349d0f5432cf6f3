/** A user asks for more units in the console, and an administrator decides from the link of the message. */
import { expect, test } from 'vitest'
import { messageOf } from '../../src/messages/message.ts'
import { expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const { call, clock } = site

/** The link of the message about the latest event of a user. */
async function messageLink(user_id: number): Promise<string> {
  const { body } = await call('GET', `/api/sms/admin/events?user_id=${user_id}&last=1`)
  const [event] = body.items
  expect(event.type).toBe('request.made')
  const first = [{ ...event, at: Date.parse(event.at) }]
  const context = { language: 'en', webhookId: 1, isDigest: false, publicUrl: site.url, names: new Map() } as const
  const link = messageOf({ first, counts: [{ type: event.type, count: 1 }] }, context).link?.url ?? ''
  expect(link.startsWith(`${site.url}/console/`)).toBe(true)
  return link.slice(`${site.url}/console`.length)
}

test('a user asks for 500 more, an administrator approves 300 from the link, and the user reads it', async () => {
  const user_id = 71
  const quota = { user_id, limit: 1_000, period: 'month', name: 'Package' }
  const { id } = (await call('POST', '/api/sms/admin/quota', { body: quota })).body
  await call('PUT', `/api/sms/admin/users/${user_id}/profile`, { body: { name: 'Acme' } })
  const userToken = await site.userToken(user_id)

  const page = await site.visit('/mine', { token: userToken, now: clock.now })
  await page.getByRole('button', { name: 'Ask for more…' }).click()
  const asking = page.getByRole('dialog', { name: 'Ask for more units' })
  await asking.getByRole('textbox', { name: 'Units' }).fill('500')
  await asking.getByRole('radio', { name: 'For good' }).check()
  await asking.getByRole('button', { name: 'Ask', exact: true }).click()
  await asking.getByText('Enter a reason of at most 500 characters.').waitFor()
  await expectAccessibleInEachLayout(asking)
  await asking.getByRole('textbox', { name: 'Reason' }).fill('Sale in April')
  // The service makes the request, and its answer is lost.
  await page.route('**/api/sms/quota/requests', async route => {
    if (route.request().method() !== 'POST') return route.fallback()
    await route.fetch()
    await route.abort()
  })
  await asking.getByRole('button', { name: 'Ask', exact: true }).click()
  await asking.getByText('The change is applied only once.').waitFor()
  await page.unroute('**/api/sms/quota/requests')
  await asking.getByRole('button', { name: 'Ask', exact: true }).click()
  await asking.getByText('Your request for 500 units was sent.').waitFor()
  await asking.getByRole('button', { name: 'Close' }).last().click()
  const own = page.getByRole('table', { name: 'My requests for more units' }).getByRole('row')
  await own.filter({ hasText: 'Sale in April' }).filter({ hasText: 'Open' }).waitFor()
  expect(await own.count()).toBe(2)

  const link = await messageLink(user_id)
  await goTo(page, link, site.adminToken)
  const deciding = page.getByRole('dialog', { name: 'Request for more units' })
  await deciding.getByText('Acme (71) asks for 500 units for good: Grant Package').waitFor()
  await expectAccessibleInEachLayout(deciding)
  await deciding.getByRole('textbox', { name: 'Units' }).fill('300')
  await deciding.getByRole('textbox', { name: 'Note' }).fill('For the start.')
  await deciding.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved: Acme (71) gets 300 units.').waitFor()
  await page.getByText('No request is open').waitFor()
  expect((await call('GET', `/api/sms/admin/quota/${id}`)).body.limit).toBe(1_300)
  // Later, the link says what became of it.
  await goTo(page, link)
  await deciding.getByText('300 units given for good').waitFor()

  await goTo(page, '/mine', userToken)
  await own.filter({ hasText: '300 units given for good' }).filter({ hasText: 'For the start.' }).waitFor()
  await page.getByRole('button', { name: 'Ask for more…' }).click()
  await asking.getByRole('textbox', { name: 'Units' }).fill('20')
  await asking.getByRole('textbox', { name: 'Reason' }).fill('A test')
  await asking.getByRole('button', { name: 'Ask', exact: true }).click()
  await asking.getByRole('button', { name: 'Close' }).last().click()

  await goTo(page, '/overview', site.adminToken)
  await page.getByRole('link', { name: '1 request waits' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Acme (71)' })
  await row.getByRole('button', { name: 'Approve 20 units for Acme (71)' }).waitFor()
  await goTo(page, `/users/${user_id}`)
  const open = page.getByRole('region', { name: 'Requests for more units' })
  await open.getByRole('button', { name: 'Decline 20 units for Acme (71)' }).click()
  await deciding.getByRole('button', { name: 'Decline', exact: true }).click()
  await page.getByText('Declined: the request of Acme (71).').waitFor()
  await open.getByRole('row').filter({ hasText: '20 units' }).getByText('Declined').waitFor()
  expect(await open.getByRole('button').count()).toBe(0)
})
