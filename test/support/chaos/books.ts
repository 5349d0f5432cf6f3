/**
 * What callers were told, and what must therefore be: made from answers alone, and compared with the ledger when all is
 * quiet.
 */
import type { Database } from '../../../src/db/database.ts'
import { RETENTION_S } from './deployment.ts'

/** A reservation as an answer shows it. */
export interface OutboxEvent {
  units: number
  committed: number
  released: number
  refunded: number
  draws: { quota_id: number; kind: string; units: number; window_start: string }[]
}

/** One id of one user. */
export interface Entry {
  readonly user: number
  readonly id: string
  readonly op: 'reserve' | 'consume'
  readonly body: Record<string, unknown>
  readonly onExpiry: 'release' | 'commit'
  readonly force: boolean
  /** What its owner was told last; undefined: never granted. */
  told: OutboxEvent | undefined
  /** When it was first asked for, on our clock. */
  readonly begun: number
  /** When somebody was first told of it, and last. */
  firstToldAt: number
  /** When it was told with something that was not known before; the change may be older by an outage. */
  changedAt: number
  toldAt: number
}

export interface Books {
  readonly entries: Map<string, Entry>
  /** Whatever contradicts what was told before. */
  readonly contradictions: string[]
  /** Answers that said that something was done. */
  acknowledged: number
  denied: number
  replayed: number
  settled: number
  /** Calls that had no answer, and were repeated until they had one. */
  unanswered: number
  /** Takes down what an answer shows. `isOwners`: from whoever alone settles it, so that nothing ever goes back. */
  note(entry: Entry, shown: OutboxEvent, isOwners: boolean): void
  /** Quotas whose limit was lowered, by id. */
  readonly lowered: Set<number>
  /** Caps over everything a user sends: from when that was acknowledged until somebody began to change it. */
  readonly caps: { id: number; user: number; madeAt: number; endedAt: number }[]
}

export function createBooks(): Books {
  const contradictions: string[] = []
  return {
    entries: new Map(),
    contradictions,
    acknowledged: 0,
    denied: 0,
    replayed: 0,
    settled: 0,
    unanswered: 0,
    lowered: new Set(),
    caps: [],
    note(entry, shown, isOwners) {
      const before = entry.told
      const told: OutboxEvent = {
        units: shown.units,
        committed: shown.committed,
        released: shown.released,
        refunded: shown.refunded,
        draws: shown.draws.map(({ quota_id, kind, units, window_start }) => ({ quota_id, kind, units, window_start })),
      }
      const goesBack =
        before !== undefined &&
        isOwners &&
        (['committed', 'released', 'refunded'] as const).some(name => told[name] < before[name])
      const changes =
        before !== undefined &&
        (told.units !== before.units || JSON.stringify(told.draws) !== JSON.stringify(before.draws))
      if (goesBack || changes) {
        contradictions.push(`${entry.user} ${entry.id}: ${JSON.stringify(before)} then ${JSON.stringify(told)}`)
      }
      entry.toldAt = performance.now()
      if (before === undefined) entry.firstToldAt = entry.toldAt
      if (JSON.stringify(told) !== JSON.stringify(before)) entry.changedAt = entry.toldAt
      if (isOwners || before === undefined) entry.told = told
    },
  }
}

interface LedgerRow {
  user_id: number
  id: string
  units: number
  committed: number
  released: number
  refunded: number
}

export interface Judgement {
  /** Told of and not there, though retention cannot have taken it. */
  lost: string[]
  /** There, and nobody was told. */
  unknown: string[]
  /** There, and not as it was told. */
  different: string[]
  /** Windows whose counters are not the sum of what callers were told. */
  sums: string[]
  /** Windows with more drawn than they had, though nobody lowered or forced anything. */
  oversold: string[]
  /** Granted past a cap that held all the while. */
  uncapped: string[]
  reservations: number
  forgotten: number
  windows: number
}

/** What remains of a reservation when time has closed what was outstanding. */
function closed({ onExpiry, told }: Entry & { told: OutboxEvent }): OutboxEvent {
  const outstanding = told.units - told.committed - told.released
  return onExpiry === 'commit'
    ? { ...told, committed: told.committed + outstanding }
    : { ...told, released: told.released + outstanding }
}

/** Compares, when nobody calls any more and nothing is open. */
export async function judge(books: Books, db: Database): Promise<Judgement> {
  const { rows, windows } = await db.transaction(async tx => {
    const rows = await tx.query<LedgerRow>({
      text: 'select user_id, id, units, committed, released, refunded from reservation',
    })
    const windows = await tx.query<{
      quota_id: number
      window_start: number
      used: number
      reserved: number
      bound: number | null
    }>({
      text: `select id as quota_id, window_start, used, reserved, "limit" + overage_limit + rolled_over as bound from quota
        union all select quota_id, window_start, used, reserved, "limit" + overage_limit + rolled_over from quota_window`,
    })
    return { rows, windows }
  }, 'snapshot')
  const judgement: Judgement = {
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
  for (const key of there.keys()) {
    if (books.entries.get(key)?.told === undefined) judgement.unknown.push(key)
  }
  const used = new Map<string, number>()
  const forced = new Map<string, number>()
  for (const [key, entry] of books.entries) {
    const { told } = entry
    if (told === undefined) continue
    const expected = closed({ ...entry, told })
    const row = there.get(key)
    if (row === undefined) {
      if (performance.now() - entry.changedAt < (RETENTION_S * 1_000) / 2) judgement.lost.push(key)
      else judgement.forgotten += 1
    } else if ((['units', 'committed', 'released', 'refunded'] as const).some(name => row[name] !== expected[name])) {
      judgement.different.push(`${key}: told ${JSON.stringify(told)}, is ${JSON.stringify(row)}`)
    }
    for (const { id, user, madeAt, endedAt } of books.caps) {
      const holds = user === entry.user && madeAt < entry.begun && entry.firstToldAt < endedAt
      if (holds && !told.draws.some(draw => draw.quota_id === id)) judgement.uncapped.push(`${key} past ${id}`)
    }
    addUses(used, expected, expected.committed - expected.refunded)
    if (entry.force) addUses(forced, expected, expected.units)
  }
  for (const { quota_id, window_start, ...counters } of windows) {
    const key = `${quota_id} ${window_start}`
    const told = used.get(key) ?? 0
    used.delete(key)
    if (counters.used !== told || counters.reserved !== 0) {
      judgement.sums.push(`${key}: told ${told}, counts ${JSON.stringify(counters)}`)
    }
    const bound = counters.bound === null ? Number.POSITIVE_INFINITY : counters.bound + (forced.get(key) ?? 0)
    if (counters.used > bound && !books.lowered.has(quota_id)) {
      judgement.oversold.push(`${key}: ${counters.used} of ${bound}`)
    }
  }
  for (const [key, units] of used) if (units > 0) judgement.sums.push(`${key}: told ${units}, and there is no window`)
  return judgement
}

/** What a reservation counts as used: along its line the first spent units, grants one after the other, caps from 0. */
function addUses(used: Map<string, number>, { draws }: OutboxEvent, spent: number): void {
  let from = 0
  for (const { quota_id, kind, units, window_start } of draws) {
    const start = kind === 'grant' ? from : 0
    if (kind === 'grant') from += units
    const share = Math.max(0, Math.min(units, spent - start))
    const key = `${quota_id} ${Date.parse(window_start)}`
    used.set(key, (used.get(key) ?? 0) + share)
  }
}
