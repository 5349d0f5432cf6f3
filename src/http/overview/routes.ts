import type { FastifyInstance } from 'fastify'
import { OverviewQuery } from '../../contract/overview.ts'
import { timeZoneName } from '../../domain/time/window.ts'
import type { ServerParts } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { createParts } from './parts.ts'
import { overviewOf } from './responses.ts'

/** What the first page of the console shows: `/api/sms/admin/overview`. */
export function overviewRoutes(server: FastifyInstance, { listener, ...context }: ServerParts): void {
  const parts = createParts(context)
  // Events leave as they were recorded.
  server.setSerializerCompiler(() => JSON.stringify)

  get(server, '', {
    ...operation(
      'Administrator',
      'readOverview',
      'Is all well?',
      'What is not well, what needs a decision, the usage of today and the latest events, in one answer. What could not be read is null, and named in `unread`.',
    ),
    query: OverviewQuery,
    answer: 'Overview',
    handler: request =>
      overviewOf(parts, {
        timeZone: timeZoneName(request.query.time_zone ?? 'UTC') ?? 'UTC',
        at: context.now(),
        notReady: listener.readiness.reason,
        onFailed: (part, err) => request.log.warn({ err, part }, 'overview: a part could not be read'),
      }),
  })
}
