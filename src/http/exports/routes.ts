import { Readable } from 'node:stream'
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
import { auditPage } from '../audit/responses.ts'
import type { RouteContext } from '../context.ts'
import { customerPage } from '../customers/responses.ts'
import { denialPage } from '../denials/responses.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { listPage } from '../quotas/responses.ts'
import { reservationPage } from '../reservations/responses.ts'
import { rowsWithNames } from '../users/user-names.ts'
import { pagesOf, usagePages } from './pages.ts'

const NDJSON = 'application/x-ndjson'
const VIEWER = { role: 'admin' } as const
const AS_READ =
  'As newline-delimited JSON, read page by page: each record is as of its reading. A response that breaks off does not end as HTTP demands, so clients report it.'

/** What lists show, whole: `/api/sms/admin/export/…`. */
export function exportRoutes(server: FastifyInstance, context: RouteContext): void {
  server.addHook('preHandler', (_request, reply, done) => {
    context.exportSlots.hold(reply)
    done()
  })
  quotaExports(server, context)
  messageExports(server, context)
  auditExport(server, context)
  customerExport(server, context)
}

function quotaExports(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '/quotas', {
    ...operation('Administrator', 'exportQuotas', 'Export quotas', `By ascending id. ${AS_READ}`),
    query: ExportQuotasQuery,
    answer: 'SmsQuota',
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }, reply) =>
      send(
        reply,
        db,
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
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }, reply) => send(reply, db, usagePages(db, query, now())),
  })
}

function messageExports(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/denials', {
    ...operation('Administrator', 'exportDenials', 'Export denied messages', `Newest first. ${AS_READ}`),
    query: ExportDenialsQuery,
    answer: 'DenialRecord',
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }, reply) =>
      send(
        reply,
        db,
        pagesOf(place => denialPage(db, { ...query, ...place }, VIEWER)),
      ),
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
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }, reply) =>
      send(
        reply,
        db,
        pagesOf(place => reservationPage(db, { ...query, ...place }, VIEWER)),
      ),
  })
}

function auditExport(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/audit', {
    ...operation('Administrator', 'exportAudit', 'Export changes by administrators', `Newest first. ${AS_READ}`),
    query: ExportAuditQuery,
    answer: 'AuditEntry',
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }, reply) =>
      send(
        reply,
        db,
        pagesOf(place => auditPage(db, { ...query, ...place })),
      ),
  })
}

function customerExport(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '/customers', {
    ...operation(
      'Administrator',
      'exportCustomers',
      'Export customers',
      `In the order of the list. A customer whose figure changes meanwhile may be there twice or be missing. ${AS_READ}`,
    ),
    query: ExportCustomersQuery,
    answer: 'Customer',
    isLines: true,
    errors: ['overloaded'],
    handler: ({ query }, reply) =>
      send(
        reply,
        db,
        pagesOf(place => customerPage(db, { ...query, ...place }, now())),
      ),
  })
}

/** Sends pages as lines. What fails before the first page is answered like any other call. */
async function send(
  reply: FastifyReply,
  db: Database,
  pages: AsyncGenerator<readonly object[], void>,
): Promise<FastifyReply> {
  const first = await pages.next()
  const lines = async function* () {
    if (first.done !== true) yield textOf(await rowsWithNames(db, first.value))
    for await (const page of pages) yield textOf(await rowsWithNames(db, page))
  }
  return reply.type(NDJSON).send(Readable.from(lines()))
}

const textOf = (records: readonly object[]) => records.map(record => `${JSON.stringify(record)}\n`).join('')
