import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { NewList } from '../../admin/rates/rate-cards.ts'
import type { RateLineReq, RateLinesQuery } from '../../contract/rate-cards.ts'
import { closed } from '../../contract/schemas.ts'
import type { Database } from '../../db/connection/database.ts'
import { findLines, findRateCard, listsOfCard } from '../../db/rates/rate-cards.ts'
import { linesIn } from '../../db/rates/stored-lines.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { listAt } from '../../domain/rates/rate-book.ts'
import { type RateCard, type RateList, rateCardViewOf } from '../../domain/rates/rate-card.ts'
import { LINE_CHANGES, ONE_A_SEGMENT, type RateLine } from '../../domain/rates/rate-line.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { invalidRequest } from '../../errors.ts'
import { found } from '../changes/outcomes.ts'
import { etagOf } from '../changes/requests.ts'
import { cursorInteger, cursorsFor, issuesWithCursor } from '../platform/cursors.ts'

export const rateCardOf = (id?: number) => ({ what: 'rate card', id })

/** A card with the ETag of its version. */
export function taggedCard(reply: FastifyReply, card: RateCard) {
  reply.header('etag', etagOf(card.version))
  return rateCardViewOf(card)
}

/** The lists of a card, and which of them holds. */
export function detailOf(lists: readonly RateList[], now: EpochMs) {
  const holding = listAt(lists, now)
  return {
    lists: lists.map(list => ({
      version: list.version,
      state: list === holding ? 'holds' : list.valid_from > now ? 'upcoming' : 'past',
      valid_from: formatTimestamp(list.valid_from),
      lines: list.line_count,
      created_at: formatTimestamp(list.created_at),
      created_by: list.created_by,
    })),
  }
}

/** Lines as they are asked for. Fields that are left out are as in the line for all. */
export function linesOf(asked: readonly RateLineReq[]): RateLine[] {
  return asked.map(line => ({ ...ONE_A_SEGMENT, ...line }))
}

const MAX_CHANGED = 1_000

/** A list that was set, or would be, with what it changes. */
export function setViewOf(reply: FastifyReply, { card, valid_from, changed }: NewList, isDryRun: boolean) {
  const count = (change: (typeof LINE_CHANGES)[number]) => changed.filter(line => line.change === change).length
  return {
    dry_run: isDryRun,
    card: taggedCard(reply, card),
    valid_from: formatTimestamp(valid_from),
    changes: Object.fromEntries(LINE_CHANGES.map(change => [change, count(change)])),
    changed: changed.slice(0, MAX_CHANGED),
  }
}

/* ── Lines ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

const cursors = cursorsFor<{ id: number; version: number; prefix?: string; after: number }>(
  Type.Object(
    { id: cursorInteger, version: cursorInteger, prefix: Type.Optional(Type.String()), after: cursorInteger },
    closed,
  ),
)

/** The list that a page is of, and how many of its lines were looked at. @throws Problem `invalid_request` if the cursor is not of this call */
function placeOf(id: number, { cursor, version, prefix }: RateLinesQuery) {
  if (cursor === undefined) return { version, prefix, after: 0 }
  const { id: of, ...place } = cursors.read(cursor)
  if (of !== id) throw invalidRequest([{ path: 'cursor', message: `belongs to rate card ${of}` }])
  const [first, ...others] = issuesWithCursor(['version', 'prefix'], { version, prefix }, place)
  if (first !== undefined) throw invalidRequest([first, ...others])
  return place
}

/**
 * A page of the lines of a list. The list is read whole: there is no smaller piece of it, and it is rarely read.
 *
 * @throws Problem `not_found` if there is no such card or list
 */
export async function linePage(db: Database, id: number, query: RateLinesQuery, now: EpochMs) {
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const place = placeOf(id, query)
  found(await findRateCard(db, id), rateCardOf(id))
  const version = place.version ?? listAt(await listsOfCard(db, id), now)?.version ?? 0
  const lines = linesIn(found(await findLines(db, id, version), { what: 'list', id: version }))
  const { prefix } = place
  const asked = lines.flatMap((line, at) => (at >= place.after && isAsked(line, prefix) ? [{ line, at }] : []))
  const next = asked[size]
  const fixed = { id, version, ...(prefix === undefined ? {} : { prefix }) }
  return {
    items: asked.slice(0, size).map(({ line }) => line),
    page_size: size,
    next_cursor: next === undefined ? null : cursors.write({ ...fixed, after: next.at }),
  }
}

function isAsked({ prefix }: RateLine, asked: string | undefined): boolean {
  return asked === undefined || (prefix !== null && (prefix.startsWith(asked) || asked.startsWith(prefix)))
}
