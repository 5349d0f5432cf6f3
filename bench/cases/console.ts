/**
 * The console over a hundred thousand quotas and ninety days of usage: what people wait for, in a real browser, from the
 * press of a key or a button until what was asked for stands there.
 */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { quantile, timeOf } from '../compare.ts'
import { fillUsage } from '../fill.ts'
import { loadQuotas } from '../load.ts'
import type { Bench, Findings, Row } from './bench.ts'
import { mintFor, startService } from './http.ts'

const QUOTAS = 100_000
const TIMES = 20
/** Nobody who waits for less than this feels held up (J. Nielsen, Usability Engineering, 1993: a second). */
const FLUENT_MS = 1_000
/** Every hour, from two grants to three countries. */
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
  async function measure(what: string, times: number, ask: (n: number) => Promise<void>): Promise<void> {
    const took: number[] = []
    say(`  ${what}`)
    for (let n = 0; n < times; n++) took.push(await timeOf(() => ask(n)))
    rows.push(rowOf(what, took))
  }
  await measure('the list from its link, nothing loaded before', 1, async () => {
    await page.goto(`${service.url}/console/quotas#token=${token}`)
    await rowsOf(page, 1)
  })
  await measure('the next page of the list', TIMES, n => press(page, 'Next', n + 2))
  await measure('the last page of the list, and the first again', TIMES, n =>
    n % 2 === 0 ? press(page, 'Last', QUOTAS) : press(page, 'First', 1),
  )
  await measure('a status chosen', TIMES, async n => {
    await page.getByLabel('Status').selectOption(n % 2 === 0 ? 'Suspended' : 'Active')
    await page.locator('table[aria-busy=false]').waitFor()
    await page
      .getByRole('row')
      .filter({ hasText: n % 2 === 0 ? 'Suspended' : 'Active' })
      .first()
      .waitFor()
  })
  await measure("a user's page with a chart of 90 days", TIMES, async () => {
    await page.goto(`${service.url}/console/users/1`)
    await page.getByRole('application').waitFor()
  })
  await measure('the same by country', TIMES, async n => {
    await page.getByLabel('Group by').selectOption(n % 2 === 0 ? 'Country' : 'Nothing')
    await page
      .getByText('France')
      .first()
      .waitFor({ state: n % 2 === 0 ? 'visible' : 'detached' })
  })
  return { rows, details: [], notes: [] }
}

/** Presses a button of the pager, and waits for the rows of that page. */
async function press(page: Page, button: string, to: number): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages of the list' }).getByRole('button', { name: button }).click()
  await rowsOf(page, to)
}

/** Waits until the list shows the page of this number, or its last one. */
async function rowsOf(page: Page, number: number): Promise<void> {
  const first = ((number - 1) * 20 + 1).toLocaleString('en')
  const words = number === QUOTAS ? /^[\d,]+–([\d,]+) of \1$/ : new RegExp(`^${first}–`)
  await page.getByRole('status').filter({ hasText: words }).waitFor()
  await page.locator('table[aria-busy=false]').waitFor()
}

function rowOf(what: string, took: readonly number[]): Row {
  const slowest = Math.max(...took)
  return {
    what: `console: ${what}`,
    peer: 'what feels fluent',
    ours: `${quantile(took, 0.5).toFixed(0)} ms, at most ${slowest.toFixed(0)}`,
    theirs: `${FLUENT_MS} ms`,
    ratio: slowest / FLUENT_MS,
    goal: '≤ 1×',
    isMet: slowest <= FLUENT_MS,
  }
}
