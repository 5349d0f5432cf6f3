/** What can happen, as the outbox, the feed and webhooks name it. */
export const EVENT_TYPES = [
  'quota.created',
  'quota.updated',
  'quota.deleted',
  'quota.threshold_reached',
  'quota.expired',
  'reservation.expired',
  'webhook.disabled',
] as const

/** An event's place in the outbox: its shard, and its number there. */
export interface EventKey {
  shard: number
  number: number
}

/** An event's id, by which receivers tell that they have seen it. */
export function eventIdOf({ shard, number }: EventKey): string {
  return `evt_${shard}_${number}`
}

/** The place that an id names; undefined if it is none of ours. */
export function eventKeyOf(id: string): EventKey | undefined {
  const [, shard, number] = /^evt_(0|[1-9]\d?)_([1-9]\d{0,14})$/.exec(id) ?? []
  return number === undefined ? undefined : { shard: Number(shard), number: Number(number) }
}
