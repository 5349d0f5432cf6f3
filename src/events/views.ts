/** Events and deliveries as the API shows them. */
import type { StoredEvent } from '../db/outbox/outbox.ts'
import type { Delivery } from '../db/webhooks/delivery-lists.ts'
import { eventIdOf } from '../domain/events/event.ts'
import { formatTimestamp, formatTimestampOrNull } from '../domain/time/time.ts'

export function eventView(event: StoredEvent) {
  const { type, at, user_id, sequence, data } = event
  return { id: eventIdOf(event), type, at: formatTimestamp(at), user_id, sequence, data }
}

export function deliveryView(delivery: Delivery) {
  const { shard, number, next_attempt_at, last_attempt_at, created_at, ...shown } = delivery
  return {
    id: eventIdOf({ shard, number }),
    ...shown,
    next_attempt_at: formatTimestampOrNull(next_attempt_at),
    last_attempt_at: formatTimestampOrNull(last_attempt_at),
    created_at: formatTimestamp(created_at),
  }
}

/** The body of a delivery. */
export interface Payload {
  type: string
  timestamp: string
  data: object
}

export function payloadOf({ type, at, user_id, sequence, data }: StoredEvent): Payload {
  return { type, timestamp: formatTimestamp(at), data: { user_id, sequence, ...data } }
}
