import type { Api } from '../api/types.ts'

type Quota = Api['SmsQuota']

export const KIND_WORDS: Record<Quota['kind'], string> = { grant: 'Grant', cap: 'Cap' }

/** What people call a quota: its name, or what it is. */
export function nameOfQuota({ id, kind, name }: Pick<Quota, 'id' | 'kind' | 'name'>): string {
  return name ?? `${KIND_WORDS[kind]} ${id}`
}

/** The orders a list of quotas can have; by what remains only within one user. */
export const SORTS = ['-id', 'id', 'expires_at', '-expires_at', 'remaining', '-remaining'] as const
export type Sort = (typeof SORTS)[number]
