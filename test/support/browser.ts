/** The console in a browser, on a running service. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type axe from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page, Request, ViewportSize } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { EpochMs } from '../../src/domain/time/time.ts'
import { sharedChromium } from './chromium.ts'
import { whenDone } from './cleanup.ts'
import { expectNoHorizontalScroll } from './horizontal-scroll.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

interface Visit extends Omit<BrowserContextOptions, 'viewport'> {
  /** By default 1280 × 800 px. */
  viewport?: ViewportSize
  /** The token of the tab's session; null opens the page without one. By default an administrator's. */
  token?: string | null
  /**
   * The time at which the browser's clock starts; by default the machine's clock. With it, `page.clock.fastForward`
   * makes a test not wait for the timers of the page.
   */
  now?: EpochMs
  /** Errors that the page logs and that do not fail the test. */
  expectedErrors?: RegExp
  /** Loads the console, for a test of what happens as it loads. By default a page that has loaded it for another test goes there. */
  load?: boolean
}

/** How long the console waits before it repeats a request that failed. */
export const RETRY_MS = 2_000

export interface Site extends Service {
  /** The base URL of the service. */
  readonly url: string
  /**
   * Opens a page of the console in a browser context that no other page of the test has, without cookies and stored data. The test
   * fails if the page violates its content security policy, logs an error or throws.
   *
   * @param path below `/console`
   */
  visit(path: string, options?: Visit): Promise<Page>
}

/** Call it at the top level of a test file: starts a service. */
export async function startSite(options: ServiceOptions = {}): Promise<Site> {
  let port = 0
  // Before the service, so that it comes after its end.
  whenDone(() => ports.push(port))
  const service = await startService(options)
  // Pages stay, and a browser that was busy has connected more often than it asked.
  whenDone(() => service.app.server.closeAllConnections())
  const url = await listen(service, ports.pop() ?? 0)
  port = Number(new URL(url).port)
  const browser = await sharedChromium()
  // A page reads it once, so that the next service at the same port must say the same.
  const { body: config } = await service.app.inject('/console/config.json')

  return {
    ...service,
    url,
    async visit(path, { token = service.adminToken, now, expectedErrors, viewport = WIDE, load, ...options } = {}) {
      const kind = JSON.stringify([url, config, { ...LOCALE, ...options }, now === undefined])
      const open = load === true || token === null ? undefined : left.take(kind)
      const page = open ?? cleared.take(kind) ?? (await newPage(browser, options))
      const problems = problemsOf(page, expectedErrors)
      onTestFinished(async ({ task }) => {
        const hasFailed = task.result?.state === 'fail'
        if (hasFailed) await printShown(page, problems)
        if (hasFailed || !isReusable(page, url)) await page.context().close()
        else if (await leave(page)) left.keep(kind, page)
        else {
          await clear(page)
          cleared.keep(kind, page)
        }
        expect(problems).toEqual([])
      })
      await page.setViewportSize(viewport)
      if (now !== undefined) await page.clock.install({ time: now })
      if (open !== undefined && token !== null) {
        await goTo(page, path, token)
        return page
      }
      if (token !== null) {
        // A document of the same origin, where nothing runs: a link with the token would ask each time.
        await page.goto(`${url}/console/config.json`)
        await page.evaluate(`sessionStorage.setItem('${TOKEN}', ${JSON.stringify(token)})`)
      }
      await page.goto(`${url}/console${path}`)
      return page
    },
  }
}

/**
 * Where services of test files that are over were listening. The next one takes a place, so that pages which have loaded the console
 * from there go on with it.
 */
const ports: number[] = []

/** @param port where it listens, unless another process does */
async function listen({ app }: Service, port: number): Promise<string> {
  const on = (chosen: number) => app.listen({ port: chosen, host: '127.0.0.1' })
  return on(port).catch(() => on(0))
}

/** Pages of tests that are over, by what cannot be changed in a page that exists. They end with the browser. */
class Pages {
  readonly #pages = new Map<string, Page[]>()

  take(kind: string): Page | undefined {
    const pages = this.#pages.get(kind) ?? []
    for (let page = pages.pop(); page !== undefined; page = pages.pop()) if (!incomplete.has(page)) return page
    return undefined
  }

  keep(kind: string, page: Page): void {
    this.#pages.set(kind, [...(this.#pages.get(kind) ?? []), page])
  }
}

/**
 * Pages that lack a part of the console. A browser remembers that a module could not be loaded: one that was on its way when the
 * service of a test file ended is missing in the page for ever.
 */
const incomplete = new WeakSet<Page>()

function watchModules(page: Page): void {
  page.on('requestfailed', request => {
    if (request.resourceType() === 'script') incomplete.add(page)
  })
}

/** Those that show the console to someone who is signed in, and those that show nothing. */
const [left, cleared] = [new Pages(), new Pages()]

const LOCALE = { locale: 'en-GB' }
const WIDE = { width: 1280, height: 800 }
const MEDIA = { colorScheme: 'light', reducedMotion: 'reduce' } as const

async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    ...LOCALE,
    timezoneId: 'Europe/Berlin',
    viewport: WIDE,
    ...MEDIA,
    ...options,
  })
  const page = await context.newPage()
  // Ends only what hangs.
  page.setDefaultTimeout(30_000)
  watchModules(page)
  keepRouting(page)
  return page
}

/** Pages whose requests the browser asks about, and does not cache. */
const routed = new WeakSet<Page>()

/**
 * Once a test routes a request of the page, the browser asks about all until the page closes. A request that is on its way when the browser
 * stops asking is never answered, and the page loads for ever.
 */
function keepRouting(page: Page): void {
  const route = page.route.bind(page)
  page.route = async (...args) => {
    if (!routed.has(page)) await page.context().route('**/of-no-page', other => other.continue())
    routed.add(page)
    return route(...args)
  }
}

/** What the page logs and throws, from now on. */
function problemsOf(page: Page, expectedErrors?: RegExp): string[] {
  const problems: string[] = []
  page.on('pageerror', error => problems.push(String(error)))
  page.on('console', message => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // The browser logs every error response of the API; the tests check those themselves.
    const isApiError =
      message.text().startsWith('Failed to load resource') &&
      /\/(?:api|console\/provider\.json)/.test(message.location().url)
    if (!isApiError && expectedErrors?.test(message.text()) !== true) problems.push(message.text())
  })
  return problems
}

/** Prints what a page shows when its test has failed: what fails by chance may not come again for days. */
async function printShown(page: Page, problems: readonly string[]): Promise<void> {
  const shown = page.isClosed() ? '' : await page.locator('body').ariaSnapshot().catch(String)
  console.error(`${page.url()}\n${problems.join('\n')}\n${shown}`)
}

/** Its storage can be cleared only where it shows the console, and other pages share it. */
function isReusable(page: Page, url: string): boolean {
  if (routed.has(page)) return false
  return !page.isClosed() && page.url().startsWith(`${url}/console`) && page.context().pages().length === 1
}

/** Where the console keeps the token of a tab. */
const TOKEN = 'sms-quota.token'

/**
 * Leaves what the test was about, for another test: to load the console again takes five times the CPU time of going to another of its pages.
 *
 * @returns whether nothing is left of it; otherwise the page has to be cleared
 */
async function leave(page: Page): Promise<boolean> {
  await restore(page)
  // Closes a dialog or a menu.
  await page.keyboard.press('Escape')
  return page.evaluate<boolean>(`(async () => {
    const soon = async isSo => {
      for (let n = 0; n < 50 && !isSo(); n++) await new Promise(resolve => setTimeout(resolve, 20))
      return isSo()
    }
    // A page that the test has gone to last may be on its way.
    const isShown = await soon(() => document.querySelector('#content') === null || document.querySelector('#content h1') !== null)
    // What the frame of the pages keeps.
    const isChosen = ['sms-quota.language', 'mantine-color-scheme-value'].some(name => localStorage.getItem(name) !== null)
    const token = sessionStorage.getItem('${TOKEN}')
    if (isChosen || token === null || !isShown || document.querySelector('#content') === null) return false
    ${SHOW_NOTHING}
    localStorage.clear()
    sessionStorage.clear()
    sessionStorage.setItem('${TOKEN}', token)
    return soon(() => document.querySelector('[role=dialog], [role=menu], nav:not([data-closed])') === null)
  })()`)
}

/** Runs in the page. The router shows a page that needs no data at once. */
const SHOW_NOTHING = `
  history.pushState(null, '', '/console/nowhere')
  await new Promise(resolve => setTimeout(resolve))`

/** Signs in on a page that was left, by a link. */
async function signInAs(page: Page, token: string): Promise<void> {
  const isOther = await page.evaluate<boolean>(`(() => {
    if (sessionStorage.getItem('${TOKEN}') === ${JSON.stringify(token)}) return false
    sessionStorage.clear()
    location.hash = ${JSON.stringify(`token=${token}`)}
    return true
  })()`)
  if (!isOther) return
  await page.locator('main:not(#content) button').last().click()
  await page.locator('#content').waitFor()
}

/**
 * Goes to a page as a new visit does, with nothing that was shown before and the focus before all, and waits until it is there:
 * to load the console takes five times as long.
 *
 * @param token of another who signs in for it
 */
export async function goTo(page: Page, path: string, token?: string): Promise<void> {
  if (token !== undefined) await signInAs(page, token)
  await page.evaluate(`(async () => {
    ${SHOW_NOTHING}
    __TANSTACK_QUERY_CLIENT__.clear()
    history.pushState(null, '', ${JSON.stringify(`/console${path}`)})
    await new Promise(resolve => setTimeout(resolve))
  })()`)
  await changed(page, `document.querySelector('h1') !== null && !${IS_LOADING}`)
  await page.evaluate(`
    const first = document.createElement('button')
    document.body.prepend(first)
    first.focus()
    first.remove()
  `)
}

/** Shows a page as a new visit of its URL does, with what the browser has stored. */
export async function reopen(page: Page): Promise<void> {
  const { pathname, search } = new URL(page.url())
  await goTo(page, `${pathname.slice('/console'.length)}${search}`)
}

/**
 * Makes a page as new, for another test: to load the console in a new browser context takes twice the CPU time, for a process and for
 * the files and the compiled code that this page has.
 */
async function clear(page: Page): Promise<void> {
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await restore(page)
  await page.goto('about:blank')
}

/** Takes back what a test has set on a page. */
async function restore(page: Page): Promise<void> {
  page.removeAllListeners()
  watchModules(page)
  await page.context().setOffline(false)
  await page.context().clearCookies()
  await page.emulateMedia(MEDIA)
  // What is under the mouse would look so in the next test.
  await page.mouse.move(0, 0)
}

/**
 * Goes to another page as the links of the console do, and waits until it is there: to load the console for each page would
 * take a second.
 *
 * @param link is opened by keyboard; by default the page is opened as a link would
 */
export async function follow(page: Page, path: string, link?: Locator): Promise<void> {
  await page.evaluate("document.querySelector('h1').id = document.title = 'left'")
  if (link === undefined) await page.evaluate(`history.pushState(null, '', '/console${path}')`)
  else await link.press('Enter')
  await changed(page, `document.querySelector('h1:not(#left)') !== null && !${IS_LOADING}`)
  await page.locator('h1#left').waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
}

/**
 * What a request sends. Without the service's address and the hashes in names of files: their digits may be those of a number that
 * must not be sent.
 */
export function sentIn(request: Request): string {
  const { pathname, search } = new URL(request.url())
  return `${pathname.replace(/-[\w-]{8}\.\w+$/, '')}${search} ${request.postData() ?? ''}`
}

/** Waits until no part of the page is loading. */
export async function settled(page: Page): Promise<void> {
  await changed(page, `!${IS_LOADING}`)
  await page
    .getByText(/^(?:Loading|Wird geladen) ?…$/)
    .first()
    .waitFor({ state: 'detached' })
}

/** Runs in the page. */
const IS_LOADING = `[...document.querySelectorAll('[role=status]')]
  .some(status => /^(?:Loading|Wird geladen) ?…/.test(status.textContent))`

/** Waits for what is so after a change of the page, and returns at that change: the waits of Playwright look every half second. */
async function changed(page: Page, condition: string): Promise<void> {
  await page.evaluate(`new Promise(resolve => {
    const isSo = () => ${condition}
    if (isSo()) return resolve()
    const observer = new MutationObserver(() => {
      if (!isSo()) return
      observer.disconnect()
      resolve()
    })
    observer.observe(document, { subtree: true, childList: true, characterData: true })
  })`)
}

const axeSource = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** The rules whose result depends on colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** What changes its colors under the mouse, but for the link that only the keyboard reaches. */
const HOVERED = ':is(header, nav, main) :is(button, a, summary)'

/** What the tests have no types of. */
interface Tested {
  axe: typeof axe
}

/**
 * Fails with the accessibility violations that axe finds.
 *
 * @param of a page, or the part of a page that no other test has shown to it: the time is that of the elements
 * @param rules by default all
 */
export async function expectAccessible(of: Page | Locator, rules?: readonly string[]): Promise<void> {
  const [page, root] = 'page' in of ? [of.page(), of] : [of, of.locator(':root')]
  // The 0 is the result: without it the whole library would be.
  // The HTML of each element that a rule looks at, with all that it holds, took a fifth of the time.
  if (!(await page.evaluate("'axe' in globalThis")))
    await page.evaluate(`${axeSource};axe.configure({ noHtml: true });0`)
  const options: axe.RunOptions = {
    // The details of rules that pass cost time.
    resultTypes: ['violations'],
    elementRef: false,
    ...(rules === undefined ? {} : { runOnly: [...rules] }),
  }
  const { violations } = await root.evaluate(
    (element, chosen) => (globalThis as unknown as Tested).axe.run(element as axe.ElementContext, chosen),
    options,
  )
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(node => `${node.target} (${node.failureSummary})`)}`,
  )
  expect(found, `${page.url()} at ${page.viewportSize()?.width} px`).toEqual([])
}

/**
 * Checks accessibility and horizontal scrolling at 360 px, in the light color scheme, and at 1280 px horizontal scrolling and, in the
 * dark color scheme, `wideRules`. Leaves the page wide and light.
 *
 * @param of a page, or a part of it as above
 * @param wideRules by default those of colors: what else the wide layout changes is the frame, the same of all pages. Null is all
 */
export async function expectAccessibleInEachLayout(
  of: Page | Locator,
  wideRules: readonly string[] | null = COLOR_RULES,
): Promise<void> {
  const page = 'page' in of ? of.page() : of
  await page.setViewportSize({ width: 360, height: 800 })
  await expectNoHorizontalScroll(page)
  await expectAccessible(of)
  await page.setViewportSize(WIDE)
  await expectNoHorizontalScroll(page)
  await useColorScheme(page, 'dark')
  await expectAccessible(of, wideRules ?? undefined)
  await useColorScheme(page, 'light')
}

/** Checks which column of a table is the widest. */
export async function expectWidestColumn(table: Locator, heading: string): Promise<void> {
  const heads = await table
    .getByRole('columnheader')
    .evaluateAll(elements => elements.map(({ textContent, clientWidth }) => ({ heading: textContent, clientWidth })))
  const [widest] = heads.toSorted((one, other) => other.clientWidth - one.clientWidth)
  expect(widest?.heading, JSON.stringify(heads)).toContain(heading)
}

/** Checks horizontal scrolling at 360 px and at 1280 px, where the texts of another language are all that axe has not seen. Leaves the page wide. */
export async function expectFits(page: Page): Promise<void> {
  for (const viewport of [{ width: 360, height: 800 }, WIDE]) {
    await page.setViewportSize(viewport)
    await expectNoHorizontalScroll(page)
  }
}

/**
 * Checks the colors of what changes them under the mouse, all at once and with all that they are in, in the light and the dark
 * color scheme. Leaves the page light, and nothing under the mouse.
 *
 * @param selector by default buttons and links
 */
export async function expectHoverContrast(page: Page, selector = HOVERED): Promise<void> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('DOM.enable')
  await devTools.send('CSS.enable')
  const { root } = await devTools.send('DOM.getDocument', { depth: 0 })
  const { nodeIds } = await devTools.send('DOM.querySelectorAll', {
    nodeId: root.nodeId,
    selector: `${selector}, :has(${selector})`,
  })
  expect(nodeIds).not.toEqual([])
  await Promise.all(
    nodeIds.map(nodeId => devTools.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: ['hover'] })),
  )
  for (const scheme of ['dark', 'light'] as const) {
    await useColorScheme(page, scheme)
    await expectAccessible(page, ['color-contrast'])
  }
  await devTools.detach()
}

async function useColorScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  // The console learns of it by an event.
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' })
}
