/** The console in a real browser, on the real service. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, expect, onTestFinished } from 'vitest'
import type { EpochMs } from '../../src/domain/time.ts'
import { launchChromium } from './chromium.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

interface Visit extends BrowserContextOptions {
  /** Whose link is opened; null opens the address without a token. An administrator's unless told otherwise. */
  token?: string | null
  /** The moment that the visitor's clock shows for as long as they stay; the machine's own unless told otherwise. */
  now?: EpochMs
}

export interface Site extends Service {
  /** Where the service listens. */
  readonly url: string
  /**
   * Opens an address of the console in a browser that nobody has used yet. The test fails if the page breaks its
   * security policy, logs an error or throws.
   *
   * @param path below `/console`
   */
  visit(path: string, options?: Visit): Promise<Page>
}

/** To be called where tests are declared: a service that listens, and one browser for all tests of the file. */
export async function startSite(options: ServiceOptions = {}): Promise<Site> {
  const service = await startService(options)
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await launchChromium()
  afterAll(() => browser.close())

  return {
    ...service,
    url,
    async visit(path, { token = service.adminToken, now, ...options } = {}) {
      const page = await freshPage(browser, options)
      if (now !== undefined) await page.clock.setFixedTime(now)
      await page.goto(`${url}/console${path}${token === null ? '' : `#token=${token}`}`)
      return page
    },
  }
}

async function freshPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 800 },
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    // The browser itself notes each answer that is an error; which ones are wrong the tests know.
    const isAnswer =
      message.text().startsWith('Failed to load resource') &&
      /\/(?:api|console\/provider\.json)/.test(message.location().url)
    if (!isAnswer) complaints.push(message.text())
  })
  onTestFinished(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
  return page
}

const axeSource = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Fails with what hinders people who see, hear or move otherwise. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(node => `${node.html} (${node.failureSummary})`)}`,
  )
  expect(found).toEqual([])
}

/** The same on a wide and on a narrow screen, neither of which may have to be scrolled sideways. */
export async function expectAccessibleWideAndNarrow(page: Page): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
}
