import type { FastifyInstance, FastifyReply } from 'fastify'
import {
  ExportAuditQuery,
  ExportCustomersQuery,
  ExportDenialsQuery,
  ExportLedgerQuery,
  ExportQuotasQuery,
  ExportUsageQuery,
} from '../../contract/exports.ts'
import type { Database } from '../../db/connection/database.ts'
import { changes } from '../audit/responses.ts'
import type { RouteContext } from '../context.ts'
import { customers } from '../customers/responses.ts'
import { denials } from '../denials/lists.ts'
import { operation } from '../platform/openapi.ts'
import { sendLines } from '../platform/reads.ts'
import { get } from '../platform/routes.ts'
import { listPage } from '../quotas/responses.ts'
import { rowsWithNames } from '../references/user-names.ts'
import { reservations } from '../reservations/lists.ts'
import type { List } from '../resource/list.ts'
import { pagesOf, usagePages } from './pages.ts'

const VIEWER = { role: 'admin' } as const
const AS_READ =
  'As newline-delimited JSON, read page by page: each record is as of its reading. A response that breaks off does not end as HTTP demands, so clients report it.'

/** What lists show, whole: `/api/sms/admin/export/…`. */
export function exportRoutes(server: FastifyInstance, { db, now, exportSlots }: RouteContext): void {
  server.addHook('preHandler', (_request, reply, done) => {
    exportSlots.hold(reply)
    done()
  })
  const linesOf = (list: List) =>
    lines(db, (query: object) => pagesOf(place => list.page(db, { ...query, ...place }, now())))

  get(server, '/quotas', {
    ...operation('Administrator', 'exportQuotas', 'Export quotas', `By ascending id. ${AS_READ}`),
    query: ExportQuotasQuery,
    answer: 'SmsQuota',
    ...lines(db, (query: ExportQuotasQuery) =>
      pagesOf(place => listPage(db, { ...query, ...place, sort: 'id' }, VIEWER, now())),
    ),
  })
  get(server, '/usage', {
    ...operation(
      'Administrator',
      'exportUsage',
      'Export usage',
      `By user, grant, country and message type, as it is kept. The usage of the last seconds may be missing. ${AS_READ}`,
    ),
    query: ExportUsageQuery,
    answer: 'UsageRecord',
    ...lines(db, (query: ExportUsageQuery) => usagePages(db, query, now())),
  })
  get(server, '/denials', {
    ...operation('Administrator', 'exportDenials', 'Export denied messages', `Newest first. ${AS_READ}`),
    query: ExportDenialsQuery,
    answer: 'DenialRecord',
    ...linesOf(denials),
  })
  get(server, '/ledger', {
    ...operation(
      'Administrator',
      'exportLedger',
      'Export reservations',
      `Newest first. Reservations that retention has removed are not among them. ${AS_READ}`,
    ),
    query: ExportLedgerQuery,
    answer: 'ReservationRecord',
    ...linesOf(reservations),
  })
  get(server, '/audit', {
    ...operation('Administrator', 'exportAudit', 'Export changes by administrators', `Newest first. ${AS_READ}`),
    query: ExportAuditQuery,
    answer: 'AuditEntry',
    ...linesOf(changes),
  })
  get(server, '/customers', {
    ...operation(
      'Administrator',
      'exportCustomers',
      'Export customers',
      `In the order of the list. A customer whose figure changes meanwhile may be there twice or be missing. ${AS_READ}`,
    ),
    query: ExportCustomersQuery,
    answer: 'Customer',
    ...linesOf(customers),
  })
}

/** The rest of a route: it sends the pages that its query asks for as lines. */
function lines<Query>(db: Database, pagesFor: (query: Query) => AsyncGenerator<readonly object[], void>) {
  return {
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }: { query: Query }, reply: FastifyReply) => sendLines(reply, withNames(db, pagesFor(query))),
  } as const
}

async function* withNames(db: Database, pages: AsyncGenerator<readonly object[], void>) {
  for await (const page of pages) yield await rowsWithNames(db, page)
}
