import { WEBHOOK_ACTIONS } from './webhook.ts'

/** What administrators change. The list of their changes has those of one timestamp in this order, from last to first. */
export const AUDITED_RESOURCES = ['user', 'profile', 'webhook', 'plan', 'breaker', 'pause', 'quota'] as const
export type AuditedResource = (typeof AUDITED_RESOURCES)[number]

/** What they do with them; `archived` is for plans, `lifted` for pauses, `erased` for users. */
export const AUDITED_ACTIONS = [...WEBHOOK_ACTIONS, 'archived', 'lifted', 'erased'] as const
export type AuditedAction = (typeof AUDITED_ACTIONS)[number]
