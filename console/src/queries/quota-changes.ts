import { useMutation } from '@tanstack/react-query'
import { CONTINUED_BY, RAISED_FROM } from '../../../src/domain/forecasts/raised-cap.ts'
import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { followingCap } from '../model/raised-cap.ts'
import { call } from '../session/client.ts'
import { refetchAfter } from './calls.ts'

/** Changes of one quota. Apart from what is read, because a start page changes nothing. */

type Quota = Api['SmsQuota']

interface CapRaise {
  /** As it was when the user first asked for it; an attempt after a break goes on from there. */
  cap: Quota
  delta: number
  reason: string
}

/**
 * Raises a cap until its window ends. After each step the old limit holds, now and later, so a break leaves nothing
 * without a limit: first a cap with the old limit is to follow, then this one ends before it, and then it is raised.
 */
async function raiseForWindow({ cap, delta, reason }: CapRaise, key: string): Promise<Quota> {
  const requestId = `raise-${key}`
  const { id } = cap
  const first = { body: followingCap(cap), idempotencyKey: `${key}-next`, requestId }
  const next = await call('POST /admin/quota', first)
  const { metadata, version } = await call('GET /admin/quota/{id}', { id })
  const marks = { [RAISED_FROM]: String(cap.limit), [CONTINUED_BY]: String(next.id) }
  await call('PUT /admin/quota/{id}', {
    id,
    body: { expires_at: cap.window_end, external_ref: null, metadata: { ...metadata, ...marks } },
    ifMatch: version,
    requestId,
  })
  // Other systems know the limit by its reference: it goes on with the cap that stays.
  if (cap.external_ref !== null)
    await call('PUT /admin/quota/{id}', { id: next.id, body: { external_ref: cap.external_ref }, requestId })
  return call('POST /admin/quota/{id}/adjust', { id, body: { delta, reason }, idempotencyKey: key, requestId })
}

/** Raises a cap for its current window only. */
export function useRaiseCap(key: string, onDone: (cap: Quota) => void) {
  return useMutation({
    mutationFn: (raise: CapRaise) => raiseForWindow(raise, key),
    onSuccess: onDone,
    // Also after an error: some of the steps may have been taken.
    onSettled: () => refetchAfter('POST /admin/quota/{id}/adjust'),
  })
}

/** Whether a limit was refused because more than it is in use. */
export function isBelowUsage(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'below_usage'
}

/** Whether a change was refused because the caller may move no more units of the user today. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'forbidden'
}
