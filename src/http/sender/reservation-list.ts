/** The list of a sender's own reservations: `/reservations`. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import {
  SenderReservationsQuery as Query,
  type SenderReservationPage,
  type SenderReservationsQuery,
} from '../../contract/reservations.ts'
import { listOfSender, type SenderKey } from '../../db/reservations/lists-of-senders.ts'
import { DEFAULT_PAGE_SIZE, MAX_AGE_SECONDS, RESERVATION_ID_PATTERN } from '../../domain/basics/bounds.ts'
import { SHARD_COUNT, shardFrom } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { RESERVATION_STATES } from '../../domain/units/reservation.ts'
import { invalidRequest } from '../../errors.ts'
import type { Principal } from '../auth/claims.ts'
import { principalOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger, cursorsOf, cursorTime, issuesWithCursor } from '../platform/cursors.ts'
import { operation, senderResponses } from '../platform/openapi.ts'
import { createSlots } from '../platform/slots.ts'
import { recordViewOf } from '../reservations/lists.ts'

/**
 * The filters of a list, with the time that its age means, and where a page ended: a shard, an expiry (`at`), and the reservation that
 * was shown last, its user (`of`) and `id`.
 */
const Cursor = Type.Object(
  {
    shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
    at: cursorTime,
    of: Type.Optional(cursorInteger),
    id: Type.Optional(Type.String({ pattern: RESERVATION_ID_PATTERN })),
    state: Type.Enum([...RESERVATION_STATES]),
    user_id: Type.Optional(cursorInteger),
    older_than: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_AGE_SECONDS })),
    before: Type.Optional(cursorTime),
  },
  { additionalProperties: false },
)
const cursors = cursorsOf(Cursor)

const FILTERS = ['state', 'user_id', 'older_than'] as const

/** A page may read much, and takes one of the connections that all lists share. */
const MAX_PAGES = 4

export function senderReservationList(server: FastifyInstance, { db, authenticator, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const slots = createSlots(MAX_PAGES, "lists of senders' reservations")
  app.get(
    '/reservations',
    {
      schema: {
        ...operation(
          'Sender',
          'listReservationsOfSender',
          'List my open reservations',
          'Those that this sender, the subject of the token, made and has not settled: what became of them only the sender knows. `commit` what was sent and `release` the rest; otherwise they expire.',
        ),
        querystring: Query,
        response: senderResponses(Type.Ref('SenderReservationPage#'), ['unknown_user']),
      },
    },
    async (request, reply): Promise<SenderReservationPage> => {
      const principal = principalOf(request)
      const { page_size: size = DEFAULT_PAGE_SIZE } = request.query
      const { filters, after } = pageRequestOf(request.query, now())
      const { user_id, state, before } = filters
      slots.hold(reply)
      if (user_id !== undefined) authenticator.requireSenderUser(principal, user_id)
      const selected = {
        sender: principal.subject,
        state,
        users: usersOf(principal, user_id),
        ...(before === undefined ? {} : { before }),
      }
      const { items, next } = await listOfSender(db, selected, { after, size, now: now() })
      return {
        items: items.map(recordViewOf),
        page_size: size,
        next_cursor: next && cursorOf(next, filters),
      }
    },
  )
}

type Filters = Omit<Static<typeof Cursor>, 'shard' | 'at' | 'of' | 'id'>

/**
 * The filters of a query, and the reservation after which its page begins.
 * @throws Problem `invalid_request` if the cursor is not the service's, or if a filter contradicts it
 */
function pageRequestOf(
  query: SenderReservationsQuery,
  now: EpochMs,
): { filters: Filters; after: SenderKey | undefined } {
  const { cursor: text, page_size: _size, ...asked } = query
  if (text !== undefined) {
    const { shard, at: expires_at, of, id, ...filters } = cursors.read(text)
    const issues = issuesWithCursor(FILTERS, asked, filters)
    if (issues.length > 0) throw invalidRequest(issues)
    const last = of === undefined || id === undefined ? null : { user_id: of, id }
    return { filters, after: { shard: shardFrom(shard), expires_at, last } }
  }
  const { older_than: age } = asked
  const before = age === undefined ? {} : { before: Math.max(0, now - age * 1_000) }
  return { filters: { ...asked, ...before, state: asked.state ?? 'reserved' }, after: undefined }
}

function cursorOf({ shard, expires_at: at, last }: SenderKey, { state, user_id, older_than, before }: Filters): string {
  return cursors.write({ shard, at, of: last?.user_id, id: last?.id, state, user_id, older_than, before })
}

/** A sender whose token names users sees what it made for these. */
function usersOf({ senderUsers }: Principal, userId: number | undefined): ReadonlySet<number> | 'all' {
  return userId === undefined ? senderUsers : new Set([userId])
}
