import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, goTo, startSite } from '../support/browser.ts'
import { START } from '../support/service.ts'

const site = await startSite({
  env: { AUTH_USER_CLAIM: 'sub', AUTH_USER_REF_CLAIM: 'account', CONTACT_URL: 'https://sms.example/help' },
})
const minute = START / 1_000 + 60

const untilSignInPage = (page: Page) => page.getByRole('heading', { level: 1, name: 'Sign in to sms-quota' }).waitFor()
const stored = (page: Page) => page.evaluate('JSON.stringify(sessionStorage)')

test('a link asks before it signs in, and its token goes to the API only, and stays in no URL', async () => {
  const token = await site.token({ sub: 'ann-4711', name: 'Ann Lee', roles: ['sms-quota:admin'] })
  const page = await site.visit(`/quotas?kind=cap#token=${token}`, { token: null })
  const url = `${site.url}/console/quotas?kind=cap`
  const isAsked = (name: string) => page.getByRole('heading', { level: 1, name: `Sign in as “${name}”?` }).waitFor()
  const open = (other: string) => page.evaluate(`location.hash = ${JSON.stringify(`token=${other}`)}`)
  await isAsked('Ann Lee')
  expect(page.url()).toBe(url)
  await page.getByText('ann-4711').waitFor()
  await page.getByText('Administrator').waitFor()
  await expectAccessibleInEachLayout(page)
  // Until then nothing is kept, so a reload forgets it.
  expect(await stored(page)).toBe('{}')

  // Who declines is asked again for the next, and for the last of several.
  await page.getByRole('button', { name: 'Do not sign in' }).click()
  await untilSignInPage(page)
  expect(await page.getByRole('link', { name: 'Ask for help' }).getAttribute('href')).toBe('https://sms.example/help')
  expect(await stored(page)).toBe('{}')
  await open(await site.token({ sub: '1', exp: START / 1_000 - 60 }))
  await page.getByRole('alert').filter({ hasText: 'The token has expired.' }).waitFor()
  expect(page.url()).toBe(url)
  await open(await site.userToken(8))
  await isAsked('8')
  const sent: Request[] = []
  page.on('request', request => sent.push(request))
  await open(token)
  await isAsked('Ann Lee')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  expect(page.url()).toBe(url)
  await expect.poll(() => page.title()).toBe('Quotas · sms-quota')
  await page.reload()
  await page.getByRole('button', { name: 'Account: Ann Lee' }).waitFor()
  await page.getByRole('table').or(page.getByText('No quotas')).waitFor()
  expect(sent.map(request => request.url()).filter(address => address.includes(token))).toEqual([])
  const carrying = sent.filter(request => JSON.stringify(request.headers()).includes(token))
  const paths = carrying.map(request => new URL(request.url()).pathname)
  expect(paths.length).toBeGreaterThan(0)
  expect(paths.filter(path => !path.startsWith('/api/sms/'))).toEqual([])
})

test('a link opened in a signed-in tab replaces the session only if the user agrees, or if it has expired', async () => {
  const page = await site.visit('/mine')
  await page.getByText('User 1', { exact: true }).waitFor()
  const dialog = page.getByRole('dialog', { name: 'Replace your session?' })
  const token = await site.token({ sub: '7', exp: minute })
  const before = await stored(page)

  await page.evaluate(`location.hash = 'token=${token}'`)
  await dialog.getByText('You are signed in as “1”.').waitFor()
  expect(page.url()).toBe(`${site.url}/console/mine`)
  await expectAccessible(dialog)
  await dialog.getByRole('button', { name: 'Keep my session' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await stored(page)).toBe(before)
  await page.getByText('User 1', { exact: true }).waitFor()

  // Also when the link loads the page.
  const load = async (other: string) => {
    await page.goto('about:blank')
    await page.goto(`${site.url}/console/mine#token=${other}`)
  }
  await load(token)
  await dialog.getByRole('button', { name: 'Sign in with the link' }).click()
  await page.getByText('User 7', { exact: true }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'My quotas' }).waitFor()

  const clock = site.clock.now
  site.clock.now += 120_000
  try {
    await load(await site.userToken(8))
    await page.getByRole('heading', { level: 1, name: 'Sign in as “8”?' }).waitFor()
    expect(await stored(page)).toBe('{}')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('User 8', { exact: true }).waitFor()
  } finally {
    site.clock.now = clock
  }
})

test('a pasted token or header line signs in and opens the requested page; others are rejected, and not stored', async () => {
  const page = await site.visit('/quotas', { token: null })
  await untilSignInPage(page)
  const paste = async (token: string) => {
    await page.getByLabel('Token', { exact: true }).fill(token)
    await page.keyboard.press('Enter')
  }
  const cases: [string, string | RegExp][] = [
    ['', 'Paste a token first.'],
    ['two words', /not a token/],
    ['eyJmYWtl', /The token is malformed/],
    [await site.token({ sub: '1', exp: START / 1_000 - 60 }), /The token has expired/],
    [`${site.adminToken.slice(0, -8)}AAAAAAAA`, /The signature of the token is wrong/],
  ]
  for (const [token, message] of cases) {
    await paste(token)
    await page.getByRole('alert').filter({ hasText: message }).waitFor()
  }
  await expectAccessible(page)
  expect(await stored(page)).toBe('{}')

  await paste(site.senderToken)
  await page.getByRole('heading', { level: 1, name: 'No access with this token' }).waitFor()
  await page.getByText('it is a sender’s token').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Sign in with another token' }).click()
  await untilSignInPage(page)

  await paste(await site.token({ sub: 'cleo', account: 'C-1042' }))
  await page.getByRole('heading', { level: 1, name: 'Nothing here yet' }).waitFor()
  await page.getByText('Your account “C-1042” is not known here yet.').waitFor()
  await expectAccessible(page)
  await site.call('PUT', '/api/sms/admin/users/1042/profile', { body: { ref: 'C-1042' } })
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'My quotas' }).waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await untilSignInPage(page)

  await page.context().setOffline(true)
  await paste(`  Authorization: Bearer ${site.adminToken}\n`)
  await page.getByRole('alert').filter({ hasText: 'The service is not responding.' }).waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
})

test('shows each role its pages, also without a user id', async () => {
  const page = await site.visit('/quotas', { token: await site.userToken(7) })
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  expect(await links.allTextContents()).toEqual(['My quotas', 'Message cost'])
  for (const [role, title] of [
    ['auditor', 'Overview'],
    ['support', 'Overview'],
    ['admin', 'Get started'],
  ] as const) {
    await goTo(page, '/', await site.token({ sub: role, name: 'Ann Lee', roles: [`sms-quota:${role}`] }))
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByRole('button', { name: 'Account: Ann Lee' }).waitFor()
  }
  const titles = [
    'Overview',
    'Customers',
    'Requests',
    'Messages',
    'Quotas',
    'Plans',
    'Prices',
    'Rules',
    'Changes',
    'Webhooks & alerts',
  ]
  expect(await links.allTextContents()).toEqual(titles)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Message cost' }).click()
  await page.getByRole('heading', { level: 1, name: 'Message cost' }).waitFor()
  await page.getByRole('region', { name: 'Units' }).waitFor()
  expect(await page.getByRole('region', { name: 'What you can send now' }).count()).toBe(0)
})

test('leads administrators of an empty service to the first message', async () => {
  const page = await site.visit('/', { now: Date.now() })
  await page.getByRole('heading', { level: 1, name: 'Get started' }).waitFor()
  await page.getByLabel('User id').fill('seven')
  await page.getByRole('button', { name: 'Create quota' }).click()
  await page.getByText('Enter the id of a user: a whole number.').waitFor()
  await page.getByLabel('User id').fill('8')
  await page.getByLabel('Units a month').fill('50')
  await page.keyboard.press('Enter')
  await page.getByText('Waiting for a message of user 8…').waitFor()
  await page.getByText('bin/sms-quota token --subject my-sender --role sender --ttl 1h').waitFor()
  await expectAccessibleInEachLayout(page.getByRole('main'))

  // The call that the page shows, with a sender's token.
  const shown = (await page.getByText('/api/sms/sender/quota/consume').textContent()) ?? ''
  const [, path = '', body = ''] = /curl http:\/\/[^/]+(\S+).*-d '(.*)'/s.exec(shown) ?? []
  const answer = await site.call('POST', path, { token: site.senderToken, body: JSON.parse(body) })
  expect(answer.body).toMatchObject({ granted: true, user_id: 8, remaining: 49 })
  await page.clock.fastForward(2_000)
  await page.getByText('Message first-message has arrived and took 1 unit.').waitFor()
  await page.getByRole('link', { name: 'Grant' }).click()
  await page.waitForURL(/\/console\/quotas\/\d+$/)
  await site.call('DELETE', new URL(page.url()).pathname.replace('/console/quotas/', '/api/sms/admin/quota/'))
})

test('signing out deletes the token, and what the search has opened', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  const { body } = await site.call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 1 } })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('7')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/users/7`)
  await page.getByRole('heading', { level: 1, name: 'User 7' }).waitFor()
  expect(await page.evaluate("localStorage.getItem('sms-quota.recent')")).toContain('User 7')
  await site.call('DELETE', `/api/sms/admin/quota/${body.id}`)
  await page.getByRole('button', { name: 'Account: User 1' }).click()
  await page.getByText('Administrator').waitFor()
  await expectAccessible(page.getByRole('menu'))
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await untilSignInPage(page)
  // Nothing that a reload could sign in with.
  expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).toBe('[{},{}]')
  expect(await page.context().cookies()).toEqual([])
})

test('renews an expired session in place, and keeps the input', async () => {
  const clock = site.clock.now
  const page = await site.visit('/quotas', {
    token: await site.token({ sub: '5', roles: ['sms-quota:admin'], exp: minute }),
  })
  await page.getByText('No quotas').waitFor()
  site.clock.now += 120_000
  try {
    await page.getByLabel('User', { exact: true }).fill('4711')
    await page.getByLabel('Kind').selectOption('cap')
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
    await dialog.waitFor()
    await expectAccessible(dialog)
    await dialog.getByLabel('Token', { exact: true }).fill(site.adminToken)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').filter({ hasText: 'not for “5”' }).waitFor()
    await dialog.getByLabel('Token', { exact: true }).fill(await site.token({ sub: '5', roles: ['sms-quota:admin'] }))
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('4711')
    await page.getByText('No quota matches these filters.').waitFor()
  } finally {
    site.clock.now = clock
  }
})
