import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Locator, Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  expectAccessible,
  expectAccessibleInEachLayout,
  expectHoverContrast,
  follow,
  goTo,
  RETRY_MS,
  settled,
  startSite,
} from '../support/browser.ts'
import { expectNoHorizontalScroll } from '../support/horizontal-scroll.ts'
import { PROJECT } from '../support/paths.ts'
import { fillWithLongest, LONGEST_OPTIONS, longestId, notSent } from './longest-texts.ts'

interface Entry {
  path: string
  label?: string
  isFor(caller: { user_id: number | null; roles: string[] }): boolean
}

/** The routes of the console, so that every page is tested. Imported dynamically, because its types need the DOM. */
const { PAGES }: { PAGES: readonly Entry[] } = await import(join(PROJECT, 'console/src/pages.tsx'))

const site = await startSite(LONGEST_OPTIONS)
const create = async (path: string, body: object, token = site.adminToken) => {
  const answer = await site.call('POST', `/api/sms/admin${path}`, { body, token })
  expect(answer.status).toBe(201)
  return answer.body.id
}
const ask = (op: string, body: object) =>
  site.call('POST', `/api/sms/sender/quota/${op}`, { token: site.senderToken, body })
const quota = await create('/quota', {
  user_id: 7,
  limit: 1_000,
  period: 'month',
  name: 'Monthly package',
  external_ref: 'CRM-77',
})
await create('/quota', { user_id: 7, kind: 'cap', limit: 100, period: 'day' })
await create('/webhooks', { url: 'https://receiver.example/sms-quota', types: ['quota.created'] })

const { sent, quota: hostile, plan, card, webhook, open, delivery } = await fillWithLongest(site)

/** An example for each route with a parameter. */
const EXAMPLES: Record<string, string> = {
  '/quotas/:id': `/quotas/${hostile}`,
  '/plans/:id': `/plans/${plan}`,
  '/plans/:id/edit': `/plans/${plan}/edit`,
  '/plans/:id/history': `/plans/${plan}/history`,
  '/prices/:id': `/prices/${card}`,
  '/users/:id': '/users/66?group_by=message_type',
  '/users/:id/reservations': '/users/66/reservations',
  '/users/:id/denials': '/users/66/denials',
  '/users/:id/messages/:message_id': `/users/66/messages/${longestId(3)}`,
  '/mine/messages/:message_id': `/mine/messages/${longestId(2)}`,
  '/users/:id/transfers': '/users/66/transfers',
  '/users/:id/changes': '/users/66/changes',
  '/users/:id/profile': '/users/66/profile',
  '/webhooks/:id': `/webhooks/${webhook}`,
  '/webhooks/:id/settings': `/webhooks/${webhook}/settings`,
  '/webhooks/:id/history': `/webhooks/${webhook}/history`,
}

const USER = { user_id: 66, roles: [] }
/** Those that users do not have, as the others are the same for an administrator; and what is shown after a choice. */
const ADMIN_PAGES: readonly Pick<Entry, 'path' | 'label'>[] = [
  ...PAGES.filter(entry => entry.isFor({ user_id: 1, roles: ['admin'] }) && !entry.isFor(USER)),
  ...[
    '/users/66?group_by=quota&as=table',
    `/quotas/${hostile}?view=history`,
    `/quotas/${hostile}?view=edit`,
    `/quotas/new?copy=${hostile}`,
    '/requests?show=all',
    '/pauses?show=all',
    '/messages?state=denied',
  ].map(path => ({ path })),
]
const HALF = Math.ceil(ADMIN_PAGES.length / 2)
const CALLERS = [
  { who: 'an administrator', token: site.adminToken, pages: ADMIN_PAGES.slice(0, HALF) },
  { who: 'an administrator, the other half,', token: site.adminToken, pages: ADMIN_PAGES.slice(HALF) },
  { who: 'a user', token: await site.userToken(66), pages: PAGES.filter(entry => entry.isFor(USER)) },
]

test('pages are filled with each free text of the API at its largest', () => {
  expect(notSent(sent)).toEqual([])
})

test('every route with a parameter has an example', () => {
  const parameterized = PAGES.map(({ path }) => path).filter(path => path.includes(':'))
  expect(parameterized.sort()).toEqual(Object.keys(EXAMPLES).sort())
})

test.each(CALLERS)(
  'every page for $who fits 360 to 2560 px, fingers too, and is accessible',
  async ({ token, pages }) => {
    const page = await site.visit('/nowhere', { token, now: site.clock.now })
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    const navigation = page.getByRole('navigation', { name: 'Pages' })
    for (const [index, { path, label }] of pages.entries()) {
      // By keyboard where the navigation has it.
      const link = label === undefined ? undefined : navigation.getByRole('link', { name: label, exact: true })
      await follow(page, EXAMPLES[path] ?? path, link)
      expect(page.url()).toBe(`${site.url}/console${EXAMPLES[path] ?? path}`)
      expect(await page.getByRole('heading', { level: 1 }).count(), path).toBe(1)
      await expect.poll(() => page.title()).toMatch(/^.+ · sms-quota$/)
      await page.setViewportSize({ width: 360, height: 800 })
      expect(await lowTargets(page), path).toEqual([])
      // The frame in its wide layout is the same on each.
      await expectAccessibleInEachLayout(page, index === 0 ? null : undefined)
      // The same content as at 1280 px.
      await page.setViewportSize({ width: 2560, height: 900 })
      await expectNoHorizontalScroll(page)
    }
  },
)

test.each([`/requests?request=${open}&of=66`, '/pauses?pause=new&for=66', `/webhooks/${webhook}?delivery=${delivery}`])(
  'the dialog at %s fits 360 px',
  async path => {
    const page = await site.visit(path, { viewport: { width: 360, height: 800 } })
    await page.getByRole('dialog').waitFor()
    await settled(page)
    await expectNoHorizontalScroll(page)
    expect(await overflowing(page.getByRole('dialog'))).toEqual([])
  },
)

/** The widest element that is cut off or scrolls sideways in a part of a page, which may hide what is too wide. */
function overflowing(part: Locator): Promise<string[]> {
  return part.evaluateAll(parts =>
    parts.flatMap(one =>
      [...one.querySelectorAll('*')]
        .map(element => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ box }) => box.right > one.getBoundingClientRect().right + 0.5)
        .sort((first, second) => second.box.width - first.box.width)
        .slice(0, 1)
        .map(({ element }) => element.outerHTML.slice(0, 200)),
    ),
  )
}

/** The buttons and fields that are less than 40 px high, as HTML. */
function lowTargets(page: Page): Promise<string[]> {
  const targets = page.locator(
    'button, a[class*=Button-root], select, textarea:not([aria-hidden]), input:not([type=radio], [type=checkbox], [type=file])',
  )
  return targets.evaluateAll(elements =>
    elements
      .filter(element => element.checkVisibility() && element.getBoundingClientRect().height < 40)
      .map(element => element.outerHTML.slice(0, 200)),
  )
}

test('nothing that support staff are shown is refused', async () => {
  // Of those who read the data of all users, they may do least.
  const roles = ['support']
  const page = await site.visit('/nowhere', { token: await site.token({ sub: 'ann', roles: ['sms-quota:support'] }) })
  const refused: string[] = []
  page.on('response', response => {
    if (response.status() === 403) refused.push(`${page.url()}: ${response.url()}`)
  })
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  for (const { path } of PAGES.filter(entry => entry.isFor({ user_id: null, roles }))) {
    await follow(page, EXAMPLES[path] ?? path)
  }
  await follow(page, '/users/7')
  await page.getByRole('button', { name: 'Would this message go?' }).click()
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('nothing was reserved').waitFor()
  await follow(page, '/quotas')
  expect(await page.getByRole('button', { name: 'Export CSV' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Actions for Monthly package' }).click()
  await page.getByRole('menuitem', { name: 'Open' }).waitFor()
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Open', 'Adjust'])
  expect(refused).toEqual([])
})

test('each page has an icon, the service a mark, and what loads has a shape', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  const icons = await links.locator('svg path').evaluateAll(paths => paths.map(path => path.getAttribute('d')))
  expect(new Set(icons).size).toBe(await links.count())
  const icon = (await page.locator('link[rel=icon]').getAttribute('href')) ?? ''
  const answer = await page.request.get(new URL(icon, site.url).href)
  expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/svg+xml'])
  expect(await page.getByRole('banner').locator('img').getAttribute('src')).toBe(icon)

  // A reload shows the frame at once, and then the title with rows in place of the list.
  const [session, list] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/sms/me', route => session.promise.then(() => route.continue()))
  await page.route('**/quota/list?*', route => list.promise.then(() => route.continue()))
  await page.reload()
  await page.getByRole('status').filter({ hasText: 'Loading…' }).locator('.frame-pages').waitFor()
  session.resolve()
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  const shape = page.getByRole('main').getByRole('status').filter({ hasText: 'Loading…' })
  expect(await shape.locator('.mantine-Skeleton-root').count()).toBe(12)
  list.resolve()
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
})

test.each(['/overview', '/quotas/new', '/users/7', `/webhooks/${webhook}/settings`])(
  'what the mouse is over at %s can be read',
  async path => {
    const page = await site.visit(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await settled(page)
    await expectHoverContrast(page)
  },
)

test('what the mouse is over in a list, a menu or a dialog can be read', async () => {
  const page = await site.visit('/quotas')
  await page.getByRole('button', { name: 'Actions for Monthly package' }).waitFor()
  await expectHoverContrast(page)
  await page.getByRole('button', { name: 'Actions for Monthly package' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  await expectHoverContrast(page, '[role=menuitem]')
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete grant' }).waitFor()
  await expectHoverContrast(page, '[role=dialog] :is(button, a)')
})

test('an unknown URL shows a not-found page', async () => {
  const page = await site.visit('/%3Cscript%3Ealert(1)%3C/script%3E')
  const title = page.getByRole('heading', { level: 1, name: 'Page not found' })
  await title.waitFor()
  for (const path of ['/quotas/none/at/all', '/signed-in/x']) {
    await follow(page, '/webhooks')
    await goTo(page, path)
    await title.waitFor()
  }
  await expectAccessible(page)
})

test('what is typed before the search is there belongs to it, and a press on the account while its menu is loaded opens it', async () => {
  const page = await site.visit('/messages')
  const field = page.getByLabel('Message id')
  await field.waitFor()
  const [search, menu] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = (file: string, until: Promise<void>) =>
    page.route(new RegExp(`/assets/${file}-[^/]+\\.js$`), route => until.then(() => route.continue()))
  await hold('search', search.promise)
  await hold('account-menu', menu.promise)
  await page.reload()
  await field.focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('78')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe('')
  search.resolve()
  await page.waitForURL(`${site.url}/console/users/7`)
  const account = page.getByRole('button', { name: 'Account' })
  await account.hover()
  await page.mouse.down()
  menu.resolve()
  await account.and(page.locator('[aria-haspopup]')).waitFor()
  await page.mouse.up()
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
  await page.keyboard.press('Escape')
  // The next search begins empty, and takes keys as soon as it is opened.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('4711')
  await page.getByRole('combobox', { name: 'Search' }).and(page.locator('[value="4711"]')).waitFor()
})

test('by keyboard: the search finds users, quotas, messages, webhooks, pages and actions, and keeps recent ones', async () => {
  const message = await ask('reserve', { user_id: 7, id: 'msg-1042', units: 1 })
  expect(message.body.granted).toBe(true)
  const page = await site.visit('/quotas')
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  const dialog = page.getByRole('dialog', { name: 'Search' })
  const chosen = dialog.locator('[role=option][aria-selected=true]')
  const search = async (text: string) => {
    await page.keyboard.press('Control+k')
    await dialog.getByRole('combobox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type(text)
  }
  // Enter waits for the answer.
  await search('7')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/users/7`)
  await search('MONTHLY')
  await chosen.filter({ hasText: 'Grant · User 7 · Active' }).waitFor()
  await expectAccessibleInEachLayout(dialog)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/quotas/${quota}`)
  await search('msg')
  await chosen.filter({ hasText: 'User 7 · Reserved · 1 unit' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/users/7/messages/msg-1042`)
  const tooLong = await ask('consume', { user_id: 7, id: 'too-long', units: 101 })
  expect(tooLong.body).toMatchObject({ granted: false })
  await search('too-long')
  await chosen.filter({ hasText: 'User 7 · Denied' }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.keyboard.type('CRM-7')
  await chosen.filter({ hasText: 'Monthly package' }).filter({ hasText: 'CRM-77' }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await search('receiver.example')
  await chosen.filter({ hasText: 'https://receiver.example/sms-quota' }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await search('+234803')
  const countries = dialog.getByRole('group', { name: 'Countries' }).getByRole('option')
  await countries.first().waitFor()
  expect(await countries.allTextContents()).toEqual([
    'Who sends to Nigeria (NG, +234)?',
    'Denied messages to Nigeria (NG, +234)',
    'Quotas for Nigeria (NG, +234)',
    'Block Nigeria (NG, +234) for a user…',
  ])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/overview?who=NG`)
  await page.getByRole('dialog', { name: 'Who sends to Nigeria (NG, +234)?' }).waitFor()
  await page.keyboard.press('Escape')

  await page.keyboard.press('Meta+k')
  await dialog.getByRole('combobox').and(page.locator(':focus')).waitFor()
  const recent = dialog.getByRole('group', { name: 'Recent' }).getByRole('option')
  expect(await recent.allTextContents()).toEqual(['msg-1042', 'Monthly package', 'User 7'])
  await page.keyboard.press('ArrowUp')
  expect(await chosen.textContent()).toBe('Sign out')
  await page.keyboard.type('new quo')
  expect(await chosen.textContent()).toBe('New quota')
  await dialog.getByRole('combobox').fill('4711')
  await dialog.getByRole('group', { name: 'User 4711 is unknown' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}/console/quotas/new?user_id=4711`)
})

test('the menu of the account changes the language, with numbers and dates, and the color scheme', async () => {
  // No valid tag, as some browsers make of the settings of their system.
  const page = await site.visit('/quotas', { locale: 'de-DE@euro' })
  expect(await page.evaluate('navigator.languages')).toEqual(['de-DE@euro'])
  await page.getByRole('link', { name: 'Kontingente', exact: true }).waitFor()
  expect(await page.evaluate('document.documentElement.lang')).toBe('de')
  await page.getByRole('cell', { name: '1.000', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Konto:' }).click()
  await page.getByRole('menuitemradio', { name: 'Dunkel' }).click()
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
  await page.getByRole('menuitemradio', { name: 'English' }).click()
  await page.getByRole('link', { name: 'Quotas', exact: true }).waitFor()
  expect(await page.evaluate('document.documentElement.lang')).toBe('en')
  await page.getByRole('cell', { name: '1,000', exact: true }).waitFor()
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
})

test('a page whose files are gone, as after an update, says so, and the console can be loaded again', async () => {
  const page = await site.visit('/quotas', {
    load: true,
    expectedErrors: /Failed to (?:load|fetch)|Unable to preload|PageBoundary/,
  })
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
  await page.route('**/console/assets/*', route => route.fulfill({ status: 404 }))
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await pages.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('alert').getByRole('heading', { name: 'This page could not be shown' }).waitFor()
  await expectAccessible(page)

  await page.unroute('**/console/assets/*')
  await pages.getByRole('link', { name: 'Quotas', exact: true }).click()
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
  await pages.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('button', { name: 'Load the console again' }).click()
  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
})

test('shows an outage of the service, keeps the input, and recovers when the service is back', async () => {
  const page = await site.visit('/quotas', { now: Date.now() })
  const named = page.getByRole('link', { name: 'Monthly package' })
  await named.waitFor()
  await page.getByLabel('User', { exact: true }).fill('7')

  const back = await stopListening(site.app.server)
  try {
    await page.getByLabel('Kind').selectOption('grant')
    await page.getByRole('status').filter({ hasText: 'The service is not responding.' }).waitFor()
    await page.getByRole('alert').filter({ hasText: 'Retrying' }).waitFor()
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('7')
    await expectAccessible(page)
  } finally {
    await back()
  }
  await page.clock.fastForward(RETRY_MS)
  await page.getByText('the page shows the last loaded data').waitFor({ state: 'detached' })
  await named.waitFor()
  // A text filter takes effect when its field is left.
  expect(page.url()).toBe(`${site.url}/console/quotas?kind=grant&user_id=7`)
  expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('7')
})

test('a service that takes calls and answers none is named after 3 seconds, and one that is only slow is not', async () => {
  const page = await site.visit('/quotas', { now: Date.now() })
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
  const answer = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    await answer.promise
    await route.continue()
  }
  const unreachable = page.getByRole('status').filter({ hasText: 'The service is not responding.' })
  await page.route('**/admin/quota/list?*', hold)
  const probe = page.waitForResponse('**/livez')
  const asked = page.waitForRequest('**/admin/quota/list?*kind=grant*')
  await page.getByLabel('Kind').selectOption('grant')
  await asked
  await page.clock.fastForward(2_000)
  await probe
  await settled(page)
  await page.clock.fastForward(1_000)
  expect(await unreachable.count()).toBe(0)

  await page.route('**/livez', hold)
  const askedAgain = page.waitForRequest('**/admin/quota/list?*kind=cap*')
  await page.getByLabel('Kind').selectOption('cap')
  await askedAgain
  await page.clock.fastForward(3_000)
  await unreachable.waitFor()
  answer.resolve()
  await unreachable.waitFor({ state: 'detached' })
})

test('shows an outage when a proxy answers with 502, and recovers', async () => {
  const page = await site.visit('/quotas', { now: Date.now() })
  await page.getByRole('link', { name: 'Monthly package' }).waitFor()
  const back = await stopListening(site.app.server)
  const proxy = createServer((_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
  })
  await listen(proxy, portOf(site.url))
  try {
    await page.getByLabel('Kind').selectOption('cap')
    await page.getByRole('status').filter({ hasText: 'The service is not responding.' }).waitFor()
  } finally {
    await close(proxy)
    await back()
  }
  await page.clock.fastForward(RETRY_MS)
  await page.getByRole('link', { name: /^Cap \d/ }).waitFor()
  await page.getByText('the page shows the last loaded data').waitFor({ state: 'detached' })
})

test('a page reloaded during an outage is still signed in at the same URL afterwards', async () => {
  // What is loaded after the page may meet the outage.
  const page = await site.visit('/quotas?kind=cap', { expectedErrors: /Failed to load resource/ })
  await page.getByRole('heading', { level: 1, name: 'Quotas' }).waitFor()
  const back = await stopListening(site.app.server)
  try {
    await expect(page.reload()).rejects.toThrow(/ERR_CONNECTION_REFUSED/)
    // The error page of the browser.
    await page.waitForURL('chrome-error://chromewebdata/')
  } finally {
    await back()
  }
  await page.goto(`${site.url}/console/quotas?kind=cap`)
  await page.getByRole('link', { name: /^Cap \d/ }).waitFor()
})

/** Closes the port and all connections of the service. @returns a function that listens on the port again */
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
