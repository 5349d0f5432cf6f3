import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AlertsQuery } from '../../contract/records.ts'
import { standingAlerts } from '../../db/alerts.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { viewOf } from '../../domain/view.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'

/** Who is about to run out: `/api/sms/admin/quota/alerts`. */
export function alertsRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  server.withTypeProvider<TypeBoxTypeProvider>().get(
    '/alerts',
    {
      schema: {
        operationId: 'listAlerts',
        summary: 'List quotas that are about to run out',
        description:
          'Live quotas that have reached a percent of their `alert_at` in the window that holds now, the latest first, shown as they are now. One whose limit was raised or units were refunded since, so that no percent holds any more, is not among them. Looks at the newest few thousand percents that were reached.',
        tags: ['Administrator'],
        querystring: AlertsQuery,
        response: responses({ 200: Type.Ref('QuotaAlerts#') }, ['forbidden', 'invalid_request']),
      },
    },
    async request => {
      const at = now()
      const alerts = await standingAlerts(db, request.query.limit ?? DEFAULT_PAGE_SIZE, at)
      return {
        items: alerts.map(alert => ({
          quota: viewOf(alert.quota, at),
          percent: alert.percent,
          at: formatTimestamp(alert.at),
        })),
      }
    },
  )
}
