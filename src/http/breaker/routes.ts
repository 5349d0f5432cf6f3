import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { replayBreaker } from '../../admin/replay-breaker.ts'
import { MAX_REPLAY_DAYS, ReplayQuery } from '../../contract/breaker.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import { DEFAULT_BUDGETS, evidenceViewOf } from '../../domain/breaker.ts'
import { SHARD_COUNT } from '../../domain/shard.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { usageBucketOf } from '../../domain/usage.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger, cursorsOf, pageRequestOf } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'

const { page_size: _size, cursor: _cursor, ...terms } = ReplayQuery.properties
const Terms = Type.Object(terms, { additionalProperties: false })
const Place = Type.Object(
  {
    // All pages are of the same past.
    to: cursorInteger,
    shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
    user: cursorInteger,
    skipped: cursorInteger,
  },
  { additionalProperties: false },
)
const cursors = cursorsOf(Type.Object({ filters: Terms, after: Place }, { additionalProperties: false }))

/** The breaker against pumped traffic: `/api/sms/admin/breaker…`. */
export function breakerRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '/replay', {
    ...operation(
      'Administrator',
      'replayBreaker',
      'Replay the past with the budgets of the breaker',
      'What the breaker would have paused: when, whose messages, how many would not have left, and how many of these were verified. Nothing is changed. It judges quarters of an hour, as usage keeps them, at their end: up to 15 minutes later than live. Only users with feedback in the last 14 days are replayed: of others, each message would look pumped. Usage of the last seconds may be missing.',
    ),
    isReport: true,
    query: ReplayQuery,
    answer: 'ReplayPage',
    handler: async request => {
      const { page_size: size = DEFAULT_PAGE_SIZE } = request.query
      const { filters, after } = pageRequestOf(request.query, Object.keys(terms), cursors.read)
      const { days = MAX_REPLAY_DAYS, message_type = 'otp', ...budgets } = filters
      const { to, ...place } = after ?? { to: usageBucketOf(now()), shard: 0, user: 0, skipped: 0 }
      const asked = { days, to, message_type, budgets: { ...DEFAULT_BUDGETS, ...budgets } }
      const { pauses, next } = await replayBreaker(db, asked, place, size)
      return {
        items: pauses.map(({ from, until, evidence, ...pause }) => ({
          ...pause,
          evidence: evidenceViewOf(evidence),
          from: formatTimestamp(from),
          until: formatTimestamp(until),
        })),
        page_size: size,
        // Users are spread evenly over the shards.
        progress: next === null ? 1 : next.shard / SHARD_COUNT,
        next_cursor: next && cursors.write({ filters, after: { to, ...next } }),
      }
    },
  })
}
