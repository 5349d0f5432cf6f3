import type { Change, Read } from '../api/operations.ts'

/** The path of an operation that reads, below `/admin` or not. It stands for those that begin or end with it, too. */
type Path = Read extends `GET ${infer Full}` ? Full : never

const QUOTAS: readonly Path[] = [
  '/quota/list',
  '/quota/summary',
  '/admin/quota/{id}',
  '/admin/overview',
  '/admin/audit',
  '/admin/users/{user_id}/plan',
]
const RATES: readonly Path[] = ['/admin/rate-cards', '/admin/audit']
/** The cards that they have say how many plans have them. */
const PLANS: readonly Path[] = [...QUOTAS, ...RATES, '/admin/plans']
const REQUESTS: readonly Path[] = ['/quota/requests', '/admin/requests', '/admin/audit']
/** The units of a decision are on quotas. */
const DECIDED: readonly Path[] = [...QUOTAS, ...REQUESTS]
const USERS: readonly Path[] = ['/admin/users/{user_id}/profile', '/admin/search']
/** A transfer may make the user who gets the units. */
const MOVED: readonly Path[] = [...QUOTAS, ...USERS, '/admin/transfers', '/quota/reservations']
const DENIALS: readonly Path[] = ['/quota/denials', '/admin/denials']
const PAUSED: readonly Path[] = [
  ...USERS,
  ...DENIALS,
  '/quota/summary',
  '/admin/pauses',
  '/admin/overview',
  '/admin/audit',
]
const WEBHOOKS: readonly Path[] = ['/admin/webhooks', '/admin/audit']
const DELIVERIES: readonly Path[] = ['/admin/webhooks/{id}/deliveries']

/** What each change makes stale; null: all. */
const STALE: Readonly<Record<Change, readonly Path[] | null>> = {
  'POST /quota/requests': DECIDED,
  'DELETE /quota/requests/{id}': DECIDED,
  'PUT /quota/notifications': ['/quota/notifications'],
  'DELETE /quota/notifications': ['/quota/notifications'],
  'POST /quota/notifications/confirm': [],
  'POST /quota/notifications/stop': [],
  'POST /admin/quota': QUOTAS,
  'PUT /admin/quota/{id}': QUOTAS,
  'DELETE /admin/quota/{id}': QUOTAS,
  'POST /admin/quota/{id}/adjust': QUOTAS,
  'POST /admin/quota/{id}/transfer': MOVED,
  // Pages are to agree with its answer.
  'POST /admin/quota/check': QUOTAS,
  'POST /admin/quota/import': QUOTAS,
  'POST /admin/quota/bulk': QUOTAS,
  'POST /admin/quota/give': QUOTAS,
  'POST /admin/transfers/{id}/return': MOVED,
  // Each list shows names.
  'PUT /admin/users/{user_id}/profile': null,
  'PUT /admin/users/{user_id}/plan': PLANS,
  'DELETE /admin/users/{user_id}/plan': PLANS,
  'POST /admin/plans': PLANS,
  'PUT /admin/plans/{id}': PLANS,
  'DELETE /admin/plans/{id}': PLANS,
  'POST /admin/plans/{id}/roll-out': PLANS,
  'POST /admin/rate-cards': RATES,
  'PUT /admin/rate-cards/{id}': RATES,
  'DELETE /admin/rate-cards/{id}': RATES,
  'PUT /admin/rate-cards/{id}/lines': RATES,
  'POST /admin/requests': REQUESTS,
  'POST /admin/requests/{id}/approve': DECIDED,
  'POST /admin/requests/{id}/decline': DECIDED,
  'POST /admin/pauses': PAUSED,
  'DELETE /admin/pauses/{id}': PAUSED,
  'PUT /admin/breaker': ['/admin/breaker', '/admin/audit'],
  'POST /admin/webhooks': WEBHOOKS,
  'PUT /admin/webhooks/{id}': WEBHOOKS,
  'DELETE /admin/webhooks/{id}': WEBHOOKS,
  'POST /admin/webhooks/{id}/rotate-secret': WEBHOOKS,
  'POST /admin/webhooks/{id}/test': [],
  'POST /admin/webhooks/{id}/deliveries/{delivery}/redeliver': DELIVERIES,
  'POST /admin/webhooks/{id}/redeliver': DELIVERIES,
}

/** Whether a change makes stale what a query has read, whose key begins with an operation. */
export function isStale(change: Change, [read]: readonly unknown[]): boolean {
  return STALE[change]?.some(path => String(read).includes(path)) ?? true
}
