import Type, { type Static, type TSchema } from 'typebox'
import { AuditQuery } from './audit.ts'
import { CUSTOMER_FILTERS } from './customers.ts'
import { AdminDenialsQuery } from './denials.ts'
import { AdminListQuery } from './quotas.ts'
import { AdminReservationsQuery } from './reservations.ts'
import { closed, nullable, positive, time, uint, userNames } from './schemas.ts'
import { counts } from './usage.ts'

/** Exports: all that a list shows, as lines of JSON. They take the filters of the list. */

const { page: _page, sort: _sort, page_size: _size, cursor: _cursor, ...quotaFilters } = AdminListQuery.properties
const { page_size: _denials, cursor: _ofDenials, ...denialFilters } = AdminDenialsQuery.properties
const { page_size: _reservations, cursor: _ofReservations, ...reservationFilters } = AdminReservationsQuery.properties
const { page_size: _changes, cursor: _ofChanges, ...auditFilters } = AuditQuery.properties

export const ExportQuotasQuery = Type.Object(quotaFilters, closed)
export const ExportCustomersQuery = Type.Object(CUSTOMER_FILTERS, closed)
export const ExportDenialsQuery = Type.Object(denialFilters, closed)
export const ExportAuditQuery = Type.Object(auditFilters, closed)
export const ExportLedgerQuery = Type.Object(reservationFilters, closed)
export const ExportUsageQuery = Type.Object(
  {
    user_id: Type.Optional(uint({ description: "Only this user's usage." })),
    from: Type.Optional(time({ description: 'Only usage that is counted from this time on.' })),
    to: Type.Optional(time({ description: 'Only usage that is counted before this time.' })),
  },
  closed,
)

export const UsageRecord = Type.Object(
  {
    user_id: uint(),
    ...userNames,
    start: time({
      description: 'The start of the quarter of an hour, the day or the month that the usage is counted in.',
    }),
    resolution: Type.Enum(['quarter_hour', 'day', 'month'], {
      description: 'Older usage is compacted into days, and then into months.',
    }),
    quota_id: nullable(positive(), { description: 'The grant that paid; null if none did.' }),
    country: nullable(Type.String()),
    message_type: nullable(Type.String()),
    ...counts,
  },
  { $id: 'UsageRecord', description: 'What a user sent, gave back and was denied in a stretch of time.' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const EXPORT_COMPONENTS = { UsageRecord } satisfies Record<string, TSchema>

export type ExportQuotasQuery = Static<typeof ExportQuotasQuery>
export type ExportDenialsQuery = Static<typeof ExportDenialsQuery>
export type ExportLedgerQuery = Static<typeof ExportLedgerQuery>
export type ExportAuditQuery = Static<typeof ExportAuditQuery>
export type ExportCustomersQuery = Static<typeof ExportCustomersQuery>
export type ExportUsageQuery = Static<typeof ExportUsageQuery>
export type UsageRecord = Static<typeof UsageRecord>
