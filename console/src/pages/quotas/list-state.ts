import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../../src/domain/bounds.ts'
import type { Api } from '../../api/types.ts'
import { KIND_WORDS, SORTS } from '../../parts/quota-words.ts'
import { STATUS_WORDS } from '../../parts/status-badge.tsx'
import { count, oneOf, uint } from '../../parts/url-state.ts'

type Quota = Api['SmsQuota']

export const STATUSES = Object.keys(STATUS_WORDS) as Quota['status'][]

export const KINDS = Object.keys(KIND_WORDS) as Quota['kind'][]

/** What the list shows, by the names that the API has for it. */
export const LIST_STATE = {
  user_id: uint,
  status: oneOf(STATUSES, null),
  kind: oneOf(KINDS, null),
  sort: oneOf(SORTS, '-id'),
  page: count(1),
  page_size: count(DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
}
export type ListState = { [Name in keyof typeof LIST_STATE]: ReturnType<(typeof LIST_STATE)[Name]> }
