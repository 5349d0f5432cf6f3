import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'

type Quota = Api['SmsQuota']

export const KIND_LABELS: Record<Quota['kind'], string> = texts.values.kinds

/** The name of a quota, or its kind and id. */
export function quotaName({ id, kind, name }: Pick<Quota, 'id' | 'kind' | 'name'>): string {
  return name ?? `${KIND_LABELS[kind]} ${id}`
}
