import type { IncreaseRequest } from '../../../src/contract/increase-requests.ts'
import { csvLine } from '../../../src/domain/basics/csv.ts'
import { AUDITED_RESOURCES } from '../../../src/domain/events/audit.ts'
import { isDeepEqual, SETTING_NAMES } from '../../../src/domain/quotas/quota-settings.ts'
import type { Api } from '../api/types.ts'
import { subject } from './denial-filters.ts'
import { oneOf, type StateOf, timestamp } from './url-parameters.ts'

/** A change by an administrator, in the list of all changes. */
export type Change = Api['AuditEntry']

/** The filters of the list, named like the API parameters. */
export const CHANGE_FILTERS = {
  raised: oneOf(['true'], null),
  resource: oneOf(AUDITED_RESOURCES, null),
  actor: subject,
  from: timestamp,
  to: timestamp,
}
export type ChangeFilters = StateOf<typeof CHANGE_FILTERS>

export const NO_FILTERS: ChangeFilters = { raised: null, resource: null, actor: null, from: null, to: null }

export const isFiltered = (filters: ChangeFilters) => Object.values(filters).some(value => value !== null)

/** What was changed as the API showed it: afterwards, or before if nothing is left. Of any resource. */
type Shown = Api['QuotaAsShown'] &
  Omit<Partial<Api['Webhook']>, keyof Api['QuotaAsShown']> &
  Partial<Pick<Api['Pause'], 'country' | 'reason' | 'until'>> &
  Partial<Pick<IncreaseRequest, 'units' | 'note' | 'granted'>>

export const shownBy = ({ before, after }: Pick<Change, 'before' | 'after'>): Shown => after ?? before ?? {}

/** What `limit` and `overage_limit` allow together; null is unlimited. */
const allowedBy = ({ limit, overage_limit = 0 }: Api['QuotaAsShown']) => (limit == null ? null : limit + overage_limit)

/**
 * How many units more a quota allows by a change, fewer if negative; null: as many, or a number in place of no limit. The list's filter
 * for raised limits selects those that allow more.
 */
export function differenceOf({ resource, action, transfer_id, before, after }: Change): number | 'unlimited' | null {
  if (resource !== 'quota') return null
  const current: Api['QuotaAsShown'] = after ?? {}
  if (action === 'created') {
    const isGiven = current.kind === 'grant' && current.plan == null && transfer_id === null
    return isGiven ? (current.limit ?? 'unlimited') : null
  }
  if (action !== 'updated') return null
  const [from, to] = [allowedBy(before ?? {}), allowedBy(current)]
  if (from === null || from === to) return null
  return to === null ? 'unlimited' : to - from
}

/** Why: of a created quota it is among the metadata, as the API takes none beside it, and of a decision it is what the user reads. */
export function reasonOf(change: Change): string | null {
  const { resource, action, reason } = change
  const shown = shownBy(change)
  if (resource === 'quota') return reason ?? (action === 'created' ? (shown.metadata?.reason ?? null) : null)
  return shown.note ?? shown.reason ?? null
}

/** What it is called: a name, the description of a webhook, the country of a pause. */
export function nameOf(change: Change): string | null {
  const { name, description, country } = shownBy(change)
  return name ?? description ?? country ?? null
}

/* ── As CSV ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Columns of the file, the fields of the API by their names. */
const COLUMNS = [
  ...['at', 'actor', 'actor_name', 'resource', 'id', 'name', 'user_id', 'user_ref', 'user_name', 'action'],
  ...['limit_before', 'limit_after', 'difference', 'reason', 'changed', 'request_id', 'period', 'until'],
]

export const CSV_HEAD = csvLine(COLUMNS)

/** @param actorName null if no token of the actor had one */
export function csvLineOf(change: Change, actorName: string | null): string {
  const { at, actor, resource, thing_id, user_id, user_ref, user_name, action, before, after, request_id } = change
  const shown = shownBy(change)
  const values = [
    ...[at, actor, actorName, resource, thing_id, nameOf(change), user_id, user_ref, user_name, action],
    ...[limitIn(resource, before), limitIn(resource, after), differenceOf(change), reasonOf(change)],
    ...[changedFields(change).join(' '), request_id, shown.period ?? null, shown.expires_at ?? shown.until ?? null],
  ]
  return csvLine(values)
}

function limitIn(resource: Change['resource'], shown: Api['QuotaAsShown'] | null): number | 'unlimited' | null {
  if (resource !== 'quota' || shown === null || shown.limit === undefined) return null
  return shown.limit ?? 'unlimited'
}

/** Fields that each change moves. */
const OF_EACH_CHANGE: ReadonlySet<string> = new Set(['version', 'updated_at', 'updated_by'])

/** The names of the fields that an update changed; of a quota its settings, because the others follow from them and from use. */
function changedFields({ resource, action, before, after }: Change): string[] {
  if (action !== 'updated') return []
  const [old, current] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))]
  const names = resource === 'quota' ? SETTING_NAMES : [...current.keys()].filter(name => !OF_EACH_CHANGE.has(name))
  return names.filter(name => !isDeepEqual(old.get(name) ?? null, current.get(name) ?? null))
}
