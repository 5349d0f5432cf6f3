import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../../src/domain/bounds.ts'
import type { Api } from '../../api/types.ts'
import { KIND_LABELS, SORTS } from '../../components/quota-labels.ts'
import { STATUS_LABELS } from '../../components/status-badge.tsx'
import { count, cursor, oneOf, uint } from '../../components/url-state.ts'

type Quota = Api['SmsQuota']

export const STATUSES = Object.keys(STATUS_LABELS) as Quota['status'][]

export const KINDS = Object.keys(KIND_LABELS) as Quota['kind'][]

/** URL state of the quota list, named like the API parameters. */
export const LIST_STATE = {
  user_id: uint,
  status: oneOf(STATUSES, null),
  kind: oneOf(KINDS, null),
  sort: oneOf(SORTS, '-id'),
  page: count(1),
  /** Where a list without a total goes on; it then has no page numbers. */
  cursor,
  page_size: count(DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
}
export type ListState = { [Name in keyof typeof LIST_STATE]: ReturnType<(typeof LIST_STATE)[Name]> }
