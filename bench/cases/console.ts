/**
 * The console with 100,000 quotas and 90 days of usage, in a browser: times from a click or a key press to the rendered
 * result.
 */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { quantile, timeOf } from '../compare.ts'
import { fillUsage } from '../fill.ts'
import { loadQuotas } from '../load.ts'
import { mintFor, startService } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

const QUOTAS = 100_000
const TIMES = 20
/** Rows of a page, unless the address says otherwise. */
const ROWS = 25
/** Rows of the pages that are scrolled: the most that the console offers. */
const SCROLLED_ROWS = 200
const SCROLLED_PAGES = 5
const SCROLLED_PX_PER_FRAME = 120
/** At 60 frames a second, two in a row have then been left out, which is seen as a stutter. */
const STUTTER_MS = 42
const MAX_STUTTERS = 0.001
/** The limit for an uninterrupted flow of thought (J. Nielsen, Usability Engineering, 1993). */
const RESPONSE_LIMIT_MS = 1_000
/** Hourly usage of two grants in three countries. */
const USAGE = { days: 90, times: 24, grants: 2, countries: ['DE', 'AT', 'FR'] }

export async function consoleCase(bench: Bench): Promise<Findings> {
  const { postgres, cleanup, say, now } = bench
  const { db, url } = await postgres.make('bench_console')
  say(`console: filling ${QUOTAS.toLocaleString('en')} quotas`)
  await loadQuotas(db, { quotas: QUOTAS, users: QUOTAS / 10, now })
  await fillUsage(db, { first: 1, count: 1 }, USAGE, now)
  await postgres.checkpoint()
  const secret = randomBytes(32).toString('base64url')
  const service = await startService(bench, url, secret)
  const browser = await launchChromium()
  cleanup.add(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  page.setDefaultTimeout(30_000)
  const token = await mintFor('admin', secret)

  say('console: measuring')
  const rows: Row[] = []
  async function measure(what: string, times: number, action: (n: number) => Promise<void>): Promise<void> {
    const durations: number[] = []
    say(`  ${what}`)
    for (let n = 0; n < times; n++) durations.push(await timeOf(() => action(n)))
    rows.push(rowOf(what, durations))
  }
  // A context has no cache: each is a first visit, of a tab that has its token.
  await measure('overview, with an empty cache', TIMES, async () => {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
    const visit = await context.newPage()
    await visit.addInitScript(`sessionStorage.setItem('sms-quota.token', ${JSON.stringify(token)})`)
    await visit.goto(`${service.url}/console/overview`)
    await visit.getByRole('slider', { name: 'Units by the hour' }).waitFor()
    await context.close()
  })
  await measure('quota list from a link, with an empty cache', 1, async () => {
    await page.goto(`${service.url}/console/quotas#token=${token}`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await rowsOf(page, 1)
  })
  await measure('next page of the list', TIMES, n => press(page, 'Next', n + 2))
  await measure('last page of the list, and back to the first', TIMES, n =>
    n % 2 === 0 ? press(page, 'Last', QUOTAS) : press(page, 'First', 1),
  )
  say('  scrolling')
  for (const width of [1280, 390]) rows.push(await scroll(page, `${service.url}/console/quotas`, width))
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(`${service.url}/console/quotas`)
  await rowsOf(page, 1)
  await measure('another status filter', TIMES, async n => {
    await page.getByLabel('Status').selectOption(n % 2 === 0 ? 'Suspended' : 'Active')
    await page.locator('table[aria-busy=false]').waitFor()
    await page
      .getByRole('row')
      .filter({ hasText: n % 2 === 0 ? 'Suspended' : 'Active' })
      .first()
      .waitFor()
  })
  await measure('page of a user with a chart of 90 days', TIMES, async () => {
    await page.goto(`${service.url}/console/users/1`)
    await page.getByRole('application').waitFor()
  })
  await measure('the same chart by country', TIMES, async n => {
    await page.getByLabel('Group by').selectOption(n % 2 === 0 ? 'Country' : 'None')
    await page
      .getByRole('region', { name: 'Usage' })
      .getByText('France')
      .first()
      .waitFor({ state: n % 2 === 0 ? 'visible' : 'detached' })
  })
  return { rows, details: [], notes: [] }
}

/** Clicks a button of the pager and waits for the rows of that page. */
async function press(page: Page, button: string, to: number, size = ROWS): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages of the list' }).getByRole('button', { name: button }).click()
  await rowsOf(page, to, size)
}

/** Waits until the list shows this page; `QUOTAS` stands for the last one. */
async function rowsOf(page: Page, number: number, size = ROWS): Promise<void> {
  const first = ((number - 1) * size + 1).toLocaleString('en')
  const position = number === QUOTAS ? /^[\d,]+–([\d,]+) of \1$/ : new RegExp(`^${first}–`)
  await page.getByRole('status').filter({ hasText: position }).waitFor()
  await page.locator('table[aria-busy=false]').waitFor()
}

/** Scrolls through the first pages of the list, and counts the frames that come late enough to be seen. */
async function scroll(page: Page, url: string, width: number): Promise<Row> {
  await page.setViewportSize({ width, height: 900 })
  await page.goto(`${url}?page_size=${SCROLLED_ROWS}`)
  await rowsOf(page, 1, SCROLLED_ROWS)
  const frames: number[] = []
  for (let number = 1; number <= SCROLLED_PAGES; number++) {
    frames.push(...(await page.evaluate<number[]>(SCROLL)))
    await press(page, 'Next', number + 1, SCROLLED_ROWS)
  }
  const stutters = frames.filter(ms => ms > STUTTER_MS).length
  const allowed = Math.floor(MAX_STUTTERS * frames.length)
  return {
    what: `console: scrolling ${SCROLLED_PAGES} pages of ${SCROLLED_ROWS} rows, ${width} px wide, stutters`,
    peer: 'one in a thousand frames',
    ours: `${stutters} of ${frames.length.toLocaleString('en')}, longest frame ${Math.max(...frames).toFixed(0)} ms`,
    theirs: `${allowed}`,
    ratio: stutters / allowed,
    goal: '≤ 1×',
    isMet: stutters <= allowed,
  }
}

/** In the browser: scrolls the page to its end, a step for each frame. Resolves to the frames' lengths in milliseconds. */
const SCROLL = `new Promise(resolve => {
  const frames = []
  let before = null
  scrollTo(0, 0)
  requestAnimationFrame(function step(now) {
    if (before !== null) frames.push(now - before)
    before = now
    const from = scrollY
    scrollBy(0, ${SCROLLED_PX_PER_FRAME})
    if (scrollY === from) resolve(frames)
    else requestAnimationFrame(step)
  })
})`

function rowOf(what: string, durations: readonly number[]): Row {
  const slowest = Math.max(...durations)
  return {
    what: `console: ${what}`,
    peer: 'response time limit',
    ours: `${quantile(durations, 0.5).toFixed(0)} ms, at most ${slowest.toFixed(0)}`,
    theirs: `${RESPONSE_LIMIT_MS} ms`,
    ratio: slowest / RESPONSE_LIMIT_MS,
    goal: '≤ 1×',
    isMet: slowest <= RESPONSE_LIMIT_MS,
  }
}
