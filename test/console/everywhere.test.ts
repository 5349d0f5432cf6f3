import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible, startSite } from '../support/browser.ts'
import { PROJECT } from '../support/process.ts'

interface Entry {
  path: string
  label?: string
  isFor(caller: { user_id: number | null; roles: string[] }): boolean
}

/** The console's own table of contents, so that no page is forgotten. Its types are those of a browser. */
const { PAGES }: { PAGES: readonly Entry[] } = await import(join(PROJECT, 'console/src/pages.ts'))

const site = await startSite()
const made = async (path: string, body: object) => {
  const answer = await site.call('POST', `/api/sms/admin${path}`, { body })
  expect(answer.status).toBe(201)
  return answer.body.id
}
const quota = await made('/quota', { user_id: 7, limit: 1_000, period: 'month', name: 'Monthly package' })
await made('/quota', { user_id: 7, kind: 'cap', limit: 100, period: 'day' })
const webhook = await made('/webhooks', { url: 'https://receiver.example/sms-quota', types: ['quota.created'] })

/** An address of each page that needs to be told which one. */
const EXAMPLES: Record<string, string> = {
  '/quotas/:id': `/quotas/${quota}`,
  '/users/:id': '/users/7',
  '/users/:id/reservations': '/users/7/reservations',
  '/users/:id/changes': '/users/7/changes',
  '/webhooks/:id': `/webhooks/${webhook}`,
}

const CALLERS = [
  { who: 'an administrator', token: site.adminToken, user_id: 1, roles: ['admin'] },
  { who: 'a user', token: await site.userToken(7), user_id: 7, roles: [] },
]
const visits = CALLERS.flatMap(caller =>
  PAGES.filter(page => page.isFor(caller)).map(({ path }) => ({ ...caller, path })),
)

test('every page that must be told which one has an example', () => {
  const parametrised = PAGES.map(({ path }) => path).filter(path => path.includes(':'))
  expect(parametrised.sort()).toEqual(Object.keys(EXAMPLES).sort())
})

test.each(visits)('$path, seen by $who, fits every screen and hinders nobody', async ({ path, token }) => {
  const page = await site.visit(EXAMPLES[path] ?? path, { token })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
  expect(await page.title()).toMatch(/^.+ · sms-quota$/)
  for (const width of [360, 1280, 2560]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      // The widest shows nothing that the middle one does not.
      if (width < 2560) await expectAccessible(page)
    }
  }
})

test('an address that is none ends on a page that says so', async () => {
  const page = await site.visit('/nowhere')
  for (const path of ['/nowhere', '/quotas/none/at/all', '/%3Cscript%3Ealert(1)%3C/script%3E', '/signed-in/x']) {
    await page.goto(`${site.url}/console${path}`)
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor()
  }
  await expectAccessible(page)
})

test('every page can be reached from the navigation, by keyboard', async () => {
  const page = await site.visit('/')
  for (const { path, label } of PAGES) {
    if (label === undefined) continue
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: label, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
})

test('a service that stops in mid-work and returns is told of, and the work goes on by itself', async () => {
  const page = await site.visit('/quotas')
  const named = page.getByRole('link', { name: 'Monthly package' })
  await named.waitFor()
  await page.getByLabel('User id').fill('7')

  const back = await stopListening(site.app.server)
  try {
    await page.getByLabel('Kind').selectOption('grant')
    await page.getByRole('status').filter({ hasText: 'The service does not answer.' }).waitFor()
    await page.getByRole('alert').filter({ hasText: 'Trying again by itself' }).waitFor()
    expect(await page.getByLabel('User id').inputValue()).toBe('7')
    await expectAccessible(page)
  } finally {
    await back()
  }
  await page.getByText('what you see is what was read last').waitFor({ state: 'detached' })
  await named.waitFor()
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=grant`)
  expect(await page.getByLabel('User id').inputValue()).toBe('7')
})

test('behind a proxy that answers for it, the same', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
  const back = await stopListening(site.app.server)
  const proxy = createServer((_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
  })
  await listen(proxy, portOf(site.url))
  try {
    await page.getByLabel('Kind').selectOption('cap')
    await page.getByRole('status').filter({ hasText: 'The service does not answer.' }).waitFor()
  } finally {
    await close(proxy)
    await back()
  }
  await page.getByRole('link', { name: 'Cap' }).waitFor()
  await page.getByText('what you see is what was read last').waitFor({ state: 'detached' })
})

test('who reloads while it is away is still signed in when it is back, at the same address', async () => {
  const page = await site.visit('/quotas?kind=cap')
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  const back = await stopListening(site.app.server)
  try {
    await expect(page.reload()).rejects.toThrow(/ERR_CONNECTION_REFUSED/)
    // The browser's own page, which takes its place.
    await page.waitForURL('chrome-error://chromewebdata/')
  } finally {
    await back()
  }
  await page.goto(`${site.url}/console/quotas?kind=cap`)
  await page.getByRole('link', { name: 'Cap' }).waitFor()
})

/** Nothing is on its way any more. */
async function settled(page: Page): Promise<void> {
  await page.getByText('Loading…').first().waitFor({ state: 'detached' })
}

/** The service's own server lets go of its port and of everybody; the answer takes it back. */
async function stopListening(server: Server): Promise<() => Promise<void>> {
  const { port } = server.address() as AddressInfo
  await close(server)
  return () => listen(server, port)
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close(error => (error === undefined ? resolve() : reject(error)))
    server.closeAllConnections()
  })
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve())
  })
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
