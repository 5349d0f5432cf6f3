import { csvLine } from '../../../src/domain/basics/csv.ts'
import type { ColumnName } from '../../../src/domain/quotas/quota-file.ts'

/** What teaches how to write a file of quotas: examples that the import takes. */

/** A cell of each column that an import sets. */
export const COLUMN_EXAMPLES: Readonly<Record<ColumnName, string>> = {
  id: '4711',
  user_id: '1042',
  user_ref: 'C-1042',
  kind: 'grant',
  period: 'month',
  anchor: '15',
  time_zone: 'Europe/Berlin',
  per: 'recipient',
  counts: 'messages',
  name: 'Monthly package',
  limit: '1000',
  rollover_limit: '100',
  overage_limit: '50',
  priority: '10',
  starts_at: '2027-01-01',
  expires_at: '2027-12-31',
  countries: 'DE AT',
  message_types: 'otp',
  alert_at: '80 100',
  enabled: 'true',
  external_ref: 'contract-1042',
  metadata: '{"contract":"K-1"}',
  opening_used: '250',
  allow_below_usage: 'true',
  plan: 'Basic',
}
const isColumn = (name: string): name is ColumnName => Object.hasOwn(COLUMN_EXAMPLES, name)
export const COLUMN_NAMES = Object.keys(COLUMN_EXAMPLES).filter(isColumn)

/** What a line about a new quota does not have: it names its user by id, and begins with its own values. */
const NOT_OF_NEW: readonly ColumnName[] = ['id', 'user_ref', 'allow_below_usage', 'plan']

const { user_id, name, limit, rollover_limit, alert_at, external_ref, metadata } = COLUMN_EXAMPLES
const { kind, period, time_zone } = COLUMN_EXAMPLES

/** A grant, and a cap of the same user. */
const TEMPLATE_ROWS: readonly Partial<Record<ColumnName, string>>[] = [
  { user_id, kind, period, time_zone, name, limit, rollover_limit, alert_at, external_ref, metadata },
  {
    user_id,
    kind: 'cap',
    period: 'day',
    time_zone,
    counts: 'messages',
    name: 'Abroad',
    limit: '50',
    countries: 'FR ES',
    external_ref: 'abroad-1042',
  },
]

/** A file of quotas to fill in: all columns of a new quota, and two lines. */
export function quotaTemplate(): string {
  const columns = COLUMN_NAMES.filter(column => !NOT_OF_NEW.includes(column))
  return [columns, ...TEMPLATE_ROWS.map(row => columns.map(column => row[column] ?? ''))].map(csvLine).join('')
}
