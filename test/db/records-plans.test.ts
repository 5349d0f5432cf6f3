/** Lists of plans, pauses, requests, changes, alerts, profiles and customers, and their retention, cost what they show, however much there is. */
import { expect, test } from 'vitest'
import { blocksOf, nodesOf } from '../../bench/explain.ts'
import { findOldMinutes } from '../../src/db/breaker/minutes.ts'
import { type AuditFilter, type AuditKey, listChanges } from '../../src/db/changes/audit.ts'
import { CHANGE_LOGS, LOGGED_RESOURCES, type LoggedResource } from '../../src/db/changes/logs.ts'
import { removeOldChanges } from '../../src/db/changes/retention.ts'
import { listPauses, type PauseFilter } from '../../src/db/pauses/lists.ts'
import { readActivePauses, removeEndedPauses } from '../../src/db/pauses/pauses.ts'
import { listPlans, usersByVersion } from '../../src/db/plans/plans.ts'
import { type PlanAccount, usersOfPlan } from '../../src/db/plans/users.ts'
import {
  type AlertKey,
  findEndedAlerts,
  listAlerts,
  MAX_ALERTS_SCANNED,
  removeEndedAlerts,
} from '../../src/db/quotas/alerts.ts'
import {
  countRequests,
  hasAutomatic,
  type IncreaseRequestFilter,
  listIncreaseRequests,
  removeDecidedRequests,
} from '../../src/db/quotas/increase-requests.ts'
import { listRateCards } from '../../src/db/rates/rate-cards.ts'
import { renewFigures, walkIdleShards } from '../../src/db/users/customer-figures.ts'
import {
  type CustomerFilter,
  type CustomerKey,
  type CustomerOrder,
  countAtRisk,
  listCustomers,
  searchCustomers,
} from '../../src/db/users/customers.ts'
import { namesOfUsers, removeFreedReferences, usersByReference } from '../../src/db/users/profiles.ts'
import { search } from '../../src/db/users/search.ts'
import { shardFrom, shardOf, shardOfReference } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { explain, type PlanCase, testPlans } from '../support/explain.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const USERS = 40_000
const QUOTAS = 30_000
const CHANGES = 25_000
const PAUSES = 20_000
const REQUESTS = 40_000
/** This user has half of all requests. */
const USER = 7
const SHARD = shardOf(USER)

const { db } = await databaseOfOnePostgres()
const fill = (text: string, ...values: (readonly (string | number)[])[]) => db.query({ text: rawSql`${text}`, values })
const AT = `'${new Date(NOW).toISOString()}'::timestamptz`
const ids = Array.from({ length: USERS }, (_, user) => user)
const refs = ids.slice(0, 20_000).map(user => `ref-${user}`)

// Half of them have plan 1, few plan 2, and every fiftieth plan 3.
await fill(
  `insert into account (shard, user_id, plan_id, plan_version)
    select shard, user_id, case when user_id % 2 = 0 then 1 when user_id % 301 = 0 then 2 when user_id % 50 = 1 then 3 end, 1 + user_id / 50 % 2
    from unnest($1::smallint[], $2::bigint[]) u (shard, user_id)`,
  ids.map(shardOf),
  ids,
)
await fill(`insert into plan (shard, id, version, is_default, archived_at, created_at, created_by, updated_at, updated_by)
    select 0, n, 2, false, case when n % 2 = 0 then ${AT} end, ${AT}, 'a', ${AT}, 'a' from generate_series(1, 2000) n`)
await fill(`insert into plan_version (shard, plan_id, version, name, slots)
    select 0, n, version, 'Plan ' || n, '[]' from generate_series(1, 2000) n, generate_series(1, 2) version`)
// One in a hundred is at risk. A tenth has sent the same, and most were never denied. The figures of some are due.
await fill(`insert into customer_figures (shard, user_id, computed_at, due_at, sequence, profile_version, name_key, state, urgency, used_share,
      daily, sent, sent_before, denied, denied_share, unmet, growth, last_message_at)
    select shard, user_id, ${AT}, case when user_id < 300 then '-infinity' else ${AT} + interval '1 day' end, 0, 0, 'name ' || user_id % 1000,
      case when user_id % 100 = 0 then 'blocked' else 'ok' end, case when user_id % 100 = 0 then 4000000000 + user_id else 0 end,
      user_id % 1000 * 1000, array_fill(1, array[30]), case when user_id % 10 = 0 then 5 else user_id end, 1, 0, 0,
      user_id % 7, user_id % 300, ${AT} - user_id * interval '1 minute'
    from account`)
await fill(`update usage_upkeep set until = '-infinity', next_user = null`)
await fill(`insert into user_profile (shard, user_id, ref, name, version, updated_at, updated_by)
    select shard, user_id, 'ref-' || user_id, 'Name ' || user_id, 1, ${AT}, 'a' from account where user_id < ${refs.length}`)
await fill(
  `insert into user_ref (shard, ref, user_id) select shard, ref, user_id
    from unnest($1::smallint[], $2::text[], $3::bigint[]) u (shard, ref, user_id)`,
  refs.map(shardOfReference),
  refs,
  ids.slice(0, refs.length),
)
// All quotas have reached 80 percent. The latest 20,000 marks are of a window that has ended.
await fill(`insert into quota (shard, id, user_id, kind, "limit", used, time_zone, rollover_limit, overage_limit, priority, starts_at, alert_at, alerted,
      enabled, metadata, window_start, created_at, created_by, updated_at, updated_by)
    select shard, user_id * 64 + shard, user_id, 'grant', 1000, 999, 'UTC', 0, 0, 1, at, '{80}', '{80}', true, '{}', at, at, 'a', at, 'a'
    from account, (select ${AT} - interval '1 day' as at) t where user_id between 1 and ${QUOTAS}`)
await fill(`insert into quota_alert (shard, quota_id, percent, at, ends_at)
    select shard, id, 80, ${AT} - user_id * interval '1 s',
      ${AT} + case when user_id <= 20000 then -1 else 400 end * interval '1 hour' from quota`)
// Half of them are of one user, who has two open ones, the oldest and one in the middle. Each was approved automatically in its window.
await fill(`insert into increase_request (shard, id, user_id, quota_id, units, reason, status, created_at, decided_at, automatic_window, retained_from)
    select shard, n * 64 + shard, case when n % 2 = 0 then ${USER} else n end, ${SHARD}, 5, 'Sale',
      case when n in (2, ${REQUESTS / 2}) then 'open' else 'declined' end, ${AT}, ${AT} + n * interval '1 s', n, ${AT} + n * interval '1 s'
    from generate_series(1, ${REQUESTS}) n, lateral (select case when n % 2 = 0 then ${SHARD} else n % 64 end as shard) s`)
// Every thousandth is active; all others ended by themselves or were lifted.
await fill(`insert into pause (shard, id, user_id, country, until, origin, created_at, created_by, lifted_at)
    select 0, n, case when n % 10 > 0 then n % 500 end, case when n % 2 = 0 then 'FR' else 'DE' end,
      case when n % 1000 > 0 then ${AT} - (${PAUSES} - n) * interval '1 min' end,
      'breaker', to_timestamp(0), 'a', case when n % 7 = 0 and n % 1000 > 0 then to_timestamp(n) end
    from generate_series(1, ${PAUSES}) n`)
// Most changes of quotas are by one actor; user 7, request "r7" and the actor "rare" have few, and old ones.
await fill(`insert into quota_change (shard, quota_id, version, action, at, actor, request_id, before, after)
    select n % 64, n * 64 + n % 64, 1, 'created', ${AT} - n * interval '1 s',
      case when n > ${CHANGES - 20} then 'rare' else 'busy' end, 'r' || n, null,
      jsonb_build_object('user_id', case when n > ${CHANGES - 20} then 7 else n end)
    from generate_series(1, ${CHANGES}) n`)
// Each shard but the last has old minutes, and some that lie ahead.
await fill(`insert into breaker_minute (shard, minute, user_id, country, sent, verified)
    select n % 64, ${AT} + (n % 63 - 61) * interval '5 hours', n, 'FR', 1, 0 from generate_series(1, 20000) n where n % 64 < 63`)
/** Changes of other records: the shard, the id, the version and the user, if that is a column, of each row. */
const OTHER_CHANGES: Record<Exclude<LoggedResource, 'quota'>, string> = {
  profile: 'n % 64, n, 1',
  address: 'n % 64, n, 1',
  webhook: '0, 64, n',
  plan: '0, 1, n',
  rate_card: '0, 1, n',
  breaker: '0, 0, n',
  pause: '0, n, 1, n % 1000',
  increase_request: 'n % 64, n * 64 + n % 64, 1, n % 1000',
}
for (const resource of LOGGED_RESOURCES) {
  if (resource === 'quota') continue
  const { table, id, user } = CHANGE_LOGS[resource]
  const columns = user === undefined || id === 'user_id' ? '' : ', user_id'
  await fill(`insert into ${table} (shard, ${id}, version${columns}, request_id, action, at, actor, after)
    select ${OTHER_CHANGES[resource]}, '${resource[0]}' || n, 'updated', ${AT} - n * interval '1 s', 'busy', '{}'
    from generate_series(1, 8000) n`)
}
await fill(`insert into erasure (shard, user_id, requested_at, requested_by, request_id, force)
    select n % 64, n, ${AT} - n * interval '1 s', 'busy', 'e' || n, false from generate_series(1, 8000) n`)

await fill(`insert into rate_card (shard, id, version, line_count, name, is_default, archived_at, created_at, created_by, updated_at, updated_by)
    select 0, n, 1, 1, 'card', false, case when n > 100 then ${AT} end, ${AT}, '1', ${AT}, '1' from generate_series(1, 2000) n`)

const TABLES = [
  ...[
    'account',
    'plan',
    'plan_version',
    'rate_card',
    'customer_figures',
    'user_profile',
    'user_ref',
    'quota',
    'quota_alert',
    'pause',
    'breaker_minute',
  ],
  ...[...LOGGED_RESOURCES.map(resource => CHANGE_LOGS[resource].table), 'increase_request', 'erasure'],
]

/** The pages of 8 KiB that a page of a list may read: those of its rows, or of the rows that it may scan. */
const FEW = 250
/** Of a page of a log of changes, and of one that reads each log and the erasures. */
const OF_LOG = 32
const OF_LOGS = OF_LOG * (LOGGED_RESOURCES.length + 1)
const SCAN = 2_500
/** Of each customer that is passed over, a page of its row, and of the index of plans. */
const SCAN_OF_CUSTOMERS = 25_000

const changes = (what: string, filter: AuditFilter, after?: AuditKey, blocks?: number): PlanCase => [
  `changes ${what}`,
  on => listChanges(on, filter, { after, size: 20, now: NOW }),
  { blocks: blocks ?? (filter.resource === undefined ? OF_LOGS : FEW) },
]
const requests = (what: string, filter: IncreaseRequestFilter, before = (REQUESTS + 1) * 64): PlanCase => [
  `requests: ${what}`,
  on => listIncreaseRequests(on, filter, { after: before, size: 20, now: NOW }),
  { blocks: FEW },
]
const pauses = (what: string, filter: PauseFilter, blocks = FEW, before = PAUSES + 1): PlanCase => [
  `pauses: ${what}`,
  on => listPauses(on, filter, { after: before, size: 20, now: NOW }),
  { blocks },
]
type CustomerPage = [
  what: string,
  filter: CustomerFilter,
  order: CustomerOrder,
  after?: CustomerKey['value'],
  blocks?: number,
]
const customers = (...[what, filter, order, after, blocks = 400]: CustomerPage): PlanCase => [
  `customers ${what}`,
  on =>
    listCustomers(on, filter, order, {
      after: after === undefined ? undefined : { value: after, user_id: 20_000 },
      size: 20,
      now: NOW,
    }),
  { blocks },
]
const usersOf = (what: string, to: number, after?: PlanAccount): PlanCase => [
  `the users of a plan: ${what}`,
  on => usersOfPlan(on, 3, { from: 1, to }, after, 20),
  { blocks: 100, indexes: { account: ['account_of_plan'] } },
]

const up = (by: CustomerOrder['by']): CustomerOrder => ({ by, descending: false })
const down = (by: CustomerOrder['by']): CustomerOrder => ({ by, descending: true })
const deep: AuditKey = { at: NOW - 20_000_000, resource: 'quota', shard: 1, id: 1, version: 1 }
const deepUser = { user_id: 12_301, plan_id: 3, plan_version: 1, live_at: null }

testPlans(db, TABLES, [
  changes('of all', {}),
  changes('of all, deep', {}, deep),
  changes('of a day long ago', { from: NOW - 22_000_000, to: NOW - 20_000_000 }),
  changes('of a quota', { resource: 'quota', thing_id: 64 + 1 }),
  changes('of a webhook', { resource: 'webhook', thing_id: 64 }),
  changes('of a plan', { resource: 'plan', thing_id: 1 }),
  changes('of a pause', { resource: 'pause', thing_id: 1 }),
  changes('of the pauses of a user', { user_id: 7, resource: 'pause' }),
  changes('of an increase request', { resource: 'increase_request', thing_id: 65 }),
  changes('of an id that is nowhere, of any resource', { thing_id: 1_000_000_007 }, undefined, SCAN),
  changes('of the increase requests of a user', { user_id: 7, resource: 'increase_request' }),
  changes('of a user', { user_id: 7 }),
  changes('of the profile of a user', { user_id: 7, resource: 'profile' }, undefined, OF_LOG),
  changes('of the address of a user', { user_id: 7, resource: 'address' }, undefined, OF_LOG),
  changes('of a request among profiles', { request_id: 'p7', resource: 'profile' }),
  changes('of a rare actor among profiles', { actor: 'rare', resource: 'profile' }),
  changes('of a request', { request_id: 'r7', resource: 'quota' }),
  changes('of a busy actor', { actor: 'busy' }),
  changes('of a rare actor', { actor: 'rare', resource: 'quota' }),
  changes('of an action that is nowhere', { action: 'secret_discarded' }, undefined, SCAN),
  changes('of raised limits', { raised: 'true' }, undefined, SCAN),
  changes('of raised limits by a rare actor', { raised: 'true', actor: 'rare' }),
  changes('of a request among erasures', { request_id: 'r7' }, undefined, SCAN),
  ...LOGGED_RESOURCES.map(
    (resource): PlanCase => [
      `a page of the retention of changes of ${resource}`,
      on => removeOldChanges(on, resource, NOW - 1_000 * DAY_MS, 1_000),
      { blocks: FEW },
    ],
  ),

  requests('all', {}),
  requests('all, deep', {}, 64_000),
  requests('open ones', { status: 'open' }),
  requests('a status that none has', { status: 'withdrawn' }),
  requests('of a user', { user_id: USER }),
  requests('of a user, deep', { user_id: USER }, 64_000),
  requests('open ones of a user', { user_id: USER, status: 'open' }),
  requests('of a user who has none', { user_id: 8, status: 'declined' }),
  ['the requests that a new one counts', on => on.transaction(tx => countRequests(tx, USER, NOW)), { blocks: FEW }],
  ['an automatic approval', on => on.transaction(tx => hasAutomatic(tx, SHARD, 7)), { blocks: FEW }],
  ['a page of the retention of requests', on => removeDecidedRequests(on, NOW + 100_000, 20), { blocks: FEW }],

  pauses('all', {}),
  pauses('all, deep', {}, FEW, 1_000),
  pauses('active ones', { active: 'true' }),
  pauses('active ones of a user and country', { active: 'true', user_id: 7, country: 'DE' }),
  pauses('those of a user that are over', { active: 'false', user_id: 7 }, 1_500),
  pauses('those of an origin that made none', { origin: 'person' }, 1_500),
  ['pauses that processes read', on => on.transaction(tx => readActivePauses(tx, NOW)), { blocks: FEW }],
  ['a page of the retention of pauses', on => removeEndedPauses(on, NOW - DAY_MS, 20), { blocks: FEW }],

  ['a page of plans', on => listPlans(on, {}, { after: 1_000, size: 20, now: NOW }), { blocks: FEW }],
  [
    'a page of archived plans',
    on => listPlans(on, { archived: 'true' }, { after: 1_000, size: 20, now: NOW }),
    { blocks: FEW },
  ],
  ['a page of rate cards', on => listRateCards(on, {}, { after: 1_000, size: 20, now: NOW }), { blocks: FEW }],
  usersOf('of a version', 1),
  usersOf('of all versions', 1_000),
  usersOf('of a version, deep', 1, deepUser),
  usersOf('of all versions, deep', 1_000, deepUser),

  customers('by name', {}, up('name')),
  customers('by name, deep', {}, up('name'), 'name 500'),
  customers('by use', {}, down('used'), 500_000),
  customers('by use, within bounds', { least: 400_000, most: 500_000 }, down('used')),
  customers('by what was sent', {}, down('sent')),
  customers('by what was sent, where many sent the same', {}, down('sent'), 5),
  customers('by what was denied', {}, down('denied'), 0),
  customers('by growth', {}, up('growth'), 150),
  customers('by the last message', {}, down('last_message'), NOW - 20_000 * 60_000),
  customers('by what was lacking', { view: 'unmet' }, down('unmet'), 3),
  customers('at risk', { view: 'at_risk' }, down('urgency')),
  customers('blocked, at risk', { view: 'at_risk', state: 'blocked' }, down('urgency'), 4_000_020_000),
  customers('about to lose a grant: none', { view: 'at_risk', state: 'ending' }, down('urgency')),
  customers('in a state that few have', { state: 'blocked' }, down('sent'), undefined, SCAN_OF_CUSTOMERS),
  customers('in a state that none has', { state: 'no_quota' }, down('sent'), undefined, SCAN_OF_CUSTOMERS),
  customers('of a plan that half of them have', { plan_id: 1 }, down('sent'), undefined, 2_000),
  customers('of a plan that few have', { plan_id: 2 }, down('sent'), undefined, 1_000),
  customers('of a plan that none has', { plan_id: 9 }, down('name')),
  ['how many customers are at risk', on => countAtRisk(on), { blocks: 500 }],
  [
    'a search for customers',
    on => searchCustomers(on, '12', { plan_id: 1 }, down('sent'), { size: 20, now: NOW }),
    { blocks: 900 },
  ],
  [
    'a page of accounts whose figures are made anew',
    on => renewFigures(on, shardOf(7), NOW, 100, () => undefined),
    { blocks: 30_000 },
  ],

  ['the names on a page of 200', on => namesOfUsers(on, ids.slice(0, 200)), { blocks: 1_000 }],
  ['the users of 1,000 references', on => usersByReference(on, refs.slice(0, 1_000)), { blocks: 5_000 }],
  ['a search for a reference', on => search(on, 'ref-1', 21, NOW), { blocks: 2_000 }],
  ['a search for a name', on => search(on, 'name 1', 21, NOW), { blocks: 2_000 }],
  ['a search for what is nowhere', on => search(on, 'nowhere', 21, NOW), { blocks: 2_000 }],
  [
    'a page of alerts',
    on => listAlerts(on, { size: 20, now: NOW }),
    {
      blocks: 2 * MAX_ALERTS_SCANNED,
      indexes: { quota_alert: ['quota_alert_worst'], quota: [expect.stringMatching(/^quota_(pkey|list_by_id)$/)] },
    },
  ],
  ['the walk over idle shards', on => walkIdleShards(on, NOW, NOW), { rows: 64 * 51, uses: 'account_pkey' }],
  [
    'shards with minutes that the breaker judges no longer',
    on => findOldMinutes(on, NOW),
    { rows: 64, uses: 'breaker_minute_pkey' },
  ],
  ['shards with ended marks', on => findEndedAlerts(on, NOW), { rows: 64, uses: 'quota_alert_end' }],
  [
    'ended marks of a shard',
    on => removeEndedAlerts(on, shardFrom(3), NOW, 50),
    { blocks: 2_000, uses: 'quota_alert_end' },
  ],

  ['a page of freed references', on => removeFreedReferences(on, NOW, 1_000), { blocks: 100 }],
])

test('alerts that do not hold are passed over in pages, of which none is lost', async () => {
  const first = await listAlerts(db, { size: 20, now: NOW })
  expect(first.items).toEqual([])
  const found: number[] = []
  let next: AlertKey | null = first.next
  for (let pages = 1; next !== null && found.length < 40; pages++) {
    expect(pages).toBeLessThan(6)
    const page = await listAlerts(db, { after: next, size: 20, now: NOW })
    found.push(...page.items.map(({ quota }) => quota.user_id))
    next = page.next
  }
  expect(found).toEqual(Array.from({ length: 40 }, (_, index) => 20_001 + index))
})

test('the users of a plan are counted in an index', async () => {
  await fill('vacuum analyze account')
  const all = await explain(db, on => usersByVersion(on, 3), ['account'])
  for (const { plan } of all) {
    expect(nodesOf(plan).map(node => node['Node Type'])).toContain('Index Only Scan')
    expect(blocksOf(plan)).toBeLessThan(50)
  }
  const users = ids.filter(user => user % 50 === 1 && user % 301 > 0)
  const ofVersion = (version: number) => users.filter(user => 1 + (Math.floor(user / 50) % 2) === version).length
  expect(await usersByVersion(db, 3)).toEqual([2, 1].map(version => ({ version, users: ofVersion(version) })))
})
