import type { Sort } from '../../../src/contract/quotas.ts'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { COUNTRY_PATTERN } from '../../../src/domain/messages/country.ts'
import { DAY_MS } from '../../../src/domain/time/time.ts'
import type { Api } from '../api/types.ts'
import { count, cursor, matching, oneOf, uint } from './url-parameters.ts'

/** The filters and orders of lists of quotas, and their addresses. */

type Quota = Api['SmsQuota']

export type { Sort }

export const STATUSES = [
  'active',
  'exhausted',
  'scheduled',
  'suspended',
  'expired',
  'deleted',
] as const satisfies readonly Quota['status'][]

export const KINDS = ['grant', 'cap'] as const satisfies readonly Quota['kind'][]

/** What a list of quotas is sorted by. `remaining` and `used_percent` need a single user. */
export type SortedBy = Exclude<Sort, `-${string}`>

/** Each order of lists, ascending and descending. */
export const SORTS: readonly Sort[] = (
  ['id', 'name', 'external_ref', 'created_at', 'expires_at', 'remaining', 'used_percent'] satisfies SortedBy[]
).flatMap(by => [by, `-${by}`] as const)

/** Whether an order depends on counters, which the service sorts by only for a single user. */
export function isSortedByUse(sort: Sort): boolean {
  return sort.endsWith('remaining') || sort.endsWith('used_percent')
}

/** The rows that a page can have. More than the service gives at once would be slow to render, too. */
export const PAGE_SIZES = [25, 50, 100, MAX_PAGE_SIZE]

/** Days within which quotas end, as text in the URL. A saved view stays true: it begins today. */
export const ENDS_WITHIN = ['1', '7', '30', '90'] as const

const upTo120 = matching(/^.{1,120}$/su)

/** The filters, named like the API parameters but for `ends_within`. */
export const FILTERS = {
  user_id: uint,
  name: upTo120,
  external_ref: upTo120,
  status: oneOf(STATUSES, null),
  kind: oneOf(KINDS, null),
  country: matching(new RegExp(COUNTRY_PATTERN)),
  message_type: matching(/^[a-z0-9][a-z0-9_-]{0,63}$/),
  plan_id: uint,
  plan_version: uint,
  ends_within: oneOf(ENDS_WITHIN, null),
}

/** URL state of the quota list. */
export const LIST_STATE = {
  ...FILTERS,
  sort: oneOf(SORTS, '-id'),
  page: count(1),
  /** Where a list without a total goes on; it then has no page numbers. */
  cursor,
  page_size: count(25, MAX_PAGE_SIZE),
}
export type ListState = { [Name in keyof typeof LIST_STATE]: ReturnType<(typeof LIST_STATE)[Name]> }
export type Filters = Pick<ListState, keyof typeof FILTERS>

/** No filter, in the first order. */
export const UNFILTERED: Filters & Pick<ListState, 'sort'> = {
  user_id: null,
  name: null,
  external_ref: null,
  status: null,
  kind: null,
  country: null,
  message_type: null,
  plan_id: null,
  plan_version: null,
  ends_within: null,
  sort: '-id',
}

/** The filters of a list, without its order and place. */
export function filtersOf({
  sort: _sort,
  page: _page,
  cursor: _cursor,
  page_size: _size,
  ...filters
}: ListState): Filters {
  return filters
}

/** How many filters are set. */
export function filterCount(filters: Filters): number {
  return Object.keys(FILTERS).filter(name => filters[name as keyof Filters] !== null).length
}

/** The filters as parameters of the API. @param now epoch milliseconds */
export function filterOf({ ends_within, ...filters }: Filters, now: number) {
  const within =
    ends_within === null
      ? {}
      : {
          expires_after: new Date(now).toISOString(),
          expires_before: new Date(now + Number(ends_within) * DAY_MS).toISOString(),
        }
  return { ...filters, ...within }
}

/** The query string of a list with these filters in this order. */
export function searchOf(state: Partial<ListState>): string {
  const entries = Object.entries({ ...state, page: null, cursor: null, page_size: null })
  const set = entries.filter(([name, value]) => value !== null && !(name === 'sort' && value === UNFILTERED.sort))
  return new URLSearchParams(Object.fromEntries(set.map(([name, value]) => [name, String(value)]))).toString()
}
