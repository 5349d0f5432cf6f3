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
// The provider issues tokens with the current time, so the service's clock follows it.
beforeEach(() => {
  site.clock.now = Date.now()
})

const host = new URL(provider.issuer).host
const open = (path: string) => site.visit(path, { token: null })
const startSignIn = (page: Page) => page.getByRole('button', { name: `Sign in with ${host}` }).click()
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.keyboard.press('Enter')
}

test('shows that the provider is not responding, and still accepts tokens', async () => {
  const page = await open('/')
  // Expires the cached discovery document.
  site.clock.now += 7_200_000
  provider.isDown = true
  await startSignIn(page)
  await page.getByRole('alert').filter({ hasText: 'The identity provider is not responding.' }).waitFor()
  await page.getByLabel('Token', { exact: true }).waitFor()
  provider.isDown = false
  await startSignIn(page)
  await page.getByLabel('Name').waitFor()
})

test('signs in through the provider, opens the requested page, and leaves no code or token in a URL', async () => {
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
  // The state of the sign-in is deleted, and the history has no used code.
  expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual(['sms-quota.token'])
  await page.reload()
  await heading(page, 'Quotas')

  // After the token expires, a user with a session at the provider signs in without a form.
  site.clock.now += HOUR_MS
  await page.reload()
  await page.getByRole('alert').filter({ hasText: 'The token has expired.' }).waitFor()
  site.clock.now = Date.now()
  await startSignIn(page)
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
    segments: { split: 'graphemes', referenceBits: 8, shiftTables: [] },
  })
})

test('shows a canceled sign-in, and allows another one', async () => {
  const page = await open('/mine')
  await startSignIn(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await heading(page, 'Sign-in failed')
  await page.getByRole('alert').filter({ hasText: 'Access was denied, or you canceled the sign-in.' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/signed-in`)
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Back to sign-in' }).click()
  await startSignIn(page)
  await signInAs(page, '7')
  await heading(page, 'My quotas')
})

test('rejects a response that does not belong to a sign-in of this tab', async () => {
  const page = await open('/signed-in?code=stolen&state=guessed')
  await page.getByRole('alert').filter({ hasText: 'No sign-in was started in this tab' }).waitFor()
  expect(page.url()).toBe(`${site.url}/console/signed-in`)

  const hostile = `error=access_denied&error_description=${encodeURIComponent('<script>alert(1)</script>')}`
  for (const answer of ['code=stolen&state=guessed', `${hostile}&state=guessed`]) {
    await page.goto(`${site.url}/console/quotas`)
    await startSignIn(page)
    await page.getByLabel('Name').waitFor()
    await page.goto(`${site.url}/console/signed-in?${answer}&iss=${provider.issuer}`)
    await page.getByRole('alert').filter({ hasText: 'does not match the sign-in' }).waitFor()
  }
  expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([])
})

test('renews an expired session in a popup, and keeps the input', async () => {
  const page = await open('/quotas')
  await startSignIn(page)
  await signInAs(page, '1')
  await heading(page, 'Quotas')
  await page.getByText('No quotas').waitFor()
  await page.getByLabel('User id').fill('4711')

  // The token expires by the service's clock, which is then set back for the new token.
  site.clock.now += HOUR_MS
  await page.getByLabel('Kind').selectOption('cap')
  const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
  await dialog.waitFor()
  await expectAccessible(dialog)
  site.clock.now = Date.now()
  // A token of another user is rejected.
  await page.context().clearCookies()
  const [otherUser] = await Promise.all([page.waitForEvent('popup'), again(page)])
  await signInAs(otherUser, '7')
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
