/** Renders the measurements of `bench/plans.ts` as Markdown. */
import { availableParallelism, totalmem } from 'node:os'
import { QUOTA_COLUMNS } from '../src/db/quotas/quotas.ts'
import type { Comparison } from './compare.ts'
import type { Statement } from './explain.ts'

export interface Measured {
  name: string
  grows: string | undefined
  /** One per size. */
  cells: readonly { milliseconds: number; blocks: number }[]
  steps: readonly { statement: Statement; plan: string }[]
}

/** The server, and the size of the largest database. */
export interface Facts {
  version: string
  buffers: string
  table: string
  indexes: string
}

export interface Report {
  sizes: readonly number[]
  runs: number
  calls: number
  facts: Facts
  measured: readonly Measured[]
  comparisons: readonly Comparison[]
}

export function renderPlans({ sizes, runs, calls, facts, measured, comparisons }: Report): string {
  const titles = sizes.map(size => size.toLocaleString('en'))
  const million = sizes.length > 2 ? ' -- --million' : ''
  return `# How lists and summaries are answered

Made by \`npm run plans${million}\`.

Measured with PostgreSQL ${facts.version} (shared_buffers ${facts.buffers}) and Node.js ${process.version} on a machine of ${availableParallelism()} cores and
${Math.round(totalmem() / 2 ** 30)} GiB, which the database, the measurement and other programs share: compare ratios, not times. Run the same
command for your own figures. test/db/plans.test.ts checks that the plans stay as described here.

The quotas are those of bench/load.ts: ten a user on average, six to eight times that for the busiest, gathered over two
years, of all kinds, periods and scopes, a quarter expired, one in twenty deleted. Every tenth live quota has been drawn
from since the last vacuum. At ${titles.at(-1)} quotas the table takes ${facts.table} and its indexes ${facts.indexes}. Each
statement is the one that the service sends, recorded from its own functions.

## What does not grow, and what does

A user's list and summary read that user's entries in one index: they cost what the user has, not what all users have.
Deleted quotas accumulate, but lie in an index of their own. Expired ones are listed and counted, so they do cost.

A page of all users walks an index in the order of the list and stops when the page is full. Its total comes from
\`shard_head\` (64 rows), without a count. By cursor it begins at the row where the last page ended, so that every page
costs the same; by page number PostgreSQL reads the rows before the page, or those behind it if they are fewer, at most
100,000.

No list of all users reads more than a bounded number of quotas (docs/decisions/lists-and-search.md):

- \`status=deleted\` and \`kind\` have totals in \`shard_head\` too. Deleted quotas and caps have indexes of their own, since
  they are few among many.
- A filter that an index serves (expired, suspended, scheduled, exhausted quotas, caps, a name, an external reference, a
  range of expiry) is read by that index: if it selects few, all of them are read, counted and sorted.
- Otherwise a page walks the index of its order, passes over what the filter does not select, and ends after 10,000
  quotas. A total is counted over 50,000 quotas, or 10,000 of the index that serves a filter; beyond that it is null.
- No index may hold a counter, because each draw would have to write to it. Quotas that have been exhausted in their
  window are noted in \`quota_alert\`, once per window.

## Each statement

\`blocks\` are
pages of 8 KiB that the database read. \`ms\` is the median of ${runs} calls through the service's own functions, over
the database's socket, all sizes alternating. † grows: its plan below says with what.

${table(
  ['statement', ...titles.map(title => `blocks at ${title}`), ...titles.map(title => `ms at ${title}`)],
  measured.map(({ name, grows, cells }) => [
    grows === undefined ? name : `${name} †`,
    ...cells.map(({ blocks }) => blocks.toLocaleString('en')),
    ...cells.map(({ milliseconds }) => fixed(milliseconds)),
  ]),
)}

## Small against large, near against far

${calls.toLocaleString('en')} calls of each side, in turn and one at a time, after a tenth as many to warm up; users and places in the list vary
from call to call. The goal is a ratio of at most 1.5.

${table(
  ['what', 'sides', 'p50, ms', 'p99, ms', 'ratio of p50', 'ratio of p99'],
  comparisons.map(({ what, one, other }) => [
    what,
    `${one.name} → ${other.name}`,
    `${fixed(one.p50)} → ${fixed(other.p50)}`,
    `${fixed(one.p99)} → ${fixed(other.p99)}`,
    fixed(other.p50 / one.p50),
    fixed(other.p99 / one.p99),
  ]),
)}

## Plans at ${titles[1]} quotas

From \`explain (analyze, buffers)\`; \`…\` stands for the columns of a quota.

${measured.map(renderPlan).join('\n\n')}
`
}

function renderPlan({ name, grows, steps }: Measured): string {
  const growth = grows === undefined ? '' : `\nGrows with ${grows}.\n`
  return `### ${name}\n${growth}${steps.map(renderStep).join('\n')}`
}

function renderStep({ statement, plan }: Measured['steps'][number]): string {
  const text = statement.text.replaceAll(QUOTA_COLUMNS, '…').replaceAll(/\n\s+/g, '\n  ')
  const values = (statement.values ?? []).map((value, index) => `$${index + 1} = ${value}`).join(', ')
  return `
\`\`\`sql
${text}
-- ${values === '' ? 'no parameters' : values}
\`\`\`

\`\`\`
${plan}
\`\`\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  // Columns of figures are aligned right.
  const alignment = head.map((_, index) => (/^\d/.test(rows[0]?.[index] ?? '') ? '--:' : '---'))
  return [line(head), line(alignment), ...rows.map(line)].join('\n')
}

function fixed(value: number): string {
  return value.toFixed(2)
}
