import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { EventsQuery } from '../../contract/events.ts'
import { invalidRequest } from '../../errors.ts'
import { BEGINNING, readCursor, writeCursor } from '../../events/cursor.ts'
import type { FeedQuery } from '../../events/feed.ts'
import { eventView } from '../../events/views.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'

/** What has happened: `/api/sms/admin/events`. */
export function eventRoutes(server: FastifyInstance, { feed }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  // A stop waits for requests, and these wait for events.
  app.addHook('preClose', async () => feed.stop())

  app.get(
    '',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'Follow what happens',
        tags: ['Events'],
        querystring: EventsQuery,
        response: responses({ 200: Type.Ref('EventPage#') }, ['forbidden', 'invalid_request']),
      },
    },
    async (request, reply) => {
      const { types, user_id: userId, limit = 100, wait_seconds: waitSeconds = 0 } = request.query
      const query: FeedQuery = {
        after: startOf(request.query),
        limit,
        waitMs: waitSeconds * 1_000,
        ...(types === undefined ? {} : { types: types.split(',') }),
        ...(userId === undefined ? {} : { userId }),
      }
      const page = await feed.read(query, untilGone(reply))
      if (page.outcome === 'ahead') throw badCursor('names events that are not there: it is not of this database')
      return { items: page.events.map(eventView), next: writeCursor(page.next) }
    },
  )
}

function startOf({ after, last }: { after?: string; last?: number }): FeedQuery['after'] {
  if (last !== undefined) {
    if (after === undefined) return { last }
    throw invalidRequest([{ path: 'last', message: 'is not accepted beside after: each says where to begin' }])
  }
  if (after === undefined) return BEGINNING
  const positions = after === 'latest' ? after : readCursor(after)
  if (positions === undefined) throw badCursor('must be latest, or a next as this service gave it')
  return positions
}

function badCursor(message: string) {
  return invalidRequest([{ path: 'after', message }])
}

/** Aborts when the caller hangs up: nobody waits for nobody. */
function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
