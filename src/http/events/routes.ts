import type { FastifyInstance, FastifyReply } from 'fastify'
import { EventsQuery } from '../../contract/events.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import { readCursor, writeCursor } from '../../events/cursor.ts'
import { type Feed, type FeedQuery, MAX_WAITING } from '../../events/feed.ts'
import { eventView } from '../../events/views.ts'
import { principalOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { whenClosed } from '../platform/when-closed.ts'

/** The event feed: `/api/sms/admin/events`. */
export function eventRoutes(server: FastifyInstance, { feed }: RouteContext): void {
  // A stop waits for open requests, and these wait for events.
  server.addHook('preClose', async () => feed.stop())
  // Events leave as they were recorded. A serializer compiled from the schemas would drop or refuse those of other versions.
  server.setSerializerCompiler(() => JSON.stringify)

  get(server, '', {
    ...operation('Events', 'listEvents', 'Follow the event feed'),
    query: EventsQuery,
    answer: 'EventPage',
    errors: ['events_lost', 'events_pruned'],
    handler: async (request, reply) => {
      const { types, user_id: userId, limit = 100, wait_seconds: waitSeconds = 0 } = request.query
      const query: FeedQuery = {
        after: startOf(request.query),
        limit,
        waitMs: waitSeconds * 1_000,
        ...(types === undefined ? {} : { types: types.split(',') }),
        ...(userId === undefined ? {} : { userId }),
      }
      const page = await feed.read(query, principalOf(request).subject, untilClosed(reply))
      if (page.outcome !== 'page') throw problemOf(page)
      return { items: page.events.map(eventView), next: writeCursor(page.next) }
    },
  })
}

function problemOf(page: Exclude<Awaited<ReturnType<Feed['read']>>, { outcome: 'page' }>): Problem {
  switch (page.outcome) {
    case 'standby':
      return new Problem('unavailable', BEHIND)
    case 'lost':
      return new Problem('events_lost', LOST)
    case 'pruned': {
      const { next, oldestAt } = page
      const members = {
        cursor: writeCursor(next),
        ...(oldestAt === null ? {} : { oldest_at: formatTimestamp(oldestAt) }),
      }
      return new Problem('events_pruned', PRUNED, { members })
    }
    case 'too_many_waiting':
      return new Problem('rate_limited', TOO_MANY_WAITING, { retryAfterSeconds: WAITING_RETRY_SECONDS })
  }
}

function startOf({ after, last }: EventsQuery): FeedQuery['after'] {
  if (last !== undefined) {
    if (after === undefined) return { last }
    throw invalidRequest([{ path: 'last', message: 'is not accepted together with after' }])
  }
  if (after === undefined) return 'oldest'
  const cursor = after === 'latest' ? after : readCursor(after)
  if (cursor !== undefined) return cursor
  throw invalidRequest([{ path: 'after', message: 'must be latest, or the next of an earlier response' }])
}

const BEHIND = 'The database is a standby that has not received all events yet. Repeat the call.'

const LOST =
  'The database has lost events that this cursor has passed, in a fail-over or a restore, and later events may have their numbers. Go on from an older cursor, or from the oldest event (omit after). Or call with after=latest, read again what you keep from events, and go on from the next of that call.'

const PRUNED =
  'Events that this cursor has not passed were removed, because they are older than the service keeps events. Go on from cursor, which leads to all events that are left; the oldest of them is of oldest_at. Read again what you keep from events.'

const TOO_MANY_WAITING = `At most ${MAX_WAITING} calls with wait_seconds at a time.`

/** A call that waits ends within 30 seconds, most end earlier. */
const WAITING_RETRY_SECONDS = 5

/** Aborts when the client closes the connection, so that its request stops waiting. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const closed = new AbortController()
  whenClosed(reply.raw, () => closed.abort())
  return closed.signal
}
