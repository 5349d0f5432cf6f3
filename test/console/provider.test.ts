import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { HOUR_MS } from '../../src/domain/time.ts'
import { expectAccessible, startSite } from '../support/browser.ts'
import { AUDIENCE, CLIENT_ID, startProvider } from '../support/identity-provider.ts'

const provider = await startProvider()
const site = await startSite({
  env: {
    AUTH_SECRET: '',
    AUTH_JWKS_URL: `${provider.issuer}/jwks`,
    AUTH_ISSUER: provider.issuer,
    AUTH_AUDIENCE: AUDIENCE,
    CONSOLE_OIDC_ISSUER: provider.issuer,
    CONSOLE_OIDC_CLIENT_ID: CLIENT_ID,
  },
})
await provider.serve(site.url)
// The provider's tokens tell the time of day, so here the service's clock does too.
beforeEach(() => {
  site.clock.now = Date.now()
})

const host = new URL(provider.issuer).host
const open = (path: string) => site.visit(path, { token: null })
const leave = (page: Page) => page.getByRole('button', { name: `Sign in with ${host}` }).click()
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.keyboard.press('Enter')
}

test('a provider that does not answer is told of, and tokens are taken all the same', async () => {
  const page = await open('/')
  // What is known of it is old by then.
  site.clock.now += 7_200_000
  provider.isAway = true
  await leave(page)
  await page.getByRole('alert').filter({ hasText: 'The identity provider does not answer.' }).waitFor()
  await page.getByLabel('Token', { exact: true }).waitFor()
  provider.isAway = false
  await leave(page)
  await page.getByLabel('Name').waitFor()
})

test('the provider signs in, the page that was asked for opens, and nothing of it stays in an address', async () => {
  const page = await open('/quotas?kind=cap')
  await heading(page, 'Sign in to sms-quota')
  await expectAccessible(page)
  const sent: URL[] = []
  page.on('request', request => sent.push(new URL(request.url())))
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await signInAs(page, '1')
  await heading(page, 'Quotas')
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=cap`)
  await page.getByText('User 1', { exact: true }).waitFor()

  const asked = sent.find(({ pathname }) => pathname === '/auth')?.searchParams
  expect(asked?.get('code_challenge_method')).toBe('S256')
  expect(asked?.get('redirect_uri')).toBe(`${site.url}/console/signed-in`)
  const token = String(await page.evaluate("sessionStorage.getItem('sms-quota.token')"))
  expect(token).toMatch(/^eyJ/)
  expect(sent.filter(({ href }) => href.includes(token))).toEqual([])
  // What was kept for the way is forgotten, and going back leads to no used-up code.
  expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual(['sms-quota.token'])
  await page.reload()
  await heading(page, 'Quotas')

  // Its time over, it is said so, and who is still signed in at the provider need not type a name again.
  site.clock.now += HOUR_MS
  await page.reload()
  await page.getByRole('alert').filter({ hasText: 'The token has expired.' }).waitFor()
  site.clock.now = Date.now()
  await leave(page)
  await heading(page, 'Quotas')
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=cap`)
})

test('only the page that exchanges the code may call the provider', async () => {
  const policyOf = async (path: string) =>
    /connect-src ([^;]*)/.exec(String((await site.app.inject(path)).headers['content-security-policy']))?.[1]
  expect(await policyOf('/console/signed-in')).toBe(`'self' ${provider.issuer}`)
  expect(await policyOf('/console/')).toBe("'self'")
  expect(await policyOf('/console/quotas')).toBe("'self'")
  expect((await site.app.inject('/console/config.json')).json()).toEqual({
    oidc: { issuer: provider.issuer, client_id: CLIENT_ID, scope: 'openid' },
  })
})

test('who does not agree at the provider is told so, and can begin again', async () => {
  const page = await open('/mine')
  await leave(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await heading(page, 'You are not signed in')
  await page.getByRole('alert').filter({ hasText: 'You were not let in, or did not agree.' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/signed-in`)
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Back to signing in' }).click()
  await leave(page)
  await signInAs(page, '7')
  await heading(page, 'My quotas')
})

test('an answer that nobody here asked for is not used', async () => {
  const page = await open('/signed-in?code=stolen&state=guessed')
  await page.getByRole('alert').filter({ hasText: 'No sign-in was begun in this tab' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/signed-in`)

  const hostile = `error=access_denied&error_description=${encodeURIComponent('<script>alert(1)</script>')}`
  for (const answer of ['code=stolen&state=guessed', `${hostile}&state=guessed`]) {
    await page.goto(`${site.url}/console/quotas`)
    await leave(page)
    await page.getByLabel('Name').waitFor()
    await page.goto(`${site.url}/console/signed-in?${answer}&iss=${provider.issuer}`)
    await page.getByRole('alert').filter({ hasText: 'does not belong to the sign-in' }).waitFor()
  }
  expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([])
})

test('a sign-in that ends in mid-work is renewed in a window of its own, with what was typed kept', async () => {
  const page = await open('/quotas')
  await leave(page)
  await signInAs(page, '1')
  await heading(page, 'Quotas')
  await page.getByText('No quotas here').waitFor()
  await page.getByLabel('User id').fill('4711')

  // The service's clock goes ahead, and is back when the provider makes new tokens.
  site.clock.now += HOUR_MS
  await page.getByLabel('Kind').selectOption('cap')
  const dialog = page.getByRole('dialog', { name: 'Your sign-in has ended' })
  await dialog.waitFor()
  await expectAccessible(page)
  site.clock.now = Date.now()
  // Somebody else's work stays theirs.
  await page.context().clearCookies()
  const [stranger] = await Promise.all([page.waitForEvent('popup'), again(page)])
  await signInAs(stranger, '7')
  await dialog.getByRole('alert').filter({ hasText: 'not for “1”' }).waitFor()

  await page.context().clearCookies()
  const [popup] = await Promise.all([page.waitForEvent('popup'), again(page)])
  await Promise.all([popup.waitForEvent('close'), signInAs(popup, '1')])
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('User id').inputValue()).toBe('4711')
  await page.getByText('No quota matches these filters.').waitFor()
})

function again(page: Page): Promise<void> {
  return page.getByRole('button', { name: `Sign in again with ${host}` }).click()
}
