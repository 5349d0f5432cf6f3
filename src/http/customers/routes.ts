import type { FastifyInstance } from 'fastify'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { getList } from '../resource/list.ts'
import { customers } from './responses.ts'

/** The users with what they can send and what their usage comes to: `/api/sms/admin/customers`. */
export function customerRoutes(server: FastifyInstance, context: RouteContext): void {
  getList(server, '', context, customers, {
    ...operation(
      'Administrator',
      'listCustomers',
      'List customers by what they can send and have sent',
      'Every user with what the user can send now and why not more, and what 30 days of usage come to. A job makes the figures in the background: `complete_until` tells how far it is.',
    ),
    isReport: true,
    answer: 'CustomerPage',
  })
}
