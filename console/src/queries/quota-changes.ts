import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CONTINUED_BY, RAISED_FROM } from '../../../src/domain/raised-cap.ts'
import { ApiProblem, isOutdated } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { followingCap } from '../model/raised-cap.ts'
import { request } from '../session/client.ts'
import { quotaQuery, refetchDependents } from './quota.ts'

/** Changes of one quota. Apart from what is read, because a start page changes nothing. */

type Quota = Api['SmsQuota']

/** Creates a quota. With the same key, a repeated request creates it once. */
export function useCreateQuota(onCreated: (quota: Quota) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ body, key }: { body: object; key: string }) =>
      request<Quota>('/admin/quota', { method: 'POST', body, idempotencyKey: key }),
    onSuccess: quota => {
      void refetchDependents(queryClient)
      onCreated(quota)
    },
  })
}

interface Update {
  body: object
  /** The version that the change is based on. */
  version: number
}

/** Changes settings of a quota. @param onOutdated receives the quota as saved now, if the version is not the latest */
export function useUpdateQuota(id: number, onUpdated: () => void, onOutdated: (quota: Quota) => void) {
  const queryClient = useQueryClient()
  const path = `/admin/quota/${id}`
  return useMutation({
    mutationFn: ({ body, version }: Update) =>
      request<Quota>(path, { method: 'PUT', body, ifMatch: version }).catch(async error => {
        if (isOutdated(error)) onOutdated(await request<Quota>(path))
        throw error
      }),
    onSuccess: saved => {
      queryClient.setQueryData(quotaQuery(id).queryKey, saved)
      void refetchDependents(queryClient)
      onUpdated()
    },
  })
}

/** Suspends or resumes a quota. It sends only `enabled`, so that it does not conflict with other changes. */
export function useSetEnabled(id: number, onDone: (quota: Quota) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (enabled: boolean) => request<Quota>(`/admin/quota/${id}`, { method: 'PUT', body: { enabled } }),
    onSuccess: quota => {
      queryClient.setQueryData(quotaQuery(id).queryKey, quota)
      onDone(quota)
      return refetchDependents(queryClient)
    },
  })
}

interface Adjustment {
  delta: number | string
  reason: string
  allow_below_usage?: true
  /** The units end with the window, as a grant of their own, whose name begins so. */
  until?: 'window_end'
  name?: string
}

/** Moves the limit by a number of units, so that concurrent adjustments add up; or adds units for the window. */
export function useAdjustQuota(id: number, key: string, onDone: (quota: Quota) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: Adjustment) =>
      request<Quota>(`/admin/quota/${id}/adjust`, { method: 'POST', body, idempotencyKey: key }),
    onSuccess: quota => {
      void refetchDependents(queryClient)
      onDone(quota)
    },
  })
}

/** Asks administrators for units that the caller may not give. With the same key, a repeated request asks once. */
export function useAskAdministrator(key: string, onDone: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: Api['IncreaseForUserReq']) =>
      request('/admin/requests', { method: 'POST', body, idempotencyKey: `${key}-ask` }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ['requests'] })
      onDone()
    },
  })
}

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
  const path = `/admin/quota/${cap.id}`
  const next = await request<Quota>('/admin/quota', {
    method: 'POST',
    body: followingCap(cap),
    idempotencyKey: `${key}-next`,
    requestId,
  })
  const { metadata, version } = await request<Quota>(path)
  const marks = { [RAISED_FROM]: String(cap.limit), [CONTINUED_BY]: String(next.id) }
  await request(path, {
    method: 'PUT',
    body: { expires_at: cap.window_end, external_ref: null, metadata: { ...metadata, ...marks } },
    ifMatch: version,
    requestId,
  })
  // Other systems know the limit by its reference: it goes on with the cap that stays.
  if (cap.external_ref !== null)
    await request(`/admin/quota/${next.id}`, { method: 'PUT', body: { external_ref: cap.external_ref }, requestId })
  const body = { delta, reason }
  return request<Quota>(`${path}/adjust`, { method: 'POST', body, idempotencyKey: key, requestId })
}

/** Raises a cap for its current window only. */
export function useRaiseCap(key: string, onDone: (cap: Quota) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (raise: CapRaise) => raiseForWindow(raise, key),
    onSuccess: onDone,
    // Also after an error: some of the steps may have been taken.
    onSettled: () => refetchDependents(queryClient),
  })
}

/** Deletes a quota, unless it has been changed since `version`. */
export function useDeleteQuota({ id, version }: Pick<Quota, 'id' | 'version'>, onDeleted: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => request(`/admin/quota/${id}`, { method: 'DELETE', ifMatch: version }),
    onSuccess: onDeleted,
    // Also after an error: the quota may have been changed or deleted, so the page is stale.
    onSettled: () => refetchDependents(queryClient),
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
