/** Tables of 50,000 rows in four shards, and a call of each statement of the engine with 64 of their keys. */
import type { Queryable } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { addDenials, type DenialRow } from '../../src/db/ledger/add-denials.ts'
import { addEvents, advanceOutbox } from '../../src/db/ledger/add-events.ts'
import { addUsage, type BookedUsage } from '../../src/db/ledger/add-usage.ts'
import { addAlerts, markAlerted } from '../../src/db/ledger/alerts.ts'
import { incrementCounters, rollQuotas } from '../../src/db/ledger/counters.ts'
import {
  allAccounts,
  allQuotas,
  allReservations,
  freeAccounts,
  freeQuotas,
  freeReservations,
} from '../../src/db/ledger/find-locked-rows.ts'
import { checkAbsent, checkQuotas, checkReservations } from '../../src/db/ledger/guards.ts'
import { loadAuthorship } from '../../src/db/ledger/load-authorship.ts'
import { readEndedQuotas } from '../../src/db/ledger/load-ended-quotas.ts'
import { selectQuotaDetails } from '../../src/db/ledger/load-quota-details.ts'
import { fenceQuotas, lockAccounts, lockQuotas, writeAccounts } from '../../src/db/ledger/locks.ts'
import { addPrincipals, loadLastPrincipal, loadPrincipals } from '../../src/db/ledger/principals.ts'
import { loadDrawnQuotas, loadQuotas, readDrawnQuotas, readQuotas } from '../../src/db/ledger/quota-rows.ts'
import { readCards } from '../../src/db/ledger/rate-cards.ts'
import { type Authors, loadReservations } from '../../src/db/ledger/reservation-rows.ts'
import type { Stored } from '../../src/db/ledger/rows.ts'
import type { LedgerCall } from '../../src/db/ledger/statement.ts'
import { loadCounters, readCounters, writeCounters } from '../../src/db/ledger/value-counters.ts'
import { closeWindows, correctWindows } from '../../src/db/ledger/windows.ts'
import {
  addActions,
  addReservations,
  extendReservations,
  markRetaken,
  settleReservations,
} from '../../src/db/ledger/write-reservations.ts'
import { quotaIdOf, SHARDS, shardOf } from '../../src/domain/basics/shard.ts'
import type { OutboxEvent } from '../../src/domain/events/outbox-event.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import type { Reservation } from '../../src/domain/units/reservation.ts'
import { viewOf } from '../../src/domain/units/view.ts'
import { aQuota, at } from '../domain/fixture.ts'
import { rawSql } from '../support/sql.ts'

const NOW = at('2026-01-15')
const ROWS = 50_000
export const KEYS = 64

const usersInShards = SHARDS.slice(0, 4)

/** The users, from the first: the n-th has the n-th quota and the n-th reservation. */
const users: number[] = []
for (let user = 1; users.length < ROWS; user++) if (usersInShards.includes(shardOf(user))) users.push(user)

/** The last fifth of the reservations and of the events is of one user. */
const BUSY_USER = users[ROWS / 2] ?? 0
const BUSY_FROM = (ROWS * 4) / 5
const owners = users.map((user, index) => (index < BUSY_FROM ? user : BUSY_USER))

const AT = `timestamptz '2026-01-01'`

async function insert(db: Queryable, text: string, values: readonly number[]): Promise<void> {
  const rows = `(select shard, user_id, nth as n
    from unnest($1::smallint[], $2::bigint[]) with ordinality u (shard, user_id, nth)) k`
  await db.query({ text: rawSql`${text.replace('$rows', rows)}`, values: [values.map(shardOf), values] })
}

export async function fillQuotas(db: Queryable): Promise<void> {
  await insert(db, 'insert into account (shard, user_id, live) select shard, user_id, 1 from $rows', users)
  await insert(
    db,
    `insert into quota (shard, id, user_id, kind, "limit", period, time_zone, rollover_limit, overage_limit, priority,
        starts_at, alert_at, enabled, metadata, window_start, window_end, created_at, created_by, updated_at, updated_by)
      select shard, n * 64 + shard, user_id, 'grant', 100, 'month', 'UTC', 0, 0, 100,
        ${AT}, '{80}', true, '{}', ${AT}, ${AT} + interval '1 month', ${AT}, 'ada', ${AT}, 'ada'
      from $rows`,
    users,
  )
}

/** What grows with every send. */
export async function fillLedger(db: Queryable): Promise<void> {
  await insert(
    db,
    `insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released, refunded,
        on_expiry, expired, draws, created_at, expires_at, changed_at)
      select shard, user_id, 'm' || n, 'reserve', 1, false, false, 1, 0, 0, 0,
        'release', false, array[n * 64 + shard, 0, 0, 0, 0, 1], ${AT}, ${AT} + n * interval '1 s', ${AT}
      from $rows`,
    owners,
  )
  await insert(
    db,
    `insert into quota_window (shard, quota_id, window_no, window_start, window_end, "limit", overage_limit, rolled_over,
        used, reserved, carried)
      select shard, n * 64 + shard, 0, ${AT} - interval '1 month', ${AT}, 100, 0, 0, 5, 5, 0 from $rows`,
    users,
  )
  await insert(
    db,
    `insert into value_counter (shard, quota_id, value_key, window_start, window_end, used, reserved, seq)
      select shard, n * 64 + shard, 1, ${AT}, ${AT} + interval '1 hour', 1, 0, 1 from $rows`,
    users,
  )
  await insert(
    db,
    `insert into event (shard, number, user_id, sequence, type, at, data)
      select shard, n, user_id, n, 'quota.updated', ${AT}, '{"percent": 80}' from $rows`,
    owners,
  )
  await db.query({ text: rawSql`update shard_head set last_event = ${2 * ROWS}` })
}

export async function emptyLedger(db: Queryable): Promise<void> {
  await db.query({ text: sql`truncate reservation, quota_window, value_counter, event` })
}

/** Far enough for rows of two parts to lie on different pages. */
const ROWS_APART = 100

/**
 * A call with 64 keys of each statement, by its name. Each part has other keys: every update that is undone leaves a dead
 * version of its row, and a search reads those, too.
 */
export function callsFor(part: number): Readonly<Record<string, LedgerCall>> {
  // Users at equal distances, and among them the busy one.
  const picked = Array.from({ length: KEYS }, (_, index) => Math.floor((index * ROWS) / KEYS) + ROWS_APART * part)

  const quotas = picked.map((index): Stored<Quota> => {
    const user_id = users[index] ?? 0
    return { ...aQuota({ id: quotaIdOf(index + 1, shardOf(user_id)), user_id }), seq: 0 }
  })

  const reservations = picked
    .map((index): Stored<Reservation> & Authors => ({
      user_id: owners[index] ?? 0,
      id: `m${index + 1}`,
      op: 'reserve',
      asked: 1,
      country: null,
      message_type: null,
      allow_partial: false,
      force: false,
      would_deny: null,
      units: 1,
      committed: 0,
      released: 0,
      refunded: 0,
      on_expiry: 'release',
      expired: false,
      verified: false,
      draws: [],
      created_at: NOW,
      expires_at: NOW,
      made_by: 1,
      settled_by: null,
      seq: 0,
    }))
    .sort((one, other) => one.user_id - other.user_id || (one.id < other.id ? -1 : 1))

  const newReservations = reservations.map(reservation => ({ ...reservation, id: `new-${reservation.id}` }))

  const events = reservations.map(({ user_id }): OutboxEvent => {
    const quota = viewOf(aQuota({ user_id }), NOW)
    const sendable = { units: 20, country: null, message_type: null }
    return { user_id, type: 'quota.threshold_reached', data: { quota, percent: 80, sendable } }
  })

  const usage = reservations.map(({ user_id }): BookedUsage => {
    const grant = { quota_id: 64, country: 'DE', message_type: null }
    return { user_id, kind: 'committed', ...grant, sender: null, units: 1, messages: 1, sent_at: null }
  })

  const denials = reservations.map(
    ({ user_id, id, op }): DenialRow => ({
      ...{ user_id, id, op, units: 1, country: 'DE', message_type: null, allow_partial: false },
      ...{
        reason: 'no_quota',
        remaining: 0,
        limiting_quota_id: null,
        retry_at: null,
        skipped: null,
        sender: 1,
        explanation: [],
      },
    }),
  )

  const windows = quotas.map(({ id }) => ({ quota_id: id, window_no: 0, used: 1, reserved: -1 }))

  const began = Date.parse('2026-01-01')
  const counters = quotas.map(({ id }) => ({
    ...{ quota_id: id, key: 1n, window_start: began, window_end: began + 3_600_000 },
    ...{ used: 2, reserved: 0, seq: 1 },
  }))

  const closedWindows = quotas.map(({ id }) => ({
    quota_id: id,
    window_no: 1,
    window_start: NOW,
    window_end: NOW,
    limit: 100,
    overage_limit: 0,
    rolled_over: 0,
    used: 5,
    reserved: 0,
    carried: 0,
  }))

  const scope = { now: NOW }
  const ids = quotas.map(({ user_id }) => user_id)
  const calls: LedgerCall[] = [
    ...[lockAccounts, writeAccounts, fenceQuotas, loadQuotas, readQuotas, readEndedQuotas, readCards].map(statement =>
      statement.call(scope, ids),
    ),
    ...[allAccounts, allQuotas, freeAccounts, freeQuotas].map(statement => statement.call(scope, ids)),
    ...[loadDrawnQuotas, readDrawnQuotas].map(statement => statement.call(scope, quotas)),
    ...[checkQuotas, lockQuotas, selectQuotaDetails, rollQuotas].map(statement => statement.call(scope, quotas)),
    ...[loadReservations, loadAuthorship, allReservations, freeReservations].map(statement =>
      statement.call(scope, reservations),
    ),
    ...[checkReservations, extendReservations, settleReservations, markRetaken].map(statement =>
      statement.call(scope, reservations),
    ),
    ...[checkAbsent, addReservations].map(statement => statement.call(scope, newReservations)),
    ...[addPrincipals, loadPrincipals].map(statement => statement.call(scope, picked.map(String))),
    loadLastPrincipal.call(scope, []),
    addActions.call(
      scope,
      reservations.map(({ user_id, id }) => {
        const author = { principal: null, request_id: 'r' }
        return { user_id, id, action: 'refund', total_units: 1, ...author }
      }),
    ),
    incrementCounters.call(
      scope,
      quotas.map(quota => ({ quota, used: 1, reserved: 1 })),
    ),
    // It expects the `seq` that the statements before it in a batch have given.
    markAlerted.call(
      scope,
      quotas.map(quota => ({ quota: { ...quota, seq: -1 }, marks: [80] })),
    ),
    addAlerts.call(
      scope,
      quotas.map(({ id }) => ({ quota_id: id, percent: 80, ends_at: null })),
    ),
    closeWindows.call(scope, closedWindows),
    correctWindows.call(scope, windows),
    readCounters.call(scope, counters),
    loadCounters.call(scope, counters),
    writeCounters.call(scope, counters),
    addUsage.call(scope, usage),
    addDenials.call(scope, denials),
    advanceOutbox.call(
      scope,
      usersInShards.map(shard => ({ shard, count: KEYS / 4 })),
    ),
    addEvents(scope, events),
  ]
  return Object.fromEntries(calls.map(call => [call.name, call]))
}
