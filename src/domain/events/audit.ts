import { WEBHOOK_ACTIONS } from '../webhooks/webhook.ts'

/**
 * What administrators change, and requests that users make. The list of these changes has those of one timestamp in this order, from last
 * to first.
 */
export const AUDITED_RESOURCES = [
  'user',
  'profile',
  'address',
  'webhook',
  'plan',
  'breaker',
  'pause',
  'increase_request',
  'quota',
] as const
export type AuditedResource = (typeof AUDITED_RESOURCES)[number]

/**
 * What they do with them; `archived` is for plans, `lifted` for pauses, `erased` for users, `approved` and `declined` for requests,
 * `confirmed` for addresses, and `withdrawn` for both.
 */
export const AUDITED_ACTIONS = [
  ...WEBHOOK_ACTIONS,
  'archived',
  'lifted',
  'erased',
  'approved',
  'declined',
  'withdrawn',
  'confirmed',
] as const
export type AuditedAction = (typeof AUDITED_ACTIONS)[number]
