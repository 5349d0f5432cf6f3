/** The list of alerts costs the same however many quotas and events there are. */
import { expect, test } from 'vitest'
import { blocksOf, nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import { fillUsers } from '../../bench/fill.ts'
import { MAX_SCANNED, standingAlerts } from '../../src/db/alerts.ts'
import { readEvents } from '../../src/db/outbox.ts'
import { BY_KEYS } from '../../src/db/planner-settings.ts'
import { SHARD_COUNT } from '../../src/domain/shard.ts'
import { freshDatabase } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const USERS = 20_000
/** One in five has a percent: more than are scanned. */
const EVENTS = 60_000

const { db } = await freshDatabase()
await fillUsers(db, USERS, NOW)
await db.query({ text: `update quota set alert_at = '{80}', used = "limit" - 1` })
await db.query({
  text: `insert into event (shard, number, user_id, sequence, type, at, data)
    select q.shard, row_number() over (partition by q.shard order by n), q.user_id, n,
      case when n % 5 = 0 then 'quota.threshold_reached' else 'quota.updated' end,
      $1::timestamptz - n * interval '1 s',
      jsonb_build_object('quota', jsonb_build_object('id', q.id, 'window_start', q.window_start))
        || case when n % 5 = 0 then '{"percent": 80}'::jsonb else '{}' end
    from generate_series(1, $2::int) n join quota q on q.user_id = 1 + mod(n * 7919, $3::int)`,
  values: [new Date(NOW).toISOString(), EVENTS, USERS],
})

async function sentBy(work: (on: typeof db) => Promise<unknown>): Promise<Statement> {
  const sent: Statement[] = []
  const recording: (typeof db)['query'] = statement => {
    if (statement.text !== BY_KEYS) sent.push(statement)
    return db.query(statement)
  }
  await work({ ...db, query: recording, transaction: inside => inside({ query: recording }) })
  const [statement, ...others] = sent
  if (statement === undefined || others.length > 0)
    throw new Error(`one statement was expected, ${sent.length} were sent`)
  return statement
}

test.each(['before', 'after'])('alerts scan the newest percents only, %s the first analyze', async when => {
  if (when === 'after') await db.query({ text: 'analyze event, quota' })
  const statement = await sentBy(on => standingAlerts(on, 20, NOW))
  const plan = await db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return planOf(tx, statement)
  })
  const scans = nodesOf(plan).filter(node => node['Index Name'] !== undefined || node['Relation Name'] !== undefined)
  // The plan looks quotas up by id, by either index of ids.
  const byId = expect.stringMatching(/^quota_(pkey|list_by_id)$/)
  expect(scans.map(scan => scan['Index Name'])).toEqual(['event_of_percent', byId])
  expect(scans[0]?.['Actual Rows']).toBe(MAX_SCANNED)
  expect(blocksOf(plan)).toBeLessThan(5 * MAX_SCANNED)
  expect((await standingAlerts(db, 20, NOW)).length).toBe(20)
})

test('the feed never uses the index of alerts', async () => {
  const from = new Array<number>(SHARD_COUNT).fill(0)
  const ends = new Array<number>(SHARD_COUNT).fill(EVENTS)
  const statement = await sentBy(on => readEvents(on, from, ends, { types: ['quota.threshold_reached'] }, 100))
  const used = nodesOf(await planOf(db, statement)).flatMap(node => node['Index Name'] ?? [])
  expect(used).toEqual(['event_pkey'])
})
