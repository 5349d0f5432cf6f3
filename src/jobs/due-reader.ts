import type { Database } from '../db/connection/database.ts'
import { type DuePage, type DueReservation, findDue } from '../db/reservations/due.ts'
import { SHARDS, type Shard } from '../domain/basics/shard.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../domain/time/time.ts'
import { createWatermarkKeeper } from './watermark.ts'

/** Reads reservations that have expired, page by page: first those that are due now, then those missed in the past. */
export interface DueReader {
  /** Reads a page of what has become due by `now`. Resolves to whether all of it has been read. */
  readDue(now: EpochMs): Promise<boolean>
  /** Reads a page of the past; `readDue` comes first. Resolves to whether there is more of it to read. */
  readPast(now: EpochMs): Promise<boolean>
  /** The time up to which every shard is read for due reservations; positive infinity before the first page. */
  readUntil(): EpochMs
}

/**
 * Reservations that were committed late, behind the point up to which the shard was read, are found by reading back.
 */
const LOOK_BACK_MS = 120_000
const LOOK_BACK_EVERY_MS = 60_000

/** The interval at which the watermark is read, raised and written. */
const SYNCHRONIZE_EVERY_MS = 60_000

/**
 * After the start, and once a day, the past is read back to the watermark, and 30 hours at least. That finds what the
 * watermark cannot promise (docs/decisions/expiry.md), and tries again what failed.
 */
const WALK_EVERY_MS = DAY_MS
const SHORTEST_WALK_MS = 30 * HOUR_MS
/** While the watermark is not known: retention leaves only open reservations before that. */
const LONGEST_PAST_MS = 400 * DAY_MS

/** The time up to which each shard is read. A shard that is read to the end is removed from it. */
type Walk = Map<Shard, EpochMs>

interface Piece {
  walk: Walk
  until: EpochMs
  /** Called with each page, and after which expiry it was read. */
  onPage?: (page: DuePage, from: EpochMs) => void
}

const walkFrom = (after: EpochMs): Walk => new Map(SHARDS.map(shard => [shard, after]))

/** The walk back over the past, which is made after the start and once a day. */
interface WalkBack {
  /** Begins a walk if none was begun for a day. Returns whether it did. */
  startIfDue(now: EpochMs): boolean
  hasMore(): boolean
  /** A piece as long as all pieces before it: what expired while the service was stopped is found soon. */
  next(): Piece
  /** The next walk is due at once. */
  reset(): void
}

function createWalkBack(watermarkOf: (shard: Shard) => EpochMs): WalkBack {
  let from = Number.NEGATIVE_INFINITY
  let walkedMs = Number.POSITIVE_INFINITY
  return {
    startIfDue(now) {
      if (now < from + WALK_EVERY_MS) return false
      from = now
      walkedMs = LOOK_BACK_MS
      return true
    },
    hasMore: () => walkedMs < LONGEST_PAST_MS,
    next() {
      const until = from - walkedMs
      walkedMs *= 2
      const after = walkedMs >= LONGEST_PAST_MS ? Number.NEGATIVE_INFINITY : from - walkedMs
      const walk: Walk = new Map()
      for (const shard of SHARDS) {
        const start = Math.max(after, Math.min(watermarkOf(shard), from - SHORTEST_WALK_MS))
        if (start < until) walk.set(shard, start)
      }
      if (walk.size === 0) walkedMs = Number.POSITIVE_INFINITY
      return { walk, until }
    },
    reset() {
      from = Number.NEGATIVE_INFINITY
      walkedMs = Number.POSITIVE_INFINITY
    },
  }
}

/** Reads a page of each shard of the piece. */
async function readPage(
  db: Database,
  { walk, until, onPage }: Piece,
  onDue: (found: DueReservation) => void,
): Promise<void> {
  for (const page of await findDue(db, walk, until)) {
    const { shard, reached, due } = page
    onPage?.(page, walk.get(shard) ?? until)
    if (reached === null) walk.delete(shard)
    else walk.set(shard, reached)
    for (const found of due) onDue(found)
  }
}

/** `onDue` gets each reservation found with units outstanding, some of them more than once. */
export function createDueReader(db: Database, onDue: (found: DueReservation) => void): DueReader {
  const watermark = createWatermarkKeeper(db)
  /** The time up to which each shard was read for due reservations. Empty before the first step. */
  const read: Walk = new Map()
  /** Pieces of the past that are being read, the last one first. */
  const past: Piece[] = []
  let lookBackAt = 0
  let synchronizeAt = Number.NEGATIVE_INFINITY
  const back = createWalkBack(shard => watermark.of(shard))
  let mayCheck = false
  let latest = Number.NEGATIVE_INFINITY

  async function nextPiece(): Promise<Piece | undefined> {
    if (back.hasMore()) return back.next()
    if (!mayCheck) return undefined
    mayCheck = false
    const piece = await watermark.next()
    return piece && { ...piece, onPage: (page, from) => watermark.note(page, from, piece.until) }
  }

  /** A clock that was wrong and is set back had led all reading ahead. */
  function startOverIfSetBack(now: EpochMs): void {
    if (now < latest - LOOK_BACK_MS) {
      read.clear()
      past.length = 0
      synchronizeAt = Number.NEGATIVE_INFINITY
      back.reset()
      latest = now
    }
    latest = Math.max(latest, now)
  }

  return {
    readUntil: () => Math.min(...read.values()),
    async readDue(now) {
      startOverIfSetBack(now)
      if (read.size === 0) {
        for (const [shard, from] of walkFrom(now - LOOK_BACK_MS)) read.set(shard, from)
        lookBackAt = now + LOOK_BACK_EVERY_MS
      }
      const walk = new Map(read)
      await readPage(db, { walk, until: now }, onDue)
      for (const shard of read.keys()) read.set(shard, walk.get(shard) ?? now)
      return walk.size === 0
    },

    async readPast(now) {
      if (now >= lookBackAt) {
        past.push({ walk: walkFrom(now - LOOK_BACK_MS), until: now })
        lookBackAt = now + LOOK_BACK_EVERY_MS
      }
      if (now >= synchronizeAt) {
        await watermark.synchronize(now)
        synchronizeAt = now + SYNCHRONIZE_EVERY_MS
        mayCheck = true
      }
      if (back.startIfDue(now)) watermark.restart()
      if (past.length === 0) {
        const piece = await nextPiece()
        if (piece !== undefined && piece.walk.size > 0) past.push(piece)
      }
      const piece = past.at(-1)
      if (piece !== undefined) {
        await readPage(db, piece, onDue)
        if (piece.walk.size === 0) past.splice(past.indexOf(piece), 1)
      }
      return past.length > 0 || back.hasMore() || mayCheck
    },
  }
}
