import { isShard, type Shard } from './shard.ts'

/** The types of events, as the outbox, the feed and webhooks name them. */
export const EVENT_TYPES = [
  'quota.created',
  'quota.updated',
  'quota.deleted',
  'quota.threshold_reached',
  'quota.expired',
  'reservation.expired',
  'webhook.disabled',
  'user.erased',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The place of an event in the outbox: its shard and its number there. */
export interface EventKey {
  shard: Shard
  number: number
}

/** The id of an event. Receivers recognize a repeated event by it. */
export function eventIdOf({ shard, number }: EventKey): string {
  return `evt_${shard}_${number}`
}

/** The place that an id names; undefined if this service never makes such an id. */
export function eventKeyOf(id: string): EventKey | undefined {
  const [, digits, number] = /^evt_(0|[1-9]\d?)_([1-9]\d{0,15})$/.exec(id) ?? []
  const shard = Number(digits)
  return isShard(shard) && Number.isSafeInteger(Number(number)) ? { shard, number: Number(number) } : undefined
}
