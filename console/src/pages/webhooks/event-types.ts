import type { EVENT_TYPES } from '../../../../src/domain/event.ts'

export type EventType = (typeof EVENT_TYPES)[number]

/** What each type tells. */
export const EVENT_WORDS: Record<EventType, string> = {
  'quota.created': 'Somebody made a quota.',
  'quota.updated': 'Somebody changed a quota, its limit for example.',
  'quota.deleted': 'Somebody deleted a quota.',
  'quota.threshold_reached': 'A quota has reached a percent that it is to be told of.',
  'quota.expired': 'A quota has come to its end.',
  'reservation.expired': 'Units were set aside for too long, and were given back or committed.',
  'webhook.disabled': 'A webhook was disabled, since nothing got through or its receiver is gone.',
}
