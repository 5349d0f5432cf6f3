import { describe, expect, test } from 'vitest'
import { createPauseOnce } from '../../src/admin/pauses/pauses.ts'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { approveRequest, makeRequestOnce } from '../../src/admin/quotas/increase-requests.ts'
import { transferOnce } from '../../src/admin/quotas/transfer.ts'
import { updateProfile } from '../../src/admin/users/change-profile.ts'
import { requestErasure } from '../../src/admin/users/erase-user.ts'
import { setUserAddress } from '../../src/admin/users/user-address.ts'
import { createWebhookOnce } from '../../src/admin/webhooks/webhooks-once.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { SQLSTATE } from '../../src/db/connection/errors.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { USAGE_COUNTS } from '../../src/db/usage/columns.ts'
import { TOP_LIST } from '../../src/db/usage/rollup.ts'
import { topUsers } from '../../src/db/usage/top-users.ts'
import { findErasure } from '../../src/db/users/erasure.ts'
import { eraseEvents, eraseRows, eraseTopUsers, TAKEN } from '../../src/db/users/erasure-pages.ts'
import { writeNames } from '../../src/db/users/principal-names.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { USAGE_DETAIL_DAYS } from '../../src/domain/basics/bounds.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createEventRetention } from '../../src/jobs/event-retention.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { createBench, draw, expectVerified, openTransaction, reserve, settle, warm } from '../support/engine.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { SOME_SECRET } from '../support/secrets.ts'
import { untilWaiting } from '../support/sessions.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()

const request = (user: number, force = false) => requestErasure(db, user, force, bench.author())
const eraserOn = (on: Database = db) =>
  createQuickEraser({ db: on, engine, now: () => clock.now, watched: async () => ['otp'] })

/** Erases until nothing is under way. */
async function finish(eraser = eraserOn()): Promise<void> {
  await finishErasures(eraser)
}

async function expectEqual(...users: number[]): Promise<void> {
  await expectVerified(db, ...users)
  const [totals] = await db.query<{ wrong: number }>({
    text: sql`select count(*) as wrong from shard_head h where
      grants <> (select count(*) from quota q where q.shard = h.shard and kind = 'grant' and deleted_at is null) or
      caps <> (select count(*) from quota q where q.shard = h.shard and kind = 'cap' and deleted_at is null) or
      deleted_grants <> (select count(*) from quota q where q.shard = h.shard and kind = 'grant' and deleted_at is not null) or
      deleted_caps <> (select count(*) from quota q where q.shard = h.shard and kind = 'cap' and deleted_at is not null)`,
  })
  expect(totals?.wrong).toBe(0)
}

let lastUser = 8_000_000_000

/** A user that no other test uses; of the given shard, if any. No other number in the tables is as large as the id. */
function someone(shard?: number): number {
  do lastUser += 1
  while (shard !== undefined && shardOf(lastUser) !== shard)
  return lastUser
}

/** Moves the user's usage of a quarter of an hour, as compaction does after weeks. */
async function compact(user: number, bucket: EpochMs, table: 'usage_day' | 'usage_month'): Promise<void> {
  const columns = ['shard', 'user_id', 'bucket', 'quota_id', 'country', 'message_type', ...USAGE_COUNTS].join(', ')
  await db.query({
    text: rawSql`with moved as (delete from usage where shard = $1 and user_id = $2 and bucket = $3 returning *)
           insert into ${table} (${columns}) select ${columns} from moved`,
    values: [shardOf(user), user, timestampParam(bucket)],
  })
}

const times = <Result>(count: number, work: (n: number) => Result) => Array.from({ length: count }, (_, n) => work(n))

/** Users with something in every table. Returns the ids of the quotas of each. */
async function createHistories(...users: number[]): Promise<number[][]> {
  const start = clock.now
  const quotas: number[][] = []
  for (const user of users) {
    const hourly = await bench.quota({ user_id: user, period: 'hour', limit: 500, alert_at: [1] })
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 5_000 })
    await db.query({
      text: sql`insert into value_counter (shard, quota_id, value_key, window_start, window_end, used, reserved, seq)
             values ($1, $2, 7, $3, $3, 1, 0, 1)`,
      values: [shardOf(user), cap.id, timestampParam(start)],
    })
    const deleted = await bench.quota({ user_id: user, limit: 5 })
    await deleteQuota(db, deleted.id, bench.author(), () => true)
    const other = await bench.quota({ user_id: someone(), limit: 5 })
    const give = (quota: number, to_user_id: number) =>
      transferOnce(
        db,
        quota,
        { to_user_id, units: 2, reason: 'a branch', expires_at: null },
        bench.author(),
        `${quota}`,
      )
    await give(hourly.id, other.user_id)
    const received = await give(other.id, user)
    const made = received.outcome === 'transferred' ? received.transfer.to_quota_id : null
    const paused = {
      country: 'FR',
      message_types: null,
      until: null,
      reason: 'a branch',
      evidence: null,
      observed: false,
    }
    await createPauseOnce(db, { user_id: user, origin: 'person', ...paused }, bench.author(), `pause ${user}`)
    const terms = { units: 1, until: null, reason: 'a branch', quota_id: hourly.id }
    const asked = await makeRequestOnce(db, user, terms, bench.author(), `request ${user}`, 0)
    if (asked.outcome === 'made') await approveRequest(db, asked.request.id, { note: null }, bench.author())
    const set = { user_id: user, address: `${user}@mail.example`, language: 'en', serial: user } as const
    await setUserAddress(db, set, [], bench.author())
    quotas.push([hourly.id, cap.id, deleted.id, made ?? -1])
    const draft = { url: 'https://example.com', user_ids: [user, someone()], enabled: false }
    await createWebhookOnce(db, draft, SOME_SECRET, bench.author(), `webhook ${user}`)
  }
  await createEventRetention({ db, now: () => clock.now, retentionMs: 0 }).removeOnce(clock.now)
  for (let hour = 0; hour < 3; hour++) {
    await Promise.all(users.flatMap(user => times(10, n => engine.submit(draw('consume', user, `h${hour}-${n}`, 2)))))
    clock.now += HOUR_MS
  }
  for (const user of users) {
    await engine.submit(settle('refund', user, 'h0-1', 1))
    await engine.submit(draw('consume', user, 'denied', 9_000))
    // Counted by the breaker.
    await engine.submit(draw('consume', user, 'code', 1, { country: 'FR', message_type: 'otp' }))
  }
  await createUsageRollup({ db, log: console, watched: async () => ['otp'] }).rollUpOnce()
  for (const user of users) {
    await compact(user, start, 'usage_month')
    await compact(user, start + HOUR_MS, 'usage_day')
    // Of users with hundreds of rows a day.
    await db.query({
      text: sql`insert into usage_busy select $1, $2, $3, 20, 10, 0, 0, 0, 0, null, null, null, null, null, null, 0, 0, 20`,
      values: [shardOf(user), user, timestampParam(start)],
    })
    await db.query({
      text: sql`insert into usage_busy_range values ($1, $2, $3, $3::timestamptz + interval '1 day')`,
      values: [shardOf(user), user, timestampParam(start)],
    })
  }
  clock.now += DAY_MS
  for (const user of users) await engine.submit(draw('consume', user, 'retired', 1))
  clock.now += 2
  await createRetention({ db, now: () => clock.now, retentionMs: 1 }).removeOnce(clock.now)
  for (const [index, user] of users.entries()) {
    await Promise.all(times(31, n => engine.submit(draw('consume', user, `kept-${n}`, 1))))
    // Without the id: the reference itself is reserved for some minutes more.
    const profile = { ref: `ref-${String(user).replaceAll('', '.')}`, name: 'Ann' }
    await updateProfile(db, user, profile, bench.author(), () => true)
    await writeNames(db, [{ subject: `subject of ${user}`, name: 'Ann', user_id: user }], clock.now)
    const origin = { principal: 'gateway', requestId: 'r' }
    await engine.submit(draw('consume', user, 'pending', 1, { force: true, origin }))
    await db.query({
      text: sql`insert into idempotency (shard, principal, key, request, created_at, answer)
             values (7, 'ada', $1, '{}', to_timestamp(0), $2)`,
      values: [`key-${index}-${clock.now}`, JSON.stringify({ id: quotas[index]?.[0], user_id: user })],
    })
  }
  const figures = createCustomerFigures({ db, now: () => clock.now })
  while ((await figures.renewOnce(clock.now)).isBehind);
  return quotas
}

async function createHistory(user: number): Promise<number[]> {
  const [quotas = []] = await createHistories(user)
  return quotas
}

interface Column {
  name: string
  column: string
  type: string
}

/** Every column that can hold a user or a quota, by the catalog: a new table is among them. */
function columnsOfUsers(): Promise<Column[]> {
  return db.query<Column>({
    text: sql`select c.table_name as name, c.column_name as column, c.data_type as type
           from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
           where table_schema = 'public' and table_type = 'BASE TABLE'
             and c.data_type in ('bigint', 'ARRAY') and c.column_name ~ 'user|quota'
             -- Counts of denials.
             and c.column_name !~ '^(no_quota|quota_exhausted)'
             -- The record of the erasure stays, and a position is no data of the user next to it.
             and table_name <> 'erasure' and (table_name, column_name) <> ('usage_upkeep', 'next_user')
           order by 1, 2`,
  })
}

/** Where something of the user is left: columns, found by their names, and tables of which a row has the user's id in any form. */
async function placesWith(user: number, quotas: readonly number[]): Promise<string[]> {
  const places: string[] = []
  for (const { name, column, type } of await columnsOfUsers()) {
    const values = column.includes('user') ? [user] : quotas
    const condition = type === 'ARRAY' ? `${column} && $1::bigint[]` : `${column} = any($1::bigint[])`
    const rows = await db.query({ text: rawSql`select from ${name} where ${condition} limit 1`, values: [values] })
    if (rows.length > 0) places.push(`${name}.${column}`)
  }
  const tables = await db.query<{ name: string }>({
    text: sql`select table_name as name from information_schema.tables
           where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not in ('erasure', 'usage_upkeep') order by 1`,
  })
  for (const { name } of tables) {
    const rows = await db.query({
      text: rawSql`select from ${name} t where t::text ~ $1 ${name === 'event' ? "and type <> 'user.erased'" : ''} limit 1`,
      values: [`\\m${user}\\M`],
    })
    if (rows.length > 0) places.push(name)
  }
  return places
}

describe('erases', () => {
  test('everything of the user but the record, and nothing of others', async () => {
    const [user, other] = [someone(3), someone(3)]
    const [others = [], quotas = []] = await createHistories(other, user)
    const before = await placesWith(user, quotas)
    const columns = await columnsOfUsers()
    expect(columns.length).toBeGreaterThan(20)
    expect(before, 'createHistories fills every table that can hold a user or a quota').toEqual(
      expect.arrayContaining([...columns.map(({ name, column }) => `${name}.${column}`), 'idempotency']),
    )
    expect(await placesWith(other, others)).toEqual(before)
    const totalOfAll = async () => {
      const [total] = await db.query<{ units: number }>({
        text: sql`select sum(committed)::bigint as units from usage_total`,
      })
      return total?.units ?? 0
    }
    const total = await totalOfAll()
    await expectEqual(user, other)

    expect(await request(user)).toMatchObject({ outcome: 'running', erasure: { user_id: user, finished_at: null } })
    await expectEqual(user, other)
    await finish()

    expect(await placesWith(user, quotas)).toEqual([])
    const gone = {
      reservation: 32,
      quota: 4,
      quota_window: 4,
      quota_change: 7,
      transfer: 2,
      quota_alert: 1,
      value_counter: 1,
      event: 5,
      event_sequence: 1,
      pause: 1,
      pause_change: 1,
      increase_request: 1,
      increase_request_change: 2,
    }
    const usage = {
      breaker_minute: 1,
      usage: 5,
      usage_day: 1,
      usage_month: 1,
      usage_busy: 1,
      usage_busy_range: 1,
      usage_top: 2,
    }
    const webhooks = { webhook: 1, webhook_change: 1 }
    expect(await findErasure(db, user)).toEqual({
      user_id: user,
      requested_at: clock.now,
      requested_by: 'ada',
      request_id: 'test',
      force: false,
      finished_at: clock.now,
      removed: {
        ...gone,
        ...usage,
        denial: 1,
        idempotency: 6,
        principal_name: 1,
        user_profile: 1,
        profile_change: 1,
        user_address: 1,
        user_address_change: 1,
        customer_figures: 1,
        ...webhooks,
      },
    })
    // The pending usage of the shard was rolled up.
    const kept = before.filter(place => !place.startsWith('usage_pending'))
    expect(await placesWith(other, others)).toEqual(kept)
    // Totals of all users name none of them, and stay.
    expect(total).toBeGreaterThan(100)
    expect(await totalOfAll()).toBeGreaterThanOrEqual(total)
    await expectEqual(user, other)
  })

  test('page by page, and counters equal the ledger after each', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await db.query({
      text: sql`insert into quota_window
             select $1, $2, -n, at, at + interval '1 hour', 10, 0, 0, 0, 0, 0
             from generate_series(1, 1300) n, lateral (select to_timestamp(0) - n * interval '1 hour' as at) t`,
      values: [shardOf(user), quotas[0] ?? 0],
    })
    for (let n = 0; n < 1_200; n++) void engine.submit(draw('consume', user, `more-${n}`, 1, { force: true }))
    await warm(engine, user)
    await request(user)
    let pages = 0
    const eraser = eraserOn({
      ...db,
      async transaction(work, mode) {
        const result = await db.transaction(work, mode)
        if (mode === undefined) {
          pages += 1
          expect((await verify(db, { userId: user })).differences).toEqual([])
        }
        return result
      },
    })
    await finish(eraser)
    expect(pages).toBeGreaterThan(8)
    expect(await placesWith(user, quotas)).toEqual([])
    await expectEqual(user)
  })

  test('whole users only: an eraser of version 0.1.0, which knows fewer tables, ends no erasure', async () => {
    const user = someone()
    await updateProfile(db, user, { ref: `ref-of-${user}` }, bench.author(), () => true)
    await request(user)
    const ended = db.query({
      text: sql`update erasure set finished_at = $3 where shard = $1 and user_id = $2`,
      values: [shardOf(user), user, timestampParam(clock.now)],
    })
    await expect(ended).rejects.toMatchObject({ code: SQLSTATE.checkViolation })
    await finish()
    expect(await findErasure(db, user)).toMatchObject({ finished_at: clock.now, removed: { user_profile: 1 } })
  })

  test('a user without any quota', async () => {
    const user = someone()
    await engine.submit(draw('consume', user, 'forced', 5, { force: true }))
    expect(await request(user)).toMatchObject({ outcome: 'running' })
    await finish()
    expect(await placesWith(user, [])).toEqual([])
  })

  test('no user who was never there', async () => {
    expect(await request(someone())).toEqual({ outcome: 'not_found' })
  })
})

describe('open reservations', () => {
  test('refuse an erasure, also those of closed windows and deleted quotas', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour' })
    await engine.submit(reserve(user, 'open', 3, { ttl_ms: DAY_MS }))
    expect(await request(user)).toEqual({ outcome: 'open_reservations' })
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'rolls', 1))
    expect(await request(user)).toEqual({ outcome: 'open_reservations' })
    await deleteQuota(db, id, bench.author(), () => true)
    expect(await request(user)).toEqual({ outcome: 'open_reservations' })
    await engine.submit(settle('release', user, 'open'))
    expect(await request(user)).toMatchObject({ outcome: 'running' })
    await finish()
    await expectEqual(user)
  })

  test('are released by force', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'open', 3))
    await engine.submit(reserve(user, 'partly', 5))
    await engine.submit(settle('commit', user, 'partly', 2))
    await engine.submit(reserve(user, 'overdue', 3, { ttl_ms: 1, on_expiry: 'commit' }))
    clock.now += 10
    expect(await request(user, true)).toMatchObject({ outcome: 'running', erasure: { force: true } })
    await finish()
    expect(await placesWith(user, [id])).toEqual([])
    await expectEqual(user)
  })
})

describe('senders meanwhile', () => {
  test('find no quota, even one that the engine remembers', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await warm(engine, user)
    await request(user)
    expect(await engine.submit(reserve(user, 'late', 1))).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await expectEqual(user)
    await finish()
    expect(await engine.submit(reserve(user, 'later', 1))).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
  })

  test('wait for the request, and are denied then', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(engine, user)
    const erasing = await openTransaction(db, tx =>
      requestErasure({ ...db, transaction: work => work(tx) }, user, false, bench.author()),
    )
    const reserving = engine.submit(reserve(user, 'late', 1))
    await untilWaiting(db, 1)
    await erasing.commit()
    expect(await reserving).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await finish()
    // The denial came before the end, so it is erased, too.
    expect(await placesWith(user, [id])).toEqual([])
    await expectEqual(user)
  })

  test('can settle until a reservation is gone, by force too', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    for (const name of ['given back', 'used']) await engine.submit(reserve(user, name, 3))
    await engine.submit(settle('release', user, 'given back'))
    await request(user, true)
    expect(await engine.submit({ ...settle('commit', user, 'given back'), force: true })).toMatchObject({
      outcome: 'settled',
    })
    expect(await engine.submit(settle('commit', user, 'used', 1))).toMatchObject({ outcome: 'settled' })
    await expectEqual(user)
    await finish()
    for (const name of ['given back', 'used'])
      expect(await engine.submit({ ...settle('commit', user, name), force: true })).toEqual({ outcome: 'not_found' })
    expect(await placesWith(user, [id])).toEqual([])
    await expectEqual(user)
  })

  test('by force leave data of a new beginning once the erasure is finished', async () => {
    const user = someone()
    await createHistory(user)
    await request(user)
    await engine.submit(draw('consume', user, 'meanwhile', 1, { force: true }))
    await finish()
    expect(await engine.submit(draw('consume', user, 'kept-1', 1, { force: true }))).toMatchObject({
      outcome: 'granted',
      replayed: false,
    })
    const rows = await db.query({ text: sql`select id from reservation where user_id = $1`, values: [user] })
    expect(rows).toEqual([{ id: 'kept-1' }])
    await expectEqual(user)
  })
})

describe('goes on', () => {
  test('after a failure of any page, in a new process', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await engine.submit(reserve(user, 'open', 3))
    await request(user, true)
    let failures = 0
    for (let failing = 1; (await findErasure(db, user))?.finished_at === null; failing++) {
      let count = 0
      const eraser = eraserOn({
        ...db,
        transaction: (work, mode) =>
          db.transaction(async tx => {
            const result = await work(tx)
            count += 1
            if (count === failing) throw new Error('crash before the commit')
            return result
          }, mode),
      })
      await finish(eraser).catch(error => {
        expect(error).toBeInstanceOf(PartsFailed)
        failures += 1
      })
      await expectEqual(user)
    }
    expect(failures).toBeGreaterThan(4)
    expect(await placesWith(user, quotas)).toEqual([])
  })

  test('in several processes at once, and each finishes once', async () => {
    const users = [someone(), someone(), someone()]
    await createHistories(...users)
    for (const user of users) await request(user)
    await Promise.all([finish(), finish(), finish()])
    await finish()
    for (const user of users) {
      const events = await db.query({
        text: sql`select from event where type = 'user.erased' and data #>> '{erasure,user_id}' = $1`,
        values: [String(user)],
      })
      expect(events).toHaveLength(1)
    }
    await expectEqual(...users)
  })

  test('when one user fails, with the others', async () => {
    const [broken, user] = [someone(4), someone(5)]
    for (const one of [broken, user]) {
      await bench.quota({ user_id: one })
      await request(one)
    }
    const failing: Database = {
      ...db,
      transaction: (work, mode) =>
        db.transaction(
          tx =>
            work({
              isCluster: false,
              query: statement =>
                statement.values?.[1] === broken ? Promise.reject(new Error('poison')) : tx.query(statement),
            }),
          mode,
        ),
    }
    await expect(eraserOn(failing).eraseOnce()).rejects.toBeInstanceOf(PartsFailed)
    expect((await findErasure(db, user))?.finished_at).toBe(clock.now)
    expect((await findErasure(db, broken))?.finished_at).toBeNull()
    await finish()
  })
})

describe('other jobs meanwhile', () => {
  const keyOf = (user: number) => ({ user_id: user, requested_at: clock.now })

  /** Runs a page while another transaction has changed rows that it reads, and is not committed yet. */
  async function against<Result>(text: string, user: number, erasePage: () => Promise<Result>): Promise<Result> {
    const other = await openTransaction(db, tx => tx.query({ text: rawSql`${text}`, values: [shardOf(user), user] }))
    expect(other.result.length).toBeGreaterThan(0)
    const erased = erasePage()
    await untilWaiting(db, 1)
    await other.commit()
    return erased
  }

  test('do not make a page of events seem the last, nor leave a sequence', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await request(user)
    // Like the retention of events.
    const prune = `
      with removed as (
        delete from event where shard = $1 and number = (select min(number) from event where shard = $1 and user_id = $2)
        returning sequence
      )
      insert into event_sequence select $1, $2, sequence from removed
      on conflict (shard, user_id) do update set last = excluded.last returning 1`
    expect(await against(prune, user, () => eraseEvents(db, keyOf(user), 3))).toBe(false)
    await finish()
    expect(await placesWith(user, quotas)).toEqual([])
  })

  test('do not leave usage that was added to meanwhile, nor lose what lists of top users got', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await request(user)
    // Like the usage rollup, of this user and of user 7.
    const add = 'update usage set committed = committed + 1 where shard = $1 and user_id = $2 returning 1'
    await against(add, user, () => eraseRows(db, keyOf(user), 500))
    const list = `update usage_top set users = users || 7::bigint, units = units || 1::bigint
                  where shard = $1 and $2 = any (users) returning 1`
    await against(list, user, () => eraseTopUsers(db, keyOf(user), 500))
    await finish()
    expect(await placesWith(user, quotas)).toEqual([])
    const lists = await db.query<{ users: number[]; units: number[] }>({
      text: sql`select users, units from usage_top where shard = $1 and 7 = any (users)`,
      values: [shardOf(user)],
    })
    expect(lists.length).toBeGreaterThan(0)
    for (const { users, units } of lists) expect(units[users.indexOf(7)]).toBe(1)
  })

  test('are waited for while they work on the usage of the shard', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await request(user)
    const compacting = await openTransaction(db, tx =>
      tx.query({ text: sql`select from usage_upkeep where shard = $1 for update`, values: [shardOf(user)] }),
    )
    expect(await eraseRows(db, keyOf(user), 500)).toBe(TAKEN)
    await compacting.commit()
    await finish()
    expect(await placesWith(user, quotas)).toEqual([])
  })

  test('compact usage between pages', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await db.query({
      text: sql`insert into usage select $1, $2, $3::timestamptz - n * interval '15 minutes', null, 'DE', null, 0, 0, 0, 0, 1, 1
             from generate_series(1, 1300) n`,
      values: [shardOf(user), user, timestampParam(Math.floor(clock.now / HOUR_MS) * HOUR_MS)],
    })
    // To look for old usage in all shards after each page takes long.
    await db.query({
      text: sql`update usage_upkeep set until = '2100-01-01' where shard <> $1`,
      values: [shardOf(user)],
    })
    // After each page one more of these 16 days is old enough.
    let at = clock.now + (USAGE_DETAIL_DAYS - 16) * DAY_MS
    await request(user)
    const compaction = createUsageCompaction({ db, log: console, now: () => clock.now, timeZone: 'UTC' })
    const eraser = eraserOn({
      ...db,
      async transaction(work, mode) {
        const result = await db.transaction(work, mode)
        // What only reads is no page.
        if (mode !== undefined) return result
        at += DAY_MS
        await compaction.compactOnce(at)
        return result
      },
    })
    await finish(eraser)
    expect(await placesWith(user, quotas)).toEqual([])
    const { usage = 0, usage_day = 0 } = (await findErasure(db, user))?.removed ?? {}
    expect([usage > 100, usage_day > 3]).toEqual([true, true])
    await expectEqual(user)
  })
})

test('a list of the top users stays complete without a user who is erased', async () => {
  const users = Array.from({ length: TOP_LIST + 3 }, () => someone(9))
  const day = Math.floor(clock.now / DAY_MS) * DAY_MS
  for (const [n, user] of users.entries()) await engine.submit(draw('consume', user, 'm', n + 1, { force: true }))
  const rollup = createUsageRollup({ db, log: console })
  await rollup.rollUpOnce()
  const top = () => topUsers(db, day, day + DAY_MS, 3)
  const before = await top()
  const [first, ...others] = before.users.map(({ user_id }) => user_id)
  expect([first, ...others]).toEqual(users.slice(-3).reverse())
  await request(first ?? 0)
  await finish()
  const after = await top()
  expect(after.users.map(({ user_id }) => user_id)).toEqual(users.slice(-4, -1).reverse())
  expect(after.unlistedUpTo).toBeLessThanOrEqual(after.users.at(-1)?.committed ?? 0)

  // A list without any user, to which the user is added again.
  const only = someone(10)
  const use = async (units: number) => {
    await engine.submit(draw('consume', only, `m${units}`, units, { force: true }))
    await rollup.rollUpOnce()
  }
  await use(5)
  await request(only)
  await finish()
  await use(2)
  const { users: all } = await topUsers(db, day, day + DAY_MS, TOP_LIST)
  expect(all.find(({ user_id }) => user_id === only)).toMatchObject({ committed: 2 })
})

test('a repeated request has the same record, and one after new data begins again', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  const first = await request(user)
  expect(await request(user, true)).toEqual(first)
  await finish()
  const { erasure } = (await request(user)) as Extract<typeof first, { erasure: object }>
  expect(await request(user)).toEqual({ outcome: 'finished', erasure })
  await bench.quota({ user_id: user })
  expect(await request(user)).toMatchObject({ outcome: 'running', erasure: { removed: {} } })
  await finish()
  await expectEqual(user)
})

test('after all of this, verify finds no difference in any user or shard', async () => {
  expect((await verify(db)).differences).toEqual([])
})
