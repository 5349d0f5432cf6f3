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

/** From this percent on a quota is near its limit, also if its first alert is due later or it has none. */
const NEAR_PERCENT = 95

/** How the use of a quota is colored: red when nothing is left, amber from its first alert on. */
export function usageTone(
  taken: number,
  whole: number,
  [first = NEAR_PERCENT]: readonly number[],
): 'full' | 'near' | undefined {
  if (taken >= whole) return 'full'
  return taken >= (whole * Math.min(first, NEAR_PERCENT)) / 100 ? 'near' : undefined
}
