/**
 * Measures the list of customers, and the job that makes their figures.
 *
 *     bin/node bench/customers.ts [--users 1000000]
 *
 * It creates a database of its own on DATABASE_URL's server and drops it, or starts a server for the time.
 */
import { parseArgs } from 'node:util'
import type { CustomersQuery } from '../src/contract/customers.ts'
import type { Database } from '../src/db/connection/database.ts'
import { sql } from '../src/db/connection/sql.ts'
import { timestampParam } from '../src/db/connection/values.ts'
import { customers } from '../src/http/customers/responses.ts'
import { createCustomerFigures } from '../src/jobs/customer-figures.ts'
import { quantile } from './compare.ts'
import { withDatabases } from './databases.ts'
import { fillUsers } from './fill.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
/** Calls of each kind: pages one after the other, so that most are deep. */
const CALLS = 200

const { values: options } = parseArgs({ options: { users: { type: 'string', default: '1000000' } } })
const users = Number(options.users)

await withDatabases(async makeDatabase => {
  const db = await makeDatabase('customers')
  await fillUsers(db, users, NOW, { denied: Math.ceil(users / 100) })
  await fillUsage(db)
  let now = NOW
  const job = createCustomerFigures({ db, now: () => now })
  for (const walk of ['figures of all users', 'a walk after which nothing is new']) {
    now += 3_600_000
    say(
      walk,
      await timesOf(
        () => job.renewOnce(now),
        ({ isBehind }) => isBehind,
      ),
    )
  }
  await db.query({ text: sql`vacuum analyze` })
  const sorts = ['name', 'used', 'denied', 'growth', 'sent', 'last_message', 'unmet'] as const
  for (const query of [
    ...sorts.map(sort => ({ sort })),
    { view: 'at_risk' },
    { view: 'unmet' },
    { state: 'ending' },
    { search: '4242' },
  ] satisfies CustomersQuery[])
    say(JSON.stringify(query), await timesOf(pagesOf(db, query, now)))
})

/** Three quarters of an hour of usage for each user, each with other units, some of them denied. */
async function fillUsage(db: Database): Promise<void> {
  await db.query({
    text: sql`insert into usage (shard, user_id, bucket, quota_id, committed, committed_messages, refunded, refunded_messages, denied,
        denied_messages, quota_exhausted, quota_exhausted_messages)
      select shard, user_id, date_bin('15 minutes', $1::timestamptz - n * 9 * interval '1 day', 'epoch'), 1,
        (user_id * 7919 + n) % 1000, 1, 0, 0, user_id % 10, 1, user_id % 10, 1
      from account, generate_series(1, 5) n where n % 2 = 1`,
    values: [timestampParam(NOW)],
  })
}

/** Calls for one page after the other, and again from the first. */
function pagesOf(db: Database, query: CustomersQuery, now: number) {
  let cursor: string | null = null
  return async () => {
    const page = await customers.page(db, cursor === null ? query : { cursor }, now)
    cursor = page.next_cursor
  }
}

/** How long each call took, in milliseconds, up to `CALLS`, or while there is more. */
async function timesOf<Result>(call: () => Promise<Result>, hasMore?: (result: Result) => boolean): Promise<number[]> {
  const times: number[] = []
  for (;;) {
    const start = performance.now()
    const result = await call()
    times.push(performance.now() - start)
    if (hasMore === undefined ? times.length === CALLS : !hasMore(result)) return times
  }
}

function say(what: string, times: readonly number[]): void {
  const [p50, p99, all] = [quantile(times, 0.5), quantile(times, 0.99), times.reduce((sum, one) => sum + one, 0)]
  const shown = [p50, p99].map(one => one.toFixed(1).padStart(9)).join(' ')
  console.log(`${what.padEnd(36)} ${shown} ms, ${times.length} calls in ${(all / 1_000).toFixed(1)} s`)
}
