import type { Sort } from '../../../src/contract/quotas.ts'
import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'

type Quota = Api['SmsQuota']

export type { Sort }

export const KIND_LABELS: Record<Quota['kind'], string> = texts.values.kinds

/** The name of a quota, or its kind and id. */
export function quotaName({ id, kind, name }: Pick<Quota, 'id' | 'kind' | 'name'>): string {
  return name ?? `${KIND_LABELS[kind]} ${id}`
}

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
