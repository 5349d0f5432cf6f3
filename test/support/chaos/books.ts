/** The answers that callers got, and what must therefore hold. Compared with the ledger when all callers have ended. */
import type { Database } from '../../../src/db/database.ts'
import { RETENTION_S } from './deployment.ts'

/** A reservation as an answer shows it. */
export interface ShownReservation {
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
  /** The reservation as its owner's last answer showed it; undefined: never granted. */
  shown: ShownReservation | undefined
  /** When it was first requested (`performance.now()`, like the times below). */
  readonly begun: number
  /** When an answer first showed it, and last. */
  firstShownAt: number
  /** When an answer last showed something new; the change itself may be older by an outage. */
  changedAt: number
  shownAt: number
}

export interface Books {
  readonly entries: Map<string, Entry>
  /** Answers that contradict earlier answers. */
  readonly contradictions: string[]
  /** Answers that confirmed a change. */
  acknowledged: number
  denied: number
  replayed: number
  settled: number
  /** Calls without an answer, which were repeated until they had one. */
  unanswered: number
  /** Records what an answer shows. `isOwners`: the answer is for the only caller that settles it, so no number may go down. */
  note(entry: Entry, reservation: ShownReservation, isOwners: boolean): void
  /** Quotas whose limit was lowered, by id. */
  readonly lowered: Set<number>
  /** Caps over everything a user sends: from the answer that created each until a caller began to change it. */
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
    note(entry, reservation, isOwners) {
      const before = entry.shown
      const shown: ShownReservation = {
        units: reservation.units,
        committed: reservation.committed,
        released: reservation.released,
        refunded: reservation.refunded,
        draws: reservation.draws.map(({ quota_id, kind, units, window_start }) => ({
          quota_id,
          kind,
          units,
          window_start,
        })),
      }
      const goesBack =
        before !== undefined &&
        isOwners &&
        (['committed', 'released', 'refunded'] as const).some(name => shown[name] < before[name])
      const changes =
        before !== undefined &&
        (shown.units !== before.units || JSON.stringify(shown.draws) !== JSON.stringify(before.draws))
      if (goesBack || changes) {
        contradictions.push(`${entry.user} ${entry.id}: ${JSON.stringify(before)} then ${JSON.stringify(shown)}`)
      }
      entry.shownAt = performance.now()
      if (before === undefined) entry.firstShownAt = entry.shownAt
      if (JSON.stringify(shown) !== JSON.stringify(before)) entry.changedAt = entry.shownAt
      if (isOwners || before === undefined) entry.shown = shown
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

/** Compares the books with the ledger. All callers must have ended, and nothing may be outstanding. */
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
    if (books.entries.get(key)?.shown === undefined) judgement.unknown.push(key)
  }
  const used = new Map<string, number>()
  const forced = new Map<string, number>()
  for (const [key, entry] of books.entries) {
    const { shown } = entry
    if (shown === undefined) continue
    const expected = closed({ ...entry, shown })
    const row = there.get(key)
    if (row === undefined) {
      if (performance.now() - entry.changedAt < (RETENTION_S * 1_000) / 2) judgement.lost.push(key)
      else judgement.forgotten += 1
    } else if ((['units', 'committed', 'released', 'refunded'] as const).some(name => row[name] !== expected[name])) {
      judgement.different.push(`${key}: shown ${JSON.stringify(shown)}, is ${JSON.stringify(row)}`)
    }
    for (const { id, user, madeAt, endedAt } of books.caps) {
      const holds = user === entry.user && madeAt < entry.begun && entry.firstShownAt < endedAt
      if (holds && !shown.draws.some(draw => draw.quota_id === id)) judgement.uncapped.push(`${key} past ${id}`)
    }
    addUses(used, expected, expected.committed - expected.refunded)
    if (entry.force) addUses(forced, expected, expected.units)
  }
  for (const { quota_id, window_start, ...counters } of windows) {
    const key = `${quota_id} ${window_start}`
    const expected = used.get(key) ?? 0
    used.delete(key)
    if (counters.used !== expected || counters.reserved !== 0) {
      judgement.sums.push(`${key}: shown ${expected}, counts ${JSON.stringify(counters)}`)
    }
    const bound = counters.bound === null ? Number.POSITIVE_INFINITY : counters.bound + (forced.get(key) ?? 0)
    if (counters.used > bound && !books.lowered.has(quota_id)) {
      judgement.oversold.push(`${key}: ${counters.used} of ${bound}`)
    }
  }
  for (const [key, units] of used) if (units > 0) judgement.sums.push(`${key}: shown ${units}, and there is no window`)
  return judgement
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
