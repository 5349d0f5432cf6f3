import type { EVENT_TYPES } from '../../../../src/domain/event.ts'

export type EventType = (typeof EVENT_TYPES)[number]

export const EVENT_TYPE_DESCRIPTIONS: Record<EventType, string> = {
  'quota.created': 'A quota was created.',
  'quota.updated': 'A quota was changed, for example its limit.',
  'quota.deleted': 'A quota was deleted.',
  'quota.threshold_reached': 'A quota reached one of its alert thresholds.',
  'quota.expired': 'A quota expired.',
  'reservation.expired': 'A reservation expired, and its units were released or committed.',
  'webhook.disabled': 'A webhook was disabled, because all deliveries failed or its receiver answered 410 Gone.',
  'user.erased': "A user's data was erased.",
}
