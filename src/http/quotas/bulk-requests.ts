/** Reads a bulk change: what it selects, and what it changes. */
import Type from 'typebox'
import { BULK_CHANGES, type BulkSelection } from '../../contract/bulk.ts'
import type { Database } from '../../db/connection/database.ts'
import type { QuotaFilter } from '../../db/quotas/conditions.ts'
import { listQuotas } from '../../db/quotas/lists.ts'
import { selectQuotasOfUsers } from '../../db/quotas/selection.ts'
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { BULK_ACTIONS, type BulkAction, type BulkChange } from '../../domain/quotas/bulk-change.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { timestampOf } from '../platform/formats.ts'
import { type Check, compileCheck } from '../platform/validation.ts'
import { listRequestOf } from './requests.ts'

/** A function that reads the change of a request. @throws Problem `invalid_request` */
export function createChangeReader(): (value: unknown) => BulkChange {
  const checkAction = compileCheck(Type.Object({ action: Type.Enum([...BULK_ACTIONS]) }))
  const checks = new Map<unknown, Check>(BULK_ACTIONS.map(action => [action, compileCheck(BULK_CHANGES[action])]))
  return value => {
    const issues = (checks.get(actionOf(value)) ?? checkAction)(value)
    if (issues !== null) throw invalidRequest(issues.map(issue => ({ ...issue, path: `/change${issue.path}` })))
    return changeOf(value as GivenChange)
  }
}

const actionOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'action' in value ? value.action : undefined

/** The fields of a validated change: of these, those of its action. */
interface GivenChange {
  action: BulkAction
  expires_at?: string | null
  by?: string
  delta?: number
  reason?: string
  allow_below_usage?: boolean
}

function changeOf(change: GivenChange): BulkChange {
  const { action, expires_at, by, delta = 0, reason = '', allow_below_usage } = change
  switch (action) {
    case 'adjust':
      return { action, delta, reason, ...(allow_below_usage === undefined ? {} : { allow_below_usage }) }
    case 'extend':
      if (by !== undefined && expires_at === undefined) return { action, by }
      if (by !== undefined || expires_at === undefined) throw refused('/change', 'must have either expires_at or by')
      return { action, expires_at: expires_at === null ? null : timestampOf(expires_at) }
    default:
      return { action }
  }
}

/** @throws Problem `invalid_request` if fields of the selection contradict each other, or it selects everything */
export function checkSelection({ ids, user_ids, ...filters }: BulkSelection): void {
  const names = Object.keys({ ...filters, ...(user_ids === undefined ? {} : { user_ids }) })
  if (ids === undefined && names.length === 0) {
    throw refused('/select', 'must have at least one field: a bulk change of all quotas is not possible')
  }
  if (ids !== undefined && names.length > 0) throw refused('/select/ids', `cannot be combined with ${names.join(', ')}`)
  if (user_ids !== undefined && filters.user_id !== undefined) {
    throw refused('/select/user_ids', 'cannot be combined with user_id')
  }
}

function refused(path: string, message: string) {
  const issues: ValidationIssue[] = [{ path, message }]
  return invalidRequest(issues)
}

/** Quotas may be created so much later, in milliseconds, and are selected: the clocks of two processes differ by up to 500 ms. */
const CLOCK_MARGIN_MS = 1_000

/** Users whose quotas are read at a time: each has at most 200 unexpired ones. */
const USERS_AT_A_TIME = 100

/**
 * The ids of the selected quotas, in parts, each a short read.
 *
 * @param begunAt when the bulk change began: quotas that were created later are not selected
 */
export async function* selectedIds(
  db: Database,
  { ids, user_ids: userIds, ...filters }: BulkSelection,
  begunAt: EpochMs,
  now: () => EpochMs,
): AsyncGenerator<readonly number[], void> {
  if (ids !== undefined) {
    yield [...new Set(ids)]
    return
  }
  const { filter } = listRequestOf(filters, { role: 'admin' })
  const pages = userIds === undefined ? listedQuotas(db, filter, now) : quotasByUser(db, new Set(userIds), filter, now)
  for await (const quotas of pages) {
    const aheadAt = now() + CLOCK_MARGIN_MS
    // One whose creation is still to come was made by a clock that was ahead: before the bulk change, as far as one can know.
    const isThere = ({ created_at }: Selected) => created_at <= begunAt + CLOCK_MARGIN_MS || created_at > aheadAt
    yield quotas.filter(isThere).map(({ id }) => id)
  }
}

type Selected = Pick<Quota, 'id' | 'created_at'>

async function* quotasByUser(
  db: Database,
  userIds: ReadonlySet<number>,
  filter: QuotaFilter,
  now: () => EpochMs,
): AsyncGenerator<readonly Selected[], void> {
  const users = [...userIds]
  for (let from = 0; from < users.length; from += USERS_AT_A_TIME) {
    yield await selectQuotasOfUsers(db, users.slice(from, from + USERS_AT_A_TIME), filter, now())
  }
}

/** By ascending id, each page by the last id of the one before. */
async function* listedQuotas(
  db: Database,
  filter: QuotaFilter,
  now: () => EpochMs,
): AsyncGenerator<readonly Selected[], void> {
  const order = { by: 'id', descending: false } as const
  for (let after = { value: 0, id: 0 }; ; ) {
    const page = await listQuotas(db, filter, order, { after }, MAX_PAGE_SIZE, now())
    if (page === 'too_deep') throw new Error('a page after a key is never too deep')
    yield page.items
    if (page.next === null) return
    after = { value: page.next.id, id: page.next.id }
  }
}
