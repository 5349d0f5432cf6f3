import { keepPreviousData, mutationOptions, queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import { isOutdated } from '../api/problem.ts'
import { queryClient } from '../api/query-client.ts'
import type { Api } from '../api/types.ts'
import { request } from '../session/client.ts'
import { refetchDependents } from './quota.ts'

/** Plans, and which user has which. */

type Plan = Api['Plan']

const PLANS = ['plans']
const planKey = (id: number) => [...PLANS, id]
const userPlanKey = (userId: number) => ['plan-of-user', userId]

/** A page of plans, newest first. */
export function plansQuery(page: { archived: 'true' | 'false'; cursor: string | null }) {
  return queryOptions({
    queryKey: [...PLANS, 'list', page],
    queryFn: ({ signal }) => request<Api['PlanPage']>('/admin/plans', { query: page, signal }),
    placeholderData: keepPreviousData,
  })
}

/** All plans that can be given, by name: a thousand at most. */
export function givablePlansQuery() {
  return queryOptions({
    queryKey: [...PLANS, 'givable'],
    queryFn: async ({ signal }) => {
      const plans: Plan[] = []
      for (let cursor: string | null = null; ; ) {
        const page: Api['PlanPage'] = await request('/admin/plans', {
          query: { page_size: MAX_PAGE_SIZE, cursor },
          signal,
        })
        plans.push(...page.items)
        if (page.next_cursor === null) return plans.toSorted((one, other) => one.name.localeCompare(other.name))
        cursor = page.next_cursor
      }
    },
  })
}

export function planQuery(id: number) {
  return queryOptions({
    queryKey: planKey(id),
    queryFn: ({ signal }) => request<Api['PlanDetail']>(`/admin/plans/${id}`, { signal }),
  })
}

/** Creates a plan. With the same key, a repeated request creates it once. */
export const createPlan = mutationOptions({
  mutationFn: ({ body, key }: { body: object; key: string }) =>
    request<Plan>('/admin/plans', { method: 'POST', body, idempotencyKey: key }),
  onSuccess: () => refetchPlans(),
})

interface Update {
  body: object
  /** The version that the change is based on. */
  version: number
  /** With it, a repetition after a lost answer is answered as the first attempt, and not with a conflict. */
  key: string
}

/** Changes a plan. @param onOutdated receives the plan as saved now, if the version is not the latest */
export function updatePlan(id: number, onOutdated: (plan: Api['PlanDetail']) => void) {
  const path = `/admin/plans/${id}`
  return mutationOptions({
    mutationFn: ({ body, version, key }: Update) =>
      request<Plan>(path, { method: 'PUT', body, ifMatch: version, idempotencyKey: key }).catch(async error => {
        if (isOutdated(error)) onOutdated(await request<Api['PlanDetail']>(path))
        throw error
      }),
    onSuccess: () => refetchPlans(),
  })
}

/** Archives a plan, unless it has another version by now. */
export function archivePlan({ id, version }: Pick<Plan, 'id' | 'version'>) {
  return mutationOptions({
    mutationFn: () => request(`/admin/plans/${id}`, { method: 'DELETE', ifMatch: version }),
    // Also after an error: the plan may have been changed, so the page is stale.
    onSettled: () => refetchPlans(),
  })
}

/** Without a plan, `plan` is null. */
export function userPlanQuery(userId: number) {
  return queryOptions({
    queryKey: userPlanKey(userId),
    queryFn: ({ signal }) => request<Api['UserPlan']>(`/admin/users/${userId}/plan`, { signal }),
  })
}

/** Gives a user the current version of a plan. Repeated, it changes nothing. */
export function givePlan(userId: number) {
  return mutationOptions({
    mutationFn: (body: Api['GivePlanReq']) =>
      request<Api['UserPlan']>(`/admin/users/${userId}/plan`, { method: 'PUT', body }),
    onSuccess: () => refetchPlans(),
  })
}

/** Takes the plan of a user away. Repeated, it changes nothing. */
export function takePlan(userId: number) {
  return mutationOptions({
    mutationFn: () => request(`/admin/users/${userId}/plan`, { method: 'DELETE' }),
    onSuccess: () => refetchPlans(),
  })
}

/** Reads again what plans are, who has them, and the quotas of users. */
export function refetchPlans(): Promise<unknown> {
  return Promise.all([queryClient.invalidateQueries({ queryKey: PLANS }), refetchDependents(queryClient)])
}
