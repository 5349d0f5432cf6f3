import { expect, test } from 'vitest'
import { expectAccessible, expectAccessibleInEachLayout, startSite } from '../support/browser.ts'
import { START } from '../support/service.ts'

const site = await startSite()
const minute = START / 1_000 + 60

/** Opens a sign-in link in a tab without a session. */
const openLink = (path: string, token: string) => site.visit(`${path}#token=${token}`, { token: null })

test('a link asks before it signs in, and its token is removed from the URL', async () => {
  const token = await site.token({ sub: 'ann-4711', name: 'Ann Lee', roles: ['sms-quota:admin'] })
  const page = await openLink('/quotas?kind=cap', token)
  await page.getByRole('heading', { level: 1, name: 'Sign in as “Ann Lee”?' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=cap`)
  await page.getByText('ann-4711').waitFor()
  await page.getByText('Administrator').waitFor()
  await expectAccessibleInEachLayout(page)
  // Until then nothing is kept, so a reload forgets it.
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=cap`)
  await expect.poll(() => page.title()).toBe('Quotas · sms-quota')
  await page.reload()
  await page.getByRole('button', { name: 'Account: Ann Lee' }).waitFor()
})

test('who declines a link is not signed in, and is asked again for the next', async () => {
  const page = await openLink('/mine', await site.userToken(7))
  await page.getByRole('heading', { level: 1, name: 'Sign in as “7”?' }).waitFor()
  await page.getByRole('button', { name: 'Do not sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in to sms-quota' }).waitFor()
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
  await page.evaluate(`location.hash = 'token=${await site.userToken(8)}'`)
  await page.getByRole('heading', { level: 1, name: 'Sign in as “8”?' }).waitFor()
  await page.evaluate(`location.hash = 'token=${await site.userToken(9)}'`)
  await page.getByRole('heading', { level: 1, name: 'Sign in as “9”?' }).waitFor()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('User 9', { exact: true }).waitFor()
})

test('a link is answered in German, too', async () => {
  const page = await site.visit(`/mine#token=${await site.userToken(7)}`, { token: null, locale: 'de-DE' })
  await page.getByRole('heading', { level: 1, name: 'Als „7“ anmelden?' }).waitFor()
  await page.getByRole('button', { name: 'Nicht anmelden' }).waitFor()
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Meine Kontingente' }).waitFor()
})

test('only API requests carry the token, and no URL contains it', async () => {
  const page = await site.visit('/', { token: null })
  const carrying: string[] = []
  page.on('request', request => {
    const all = `${request.url()} ${JSON.stringify(request.headers())}`
    if (all.includes(site.adminToken)) carrying.push(new URL(request.url()).pathname)
    expect(request.url()).not.toContain(site.adminToken)
  })
  await page.goto(`${site.url}/console/quotas#token=${site.adminToken}`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  await page.reload()
  await page.getByRole('table').or(page.getByText('No quotas')).waitFor()
  expect(carrying.length).toBeGreaterThan(0)
  expect(carrying.filter(path => !path.startsWith('/api/sms/'))).toEqual([])
})

test('a link opened in a signed-in tab replaces the session only if the user agrees', async () => {
  const page = await site.visit('/mine')
  await page.getByText('User 1', { exact: true }).waitFor()
  const token = await site.userToken(7)
  const dialog = page.getByRole('dialog', { name: 'Replace your session?' })

  await page.evaluate(`location.hash = 'token=${token}'`)
  await dialog.getByText('You are signed in as “1”.').waitFor()
  expect(page.url()).toBe(`${site.url}/console/mine`)
  await expectAccessible(dialog)
  await dialog.getByRole('button', { name: 'Keep my session' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.reload()
  await page.getByText('User 1', { exact: true }).waitFor()

  // Also when the link loads the page.
  await page.goto('about:blank')
  await page.goto(`${site.url}/console/mine#token=${token}`)
  await dialog.getByRole('button', { name: 'Sign in with the link' }).click()
  await page.getByText('User 7', { exact: true }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'My quotas' }).waitFor()
})

test('a link asks, too, where the session has expired', async () => {
  const clock = site.clock.now
  const page = await site.visit('/mine', { token: await site.token({ sub: '5', exp: minute }) })
  await page.getByText('User 5', { exact: true }).waitFor()
  site.clock.now += 120_000
  try {
    await page.goto('about:blank')
    await page.goto(`${site.url}/console/mine#token=${await site.userToken(7)}`)
    await page.getByRole('heading', { level: 1, name: 'Sign in as “7”?' }).waitFor()
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('User 7', { exact: true }).waitFor()
  } finally {
    site.clock.now = clock
  }
})

test('auditors and support staff without a user id may sign in', async () => {
  for (const role of ['auditor', 'support']) {
    const token = await site.token({ sub: 'ann', name: 'Ann Lee', roles: [`sms-quota:${role}`] })
    const page = await site.visit('/', { token })
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByRole('button', { name: 'Account: Ann Lee' }).waitFor()
  }
})

test('a pasted token or header line signs in and opens the requested page', async () => {
  const page = await site.visit('/quotas', { token: null })
  await page.getByRole('heading', { level: 1, name: 'Sign in to sms-quota' }).waitFor()
  await expectAccessible(page)
  await page.getByLabel('Token', { exact: true }).fill(`  Authorization: Bearer ${site.adminToken}\n`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
})

test('shows why a token is rejected, and does not store it', async () => {
  const page = await site.visit('/', { token: null })
  const cases: [string, string | RegExp][] = [
    ['', 'Paste a token first.'],
    ['two words', /not a token/],
    ['eyJmYWtl', /The token is malformed/],
    [await site.token({ sub: '1', exp: START / 1_000 - 60 }), /The token has expired/],
    [`${site.adminToken.slice(0, -8)}AAAAAAAA`, /The signature of the token is wrong/],
  ]
  for (const [token, message] of cases) {
    await page.getByLabel('Token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: message }).waitFor()
  }
  await expectAccessible(page)
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
})

test('shows why the token of a link is rejected', async () => {
  const page = await openLink('/quotas', await site.token({ sub: '1', exp: START / 1_000 - 60 }))
  await page.getByRole('alert').filter({ hasText: 'The token has expired.' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/quotas`)
})

test('explains that a sender token has no access', async () => {
  const page = await site.visit('/', { token: site.senderToken, load: true })
  await page.getByRole('heading', { level: 1, name: 'No access with this token' }).waitFor()
  await page.getByText('it is a sender’s token').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Sign in with another token' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in to sms-quota' }).waitFor()
})

test('shows users and administrators their pages', async () => {
  const user = await site.visit('/quotas', { token: await site.userToken(7) })
  await user.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  expect(await user.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
    'My quotas',
    'Message cost',
  ])
  const boss = await site.visit('/', { token: await site.token({ sub: 'boss', roles: ['sms-quota:admin'] }) })
  await boss.getByRole('heading', { level: 1, name: 'Get started' }).waitFor()
  expect(await boss.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
    'Overview',
    'Quotas',
    'Denials',
    'Users',
    'Webhooks',
  ])
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
  await expectAccessibleInEachLayout(page)

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
  await expectAccessible(page)
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in to sms-quota' }).waitFor()
  expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).toBe('[{},{}]')
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Sign in to sms-quota' }).waitFor()
})

test('renews an expired session in place, and keeps the input', async () => {
  const clock = site.clock.now
  const page = await site.visit('/quotas', {
    token: await site.token({ sub: '5', roles: ['sms-quota:admin'], exp: minute }),
  })
  await page.getByText('No quotas').waitFor()
  site.clock.now += 120_000
  try {
    await page.getByLabel('User id').fill('4711')
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
    expect(await page.getByLabel('User id').inputValue()).toBe('4711')
    await page.getByText('No quota matches these filters.').waitFor()
  } finally {
    site.clock.now = clock
  }
})
