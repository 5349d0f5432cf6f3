import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'

type Quota = Api['SmsQuota']

export const KIND_LABELS: Record<Quota['kind'], string> = texts.values.kinds

/** The name of a quota, or its kind and id. */
export function quotaName({ id, kind, name }: Pick<Quota, 'id' | 'kind' | 'name'>): string {
  return name ?? `${KIND_LABELS[kind]} ${id}`
}

/** As many units, or messages. @param counts undefined in records of an earlier version */
export function countedText(count: number, counts: Quota['counts'] | undefined): string {
  return counts === 'messages' ? texts.values.messageCount(count) : texts.values.units(count)
}

/** What each value gets of a cap that counts each by itself: "3 messages to one number". */
export function perValueText({
  limit,
  per,
  counts,
}: Pick<Quota, 'limit' | 'counts'> & { per: NonNullable<Quota['per']> }): string {
  return `${countedText(limit ?? 0, counts)}${texts.values.per[per]}`
}
