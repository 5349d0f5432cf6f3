/** Who acted is shown by the name in the token. */
import type { Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { expectAccessibleInEachLayout, follow, goTo, startSite } from '../support/browser.ts'

const site = await startSite()
const { call, clock } = site
const QUOTA = '/api/sms/admin/quota'
const UUID = '8f0c2d7e-5a41-4c1b-9f7e-0d6b1a2c3e4f'

const admin = (claims: object) => site.token({ roles: ['sms-quota:admin'], ...claims })
const ann = await admin({ sub: UUID, name: 'Ann Lee' })
const ben = await admin({ sub: 'ben,1', name: 'Ben Ode' })
const unnamed = await admin({ sub: 'robot' })
const gateway = await site.token({ sub: 'client-77', name: 'Gateway North', roles: ['sms-quota:sender'] })

/* User 7 has a quota of Ann's that Ben, the robot and again Ann have changed, and a message of a sender with a name. */
const { body: quota } = await call('POST', QUOTA, { token: ann, body: { user_id: 7, limit: 50, name: 'Monthly' } })
for (const [limit, token] of [
  [60, ben],
  [70, unnamed],
  [80, ann],
] as const) {
  clock.now += 60_000
  expect((await call('PUT', `${QUOTA}/${quota.id}`, { token, body: { limit } })).status).toBe(200)
}
const message = { user_id: 7, id: 'm-1', units: 1 }
expect((await call('POST', '/api/sms/sender/quota/consume', { token: gateway, body: message })).status).toBe(200)
const known = new URLSearchParams([UUID, 'ben,1', 'client-77'].map((subject): [string, string] => ['subject', subject]))
await vi.waitFor(async () => expect((await call('GET', `/api/sms/admin/names?${known}`)).body.items).toHaveLength(3))

/** The calls for names that the page makes from now on. */
function watchNames(page: Page): URLSearchParams[] {
  const asked: URLSearchParams[] = []
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/api/sms/admin/names') asked.push(searchParams)
  })
  return asked
}
const soon = <T>(read: () => Promise<T>) => expect.poll(read)

test('a history names its actors, asked for in one call and once', async () => {
  const page = await site.visit('/webhooks')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const asked = watchNames(page)
  await follow(page, `/quotas/${quota.id}?view=history`)
  const changes = page.getByRole('list', { name: 'Changes' }).getByRole('listitem')
  await soon(() => changes.allTextContents()).toEqual([
    expect.stringContaining(`by “Ann Lee” · ${UUID}`),
    expect.stringMatching(/by “robot”(?! ·)/),
    expect.stringContaining('by “Ben Ode” · ben,1'),
    expect.stringContaining(`Created by “Ann Lee” · ${UUID}`),
  ])
  await follow(page, '/users/7/changes')
  const row = page.getByRole('row').filter({ hasText: '“Ben Ode”' })
  await row.waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await row.innerText()).toContain('“Ben Ode” · ben,1')
  expect(asked.map(query => query.getAll('subject').sort())).toEqual([[UUID, 'ben,1', 'robot']])
  await expectAccessibleInEachLayout(page.getByRole('table'))
})

test('the reader is named by the own token, and others by theirs', async () => {
  const page = await site.visit(`/quotas/${quota.id}?view=history`, { token: ben })
  await page.getByRole('listitem').filter({ hasText: 'by “Ben Ode” (you) · ben,1' }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'by “Ann Lee”' }).first().waitFor()
})

test('a name that poses as someone else does not hide the subject', async () => {
  const posing = await admin({ sub: 'mallory', name: '\u202erobot\u200b' })
  expect((await call('PUT', `${QUOTA}/${quota.id}`, { token: posing, body: { limit: 90 } })).status).toBe(200)
  const names = async () => (await call('GET', '/api/sms/admin/names?subject=mallory')).body.items
  await vi.waitFor(async () => expect(await names()).toEqual([{ subject: 'mallory', name: 'robot' }]))
  const page = await site.visit(`/quotas/${quota.id}?view=history`)
  await page.getByRole('listitem').filter({ hasText: 'by “robot” · mallory' }).waitFor()
  await goTo(page, '/overview')
  const activity = page.getByRole('region', { name: 'Activity' })
  await activity.getByRole('listitem').filter({ hasText: 'updated by robot · mallory' }).waitFor()
})

test('the activity feed names who changed a quota', async () => {
  const page = await site.visit('/overview')
  const activity = page.getByRole('region', { name: 'Activity' })
  for (const text of [
    `created by Ann Lee · ${UUID}`,
    'updated by Ben Ode · ben,1',
    'updated by robot:',
    'updated by Ann Lee ·',
  ])
    await activity.getByRole('listitem').filter({ hasText: text }).waitFor()
})

test('the life of a message and the overview name its sender', async () => {
  const page = await site.visit('/users/7/messages/m-1', { now: clock.now })
  const life = page.getByRole('region', { name: 'Life of the message' })
  await life.getByText('by sender Gateway North · client-77').waitFor()
  await goTo(page, '/overview?by=sender')
  const senders = page.getByRole('region', { name: 'Where messages come from' })
  await senders.getByRole('row').filter({ hasText: 'Gateway North' }).getByTitle('client-77').waitFor()
})

test('without the names, subjects are shown', async () => {
  const page = await site.visit('/webhooks')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.route('**/api/sms/admin/names?*', route => route.abort())
  await follow(page, `/quotas/${quota.id}?view=history`)
  await page
    .getByRole('listitem')
    .filter({ hasText: `Created by “${UUID}”` })
    .waitFor()
})

test('a customer asks for no names, and sees none of staff', async () => {
  const page = await site.visit('/cost', { token: await site.userToken(7) })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const asked = watchNames(page)
  for (const path of ['/mine', '/mine/messages/m-1', '/cost']) {
    await follow(page, path)
    expect(await page.getByRole('main').textContent()).not.toMatch(/Ann|Ben|Gateway|robot|client-77/)
  }
  expect(asked).toEqual([])
})

test('users are called by their name, or by their reference, with the id beside it', async () => {
  const profile = '/api/sms/admin/users/7/profile'
  expect((await call('PUT', profile, { body: { ref: 'customer-7' } })).status).toBe(200)
  const page = await site.visit('/quotas', { now: clock.now })
  await page.getByRole('cell', { name: 'customer-7 (7)' }).waitFor()
  expect((await call('PUT', profile, { body: { name: '\u202eNorth' } })).status).toBe(200)
  const who = /North \(7\)$/
  for (const path of ['/overview?top=day', `/quotas/${quota.id}`, '/users/7/messages/m-1']) {
    await follow(page, path)
    const link = page.getByRole('main').getByRole('link', { name: who }).first()
    expect(await link.getAttribute('href')).toBe('/console/users/7')
    expect(await link.locator('bdi').textContent()).toBe('\u202eNorth')
  }
})
