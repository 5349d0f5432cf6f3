import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { replayBreaker } from '../../admin/pauses/replay-breaker.ts'
import { MAX_REPLAY_DAYS, ReplayQuery } from '../../contract/breaker.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Page } from '../../db/lists/pages.ts'
import { SHARD_COUNT } from '../../domain/basics/shard.ts'
import { DEFAULT_BUDGETS, evidenceViewOf } from '../../domain/pauses/breaker.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import { usageBucketOf } from '../../domain/units/usage.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger, cursorTime } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { type FiltersOf, getList, listOf } from '../resource/list.ts'

const Place = Type.Object(
  {
    // All pages are of the same past.
    to: cursorTime,
    shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
    user: cursorInteger,
    skipped: cursorInteger,
  },
  { additionalProperties: false },
)

const replay = listOf({
  query: ReplayQuery,
  key: Place,
  async read(
    db: Database,
    { days = MAX_REPLAY_DAYS, message_type = 'otp', ...budgets }: FiltersOf<ReplayQuery>,
    { after, size, now }: Page<Static<typeof Place>>,
  ) {
    const { to, ...place } = after ?? { to: usageBucketOf(now), shard: 0, user: 0, skipped: 0 }
    const asked = { days, to, message_type, budgets: { ...DEFAULT_BUDGETS, ...budgets } }
    const { pauses, next } = await replayBreaker(db, asked, place, size)
    return { items: pauses, next: next && { to, ...next } }
  },
  view: ({ from, until, evidence, ...pause }) => ({
    ...pause,
    evidence: evidenceViewOf(evidence),
    from: formatTimestamp(from),
    until: formatTimestamp(until),
  }),
  // Users are spread evenly over the shards.
  more: ({ next }) => ({ progress: next === null ? 1 : next.shard / SHARD_COUNT }),
})

/** The breaker against pumped traffic: `/api/sms/admin/breaker…`. */
export function breakerRoutes(server: FastifyInstance, context: RouteContext): void {
  getList(server, '/replay', context, replay, {
    ...operation(
      'Administrator',
      'replayBreaker',
      'Replay the past with the budgets of the breaker',
      'What the breaker would have paused: when, whose messages, how many would not have left, and how many of these were verified. Nothing is changed. It judges quarters of an hour, as usage keeps them, at their end: up to 15 minutes later than live. Only users with feedback in the last 14 days are replayed: of others, each message would look pumped. Usage of the last seconds may be missing.',
    ),
    isReport: true,
    answer: 'ReplayPage',
  })
}
