/** The list of alerts costs the same however many quotas have reached a percent. */
import { expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import { disableAutovacuum, fillUsers } from '../../bench/fill.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type AlertKey, listAlerts, MAX_ALERTS_SCANNED, removeEndedAlerts } from '../../src/db/quotas/alerts.ts'
import { shardFrom } from '../../src/domain/shard.ts'
import { databaseOfOnePostgres } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const USERS = 30_000

const { db } = await databaseOfOnePostgres()
await disableAutovacuum(db)
await fillUsers(db, USERS, NOW, { isFresh: true })
// All have reached 80 percent. The latest 20,000 marks are of a window that has ended.
await db.query({ text: sql`update quota set alert_at = '{80}', alerted = '{80}', used = "limit" - 1` })
await db.query({
  text: sql`insert into quota_alert (shard, quota_id, percent, at, ends_at)
    select shard, id, 80, $1::timestamptz - user_id * interval '1 s',
      case when user_id <= 20000 then $1::timestamptz - interval '1 hour' else window_end end from quota`,
  values: [new Date(NOW).toISOString()],
})

const pageAfter = (after?: AlertKey) => listAlerts(db, after, 20, NOW)

test.each(['before', 'after'])('a page reads a bounded number of marks, %s the first analyze', async when => {
  if (when === 'after') await db.query({ text: sql`analyze quota_alert, quota` })
  const statements = await transactionOf(db, on => listAlerts(on, undefined, 20, NOW))
  const plans = await plansOf(db, statements)
  for (const plan of plans) {
    const scans = nodesOf(plan).filter(node => node['Index Name'] !== undefined || node['Relation Name'] !== undefined)
    const [marks, ...others] = scans.map(scan => scan['Index Name'])
    expect(marks).toBe('quota_alert_worst')
    for (const other of others) expect(other).toMatch(/^quota_(pkey|list_by_id)$/)
    expect(blocksOf(plan)).toBeLessThan(2 * MAX_ALERTS_SCANNED)
  }
})

test('marks that do not hold are passed over in pages, of which none is lost', async () => {
  const first = await pageAfter()
  expect(first.alerts).toEqual([])
  const found: number[] = []
  let { next } = first
  for (let pages = 1; next !== null && found.length < 40; pages++) {
    expect(pages).toBeLessThan(6)
    const page = await pageAfter(next)
    found.push(...page.alerts.map(({ quota }) => quota.user_id))
    next = page.next
  }
  expect(found).toEqual(Array.from({ length: 40 }, (_, index) => 20_001 + index))
})

test('ended marks of a shard are found by their end', async () => {
  const statements = await transactionOf(db, on => removeEndedAlerts(on, shardFrom(3), NOW, 50))
  const [plan] = await plansOf(db, statements)
  if (plan === undefined) throw new Error('there is no plan')
  const used = nodesOf(plan).flatMap(node => node['Index Name'] ?? [])
  expect(used).toContain('quota_alert_end')
  expect(nodesOf(plan).filter(node => node['Node Type'] === 'Seq Scan')).toEqual([])
  expect(blocksOf(plan)).toBeLessThan(2_000)
})
