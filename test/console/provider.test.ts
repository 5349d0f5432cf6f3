import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { HOUR_MS } from '../../src/domain/time/time.ts'
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
const visit = (path: string) => site.visit(path, { token: null })
const startSignIn = (page: Page) => page.getByRole('button', { name: `Sign in with ${host}` }).click()
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const alert = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor()
const stored = (page: Page) => page.evaluate<string[]>('Object.keys(sessionStorage)')

async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.keyboard.press('Enter')
}

test('signs in through the provider, opens the requested page, renews an expired session, and leaves no code or token in a URL', async () => {
  const page = await visit('/quotas')
  const sent: URL[] = []
  page.on('request', request => sent.push(new URL(request.url())))
  await heading(page, 'Sign in to sms-quota')
  await expectAccessible(page)
  // Expires the cached discovery document.
  site.clock.now += 2 * HOUR_MS
  provider.isDown = true
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await alert(page, 'The identity provider is not responding.')
  await page.getByLabel('Token', { exact: true }).waitFor()
  provider.isDown = false
  site.clock.now = Date.now()
  await startSignIn(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await heading(page, 'Sign-in failed')
  await alert(page, 'Access was denied, or you canceled the sign-in.')
  expect(page.url()).toBe(`${site.url}/console/signed-in`)
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Back to sign-in' }).click()

  await heading(page, 'Sign in to sms-quota')
  await page.evaluate("history.pushState(null, '', '/console/quotas?kind=cap')")
  await startSignIn(page)
  await signInAs(page, '1')
  await heading(page, 'Quotas')
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=cap`)
  await page.getByText('User 1', { exact: true }).waitFor()
  const asked = sent.find(({ pathname }) => pathname === '/auth')?.searchParams
  expect(asked?.get('code_challenge_method')).toBe('S256')
  expect(asked?.get('redirect_uri')).toBe(`${site.url}/console/signed-in`)
  const tokenNow = () => page.evaluate<string>("sessionStorage.getItem('sms-quota.token') ?? ''")
  const first = await tokenNow()
  expect(first).toMatch(/^eyJ/)
  // The state of the sign-in is deleted, and the history has no used code.
  expect(await stored(page)).toEqual(['sms-quota.token'])

  await page.getByText('No quota matches these filters.').waitFor()
  await page.getByLabel('User', { exact: true }).fill('4711')
  // The token expires by the service's clock, which is then set back for the new token.
  site.clock.now += HOUR_MS
  await page.getByLabel('Kind').selectOption('grant')
  const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
  await dialog.waitFor()
  await expectAccessible(dialog)
  site.clock.now = Date.now()
  const openPopup = async () => {
    await page.context().clearCookies()
    const again = page.getByRole('button', { name: `Sign in again with ${host}` })
    const [popup] = await Promise.all([page.waitForEvent('popup'), again.click()])
    return popup
  }
  // A token of another user is rejected.
  await signInAs(await openPopup(), '7')
  await dialog.getByRole('alert').filter({ hasText: 'not for “1”' }).waitFor()
  const popup = await openPopup()
  await Promise.all([popup.waitForEvent('close'), signInAs(popup, '1')])
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('4711')
  await page.getByText('No quota matches these filters.').waitFor()

  // On a page that is loaded after the token has expired, a user with a session at the provider signs in without a form.
  const second = await tokenNow()
  site.clock.now += HOUR_MS
  const { pathname, search } = new URL(page.url())
  await page.reload()
  await alert(page, 'The token has expired.')
  site.clock.now = Date.now()
  await startSignIn(page)
  await heading(page, 'Quotas')
  expect(page.url()).toBe(`${site.url}${pathname}${search}`)
  const tokens = [first, second, await tokenNow()]
  expect(new Set(tokens).size).toBe(3)
  expect(sent.filter(({ href }) => tokens.some(token => href.includes(token)))).toEqual([])
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
    contact: { text: null, url: null },
  })
})

test('rejects a response that does not belong to a sign-in of this tab', async () => {
  const page = await visit('/signed-in?code=stolen&state=guessed')
  await alert(page, 'No sign-in was started in this tab')
  expect(page.url()).toBe(`${site.url}/console/signed-in`)

  await page.getByRole('link', { name: 'Back to sign-in' }).click()
  await startSignIn(page)
  await page.getByLabel('Name').waitFor()
  // A document of the same origin, where nothing runs: the second response meets the same sign-in as the first.
  await page.goto(`${site.url}/console/config.json`)
  const started = await page.evaluate<string>("sessionStorage.getItem('sms-quota.sign-in') ?? ''")
  const hostile = `error=access_denied&error_description=${encodeURIComponent('<script>alert(1)</script>')}`
  for (const answer of ['code=stolen&state=guessed', `${hostile}&state=guessed`]) {
    await page.evaluate(`sessionStorage.setItem('sms-quota.sign-in', ${JSON.stringify(started)})`)
    await page.goto(`${site.url}/console/signed-in?${answer}&iss=${provider.issuer}`)
    await alert(page, 'does not match the sign-in')
    expect(await stored(page)).toEqual([])
  }
})
