/** Compares the record with the ledger: while callers go on, and when all of them have ended. */
import type { Database } from '../../../src/db/connection/database.ts'
import { sql } from '../../../src/db/connection/sql.ts'
import { RETENTION_S } from './deployment.ts'
import { FORCING_USERS } from './messages.ts'
import { type Entry, isDenied, type RunRecord, type ShownReservation } from './record.ts'

/** Quotas that exceed their limit now, except for lowered limits and users with forced commands. */
export async function oversoldNow(record: RunRecord, db: Database): Promise<object[]> {
  const rows = await db.query<{ id: number }>({
    text: sql`select id, user_id, used, reserved, "limit", rolled_over, overage_limit from quota
      where used + reserved > "limit" + rolled_over + overage_limit and user_id <> all($1)`,
    values: [FORCING_USERS],
  })
  return rows.filter(({ id }) => !record.lowered.has(id))
}

/** Reservations of ids that were denied, and that no call has asked for since. */
export async function chargedDenials({ entries }: RunRecord, db: Database): Promise<string[]> {
  const denied = new Map([...entries].filter(([, entry]) => isDenied(entry)).map(([key, { begun }]) => [key, begun]))
  const rows = await db.query<{ user_id: number; id: string }>({ text: sql`select user_id, id from reservation` })
  return rows
    .map(({ user_id, id }) => `${user_id} ${id}`)
    .filter(key => denied.has(key) && entries.get(key)?.begun === denied.get(key))
}

/** A batch waits this long for the rows of a user before it gives up. */
const LOCK_WAIT_MS = 1_000

/**
 * Calls that were not answered, or with 503, while nothing was wrong but rows that strangers held: how many of users
 * whose rows were held, and those of others, which must not occur. On a busy machine administrators hold rows, too: a change
 * is a dozen statements, and took 2 s with the account locked.
 */
export function unavailableInCalm({ unavailable, calms, holds, changes }: RunRecord) {
  const found = { ofHeld: 0, ofOthers: [] as string[] }
  for (const { user, from, to, answer } of unavailable) {
    if (!calms.some(calm => calm.from <= from && to <= calm.to)) continue
    const held = holds.filter(hold => hold.from <= to && from <= hold.to).map(hold => hold.user)
    const isChanged = changes.some(
      change => change.user === user && Math.min(change.to, to) - Math.max(change.from, from) >= LOCK_WAIT_MS,
    )
    if (isChanged || held.includes(user)) found.ofHeld += 1
    else found.ofOthers.push(`user ${user}: ${answer} after ${Math.round(to - from)} ms beside ${held.join(', ')}`)
  }
  return found
}

/** Gaps in the outbox, thresholds emitted twice without a change between that left the quota below them, and expired reservations without an event. */
export function wrongEvents(db: Database): Promise<object[]> {
  return db.query({
    text: sql`
      select 'gap' as what, shard::text as of from event group by shard having max(number) <> count(*)
      union all select 'gap', user_id::text from event group by shard, user_id having max(sequence) <> count(*)
      union all select 'percent twice', number::text from (
        select shard, number, data -> 'quota' -> 'id' as quota_id, (data ->> 'percent')::int as percent, lag(number) over (
          partition by shard, data -> 'quota' -> 'id', data -> 'quota' -> 'window_start', data -> 'percent' order by number
        ) as earlier from event where type = 'quota.threshold_reached'
      ) t where not exists (
        select 1 from event u where u.shard = t.shard and u.number > t.earlier and u.number < t.number
          and u.type = 'quota.updated' and u.data -> 'quota' -> 'id' = t.quota_id
          and (u.data -> 'quota' -> 'used')::bigint * 100
            < t.percent * ((u.data -> 'quota' -> 'limit')::bigint + (u.data -> 'quota' -> 'rolled_over')::bigint)
      ) and t.earlier is not null
      union all select 'no event', r.id from reservation r where r.expired and not exists (
        select 1 from event e where e.shard = r.shard and e.user_id = r.user_id and e.type = 'reservation.expired'
          and e.data -> 'reservation' ->> 'id' = r.id)
      limit 10`,
  })
}

/** How many reservations expired. Their events outlive them. */
export async function countExpired(db: Database): Promise<number> {
  const events = await db.query({ text: sql`select 1 from event where type = 'reservation.expired'` })
  return events.length
}

/** Limits that denials named and that are no quota of the user, or of the other kind. */
export async function misnamedLimits({ limiting }: RunRecord, db: Database): Promise<string[]> {
  const rows = await db.query<{ id: number; user_id: number; kind: string }>({
    text: sql`select id, user_id, kind from quota`,
  })
  const quotas = new Map(rows.map(row => [row.id, row]))
  return [...limiting]
    .filter(([id, { user, kind }]) => quotas.get(id)?.user_id !== user || quotas.get(id)?.kind !== kind)
    .map(([id, named]) => `${JSON.stringify(named)} is ${JSON.stringify(quotas.get(id))}`)
}

interface LedgerRow {
  user_id: number
  id: string
  units: number
  committed: number
  released: number
  refunded: number
}

export interface Findings {
  /** Shown to a caller and missing, though retention cannot have removed it. */
  lost: string[]
  /** In the ledger, and never shown to a caller. */
  unknown: string[]
  /** In the ledger, and not as it was shown. */
  different: string[]
  /** Windows whose counters are not the sum of what callers were shown. */
  sums: string[]
  /** Windows with more drawn than they had, though no caller lowered a limit or forced a send. */
  oversold: string[]
  /** Granted past a cap that held the whole time. */
  uncapped: string[]
  reservations: number
  forgotten: number
  windows: number
}

/** The reservation after the sweeper has closed its outstanding units. */
function closed({ onExpiry, shown }: Entry & { shown: ShownReservation }): ShownReservation {
  const outstanding = shown.units - shown.committed - shown.released
  return onExpiry === 'commit'
    ? { ...shown, committed: shown.committed + outstanding }
    : { ...shown, released: shown.released + outstanding }
}

/** Compares the record with the ledger. All callers must have ended, and nothing may be outstanding. */
export async function checkRun(record: RunRecord, db: Database): Promise<Findings> {
  const { rows, windows } = await db.transaction(async tx => {
    const rows = await tx.query<LedgerRow>({
      text: sql`select user_id, id, units, committed, released, refunded from reservation`,
    })
    const windows = await tx.query<{
      quota_id: number
      window_start: number
      used: number
      reserved: number
      bound: number | null
      user_id: number
      carried: number
    }>({
      text: sql`select w.*, q.user_id, case when w.window_no = 0 then coalesce((coalesce(q.plan, q.former) ->> 'carried')::bigint, 0) else 0 end as carried
        from (select id as quota_id, window_no, window_start, used, reserved, "limit" + overage_limit + rolled_over as bound from quota
          union all select quota_id, window_no, window_start, used, reserved, "limit" + overage_limit + rolled_over from quota_window) w
        join quota q on q.id = w.quota_id`,
    })
    // Their counters are elsewhere.
    return { rows, windows: windows.filter(({ quota_id }) => !record.valueCaps.has(quota_id)) }
  }, 'snapshot')
  const findings: Findings = {
    lost: [],
    unknown: [],
    different: [],
    sums: [],
    oversold: [],
    uncapped: [],
    reservations: rows.length,
    forgotten: 0,
    windows: windows.length,
  }

  const there = new Map(rows.map(row => [`${row.user_id} ${row.id}`, row]))
  const used = new Map<string, number>()
  const carriedBy = new Map<number, number>()
  for (const { quota_id, window_start, user_id, carried } of windows) {
    if (carried === 0) continue
    carriedBy.set(quota_id, carried)
    used.set(`${quota_id} ${window_start}`, carried)
    const drawn = drawnBefore(record, user_id, quota_id)
    if (carried > drawn)
      findings.different.push(`${quota_id}: carries ${carried}, of ${drawn} that its user drew before`)
  }
  for (const { user_id, id, ...row } of rows) {
    const transfer = record.transfers.get(Number(/^_transfer:(\d+)$/.exec(id)?.[1]))
    if (id.startsWith('_opening.')) {
      if (row.committed - row.refunded !== carriedBy.get(Number(id.slice('_opening.'.length))))
        findings.different.push(`${id}: ${JSON.stringify(row)}`)
    } else if (transfer === undefined && record.entries.get(`${user_id} ${id}`)?.shown === undefined)
      findings.unknown.push(`${user_id} ${id}`)
    if (transfer !== undefined && (row.committed !== transfer.units || row.refunded !== transfer.returned))
      findings.different.push(`${id}: shown ${JSON.stringify(transfer)}, is ${JSON.stringify(row)}`)
  }
  for (const { quota_id, window_start, units, returned } of record.transfers.values())
    used.set(
      `${quota_id} ${Date.parse(window_start)}`,
      (used.get(`${quota_id} ${Date.parse(window_start)}`) ?? 0) + units - returned,
    )
  const forced = new Map<string, number>()
  const ofValues = new Map<string, { used: number; limit: number }>()
  for (const [key, entry] of record.entries) {
    const { shown } = entry
    if (shown === undefined) continue
    const expected = closed({ ...entry, shown })
    const row = there.get(key)
    if (row === undefined) {
      if (performance.now() - entry.changedAt < (RETENTION_S * 1_000) / 2) findings.lost.push(key)
      else findings.forgotten += 1
    } else if ((['units', 'committed', 'released', 'refunded'] as const).some(name => row[name] !== expected[name])) {
      findings.different.push(`${key}: shown ${JSON.stringify(shown)}, is ${JSON.stringify(row)}`)
    }
    for (const { id, user, madeAt, endedAt } of record.caps) {
      const holds = user === entry.user && madeAt < entry.begunAt && entry.firstShownAt < endedAt
      if (holds && !shown.draws.some(draw => draw.quota_id === id)) findings.uncapped.push(`${key} past ${id}`)
    }
    const onWindows = { draws: expected.draws.filter(({ quota_id }) => !record.valueCaps.has(quota_id)) }
    addUses(used, { ...expected, ...onWindows }, expected.committed - expected.refunded)
    if (entry.force) addUses(forced, { ...expected, ...onWindows }, expected.units)
    addValues(ofValues, record, entry, expected)
  }
  for (const { quota_id, window_start, ...counters } of windows) {
    const key = `${quota_id} ${window_start}`
    const expected = used.get(key) ?? 0
    used.delete(key)
    if (counters.used !== expected || counters.reserved !== 0) {
      findings.sums.push(`${key}: shown ${expected}, counts ${JSON.stringify(counters)}`)
    }
    const bound = counters.bound === null ? Number.POSITIVE_INFINITY : counters.bound + (forced.get(key) ?? 0)
    if (counters.used > bound && !record.lowered.has(quota_id)) {
      findings.oversold.push(`${key}: ${counters.used} of ${bound}`)
    }
  }
  for (const [key, { used, limit }] of ofValues) if (used > limit) findings.oversold.push(`${key}: ${used} of ${limit}`)
  for (const [key, units] of used) if (units > 0) findings.sums.push(`${key}: shown ${units}, and there is no window`)
  return findings
}

/** The units that a user has drawn from quotas that were made before one: as many may count in its first window, at most. */
function drawnBefore(record: RunRecord, user: number, quota: number): number {
  const shown = [...record.entries.values()]
    .filter(entry => entry.user === user)
    .flatMap(entry => entry.shown?.draws ?? [])
  return shown.reduce((units, draw) => (draw.quota_id < quota ? units + draw.units : units), 0)
}

/** What a reservation leaves of each value that a cap counts by itself, by cap, value and window. */
function addValues(
  ofValues: Map<string, { used: number; limit: number }>,
  { valueCaps }: RunRecord,
  { body }: Entry,
  { draws, committed, refunded }: ShownReservation,
): void {
  for (const { quota_id, window_start } of draws) {
    const cap = valueCaps.get(quota_id)
    if (cap === undefined) continue
    const key = `${quota_id} ${body[cap.per]} ${window_start}`
    const sum = ofValues.get(key) ?? { used: 0, limit: cap.limit }
    sum.used += cap.counts === 'units' ? committed - refunded : Number(committed > refunded)
    ofValues.set(key, sum)
  }
}

/** What a reservation counts as used: along its line the first spent units, grants one after the other, caps from 0. */
function addUses(used: Map<string, number>, { draws }: ShownReservation, spent: number): void {
  let from = 0
  for (const { quota_id, kind, units, window_start } of draws) {
    const start = kind === 'grant' ? from : 0
    if (kind === 'grant') from += units
    const share = Math.max(0, Math.min(units, spent - start))
    const key = `${quota_id} ${Date.parse(window_start)}`
    used.set(key, (used.get(key) ?? 0) + share)
  }
}
