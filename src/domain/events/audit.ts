/**
 * What is audited, each with what is done to it: what administrators change, and requests and addresses of users. The list of changes has
 * those of one timestamp in this order, from last to first.
 */
export const AUDITED = {
  user: ['erased'],
  profile: ['created', 'updated'],
  address: ['created', 'confirmed', 'withdrawn'],
  webhook: ['created', 'updated', 'secret_rotated', 'secret_discarded', 'disabled', 'deleted'],
  plan: ['created', 'updated', 'archived'],
  rate_card: ['created', 'updated', 'archived'],
  breaker: ['updated'],
  pause: ['created', 'lifted'],
  increase_request: ['created', 'approved', 'declined', 'withdrawn'],
  quota: ['created', 'updated', 'deleted'],
} as const

export type AuditedResource = keyof typeof AUDITED
export type ActionOn<Resource extends AuditedResource> = (typeof AUDITED)[Resource][number]
export type AuditedAction = ActionOn<AuditedResource>

export const AUDITED_RESOURCES = Object.keys(AUDITED) as AuditedResource[]
export const AUDITED_ACTIONS: readonly AuditedAction[] = [...new Set(Object.values(AUDITED).flat())]
