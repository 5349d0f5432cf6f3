import type { Api } from '../api/types.ts'

type Quota = Api['SmsQuota']

/** What decides about the word for a status. */
export type WithStatus = Pick<Quota, 'status' | 'kind' | 'limit'>

/** Whether a quota is a cap that lets nothing pass: it was made to block, and has not run out. */
export function isBlock({ status, kind, limit }: WithStatus): boolean {
  return kind === 'cap' && limit === 0 && status === 'exhausted'
}

/** Whether a quota limits or pays for messages now. */
export function isLive({ status }: Pick<Quota, 'status'>): boolean {
  return status === 'active' || status === 'exhausted'
}
