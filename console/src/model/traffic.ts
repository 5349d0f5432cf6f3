import { isUnusual, USUAL_DAYS } from '../../../src/domain/forecasts/unusual-traffic.ts'
import type { Api } from '../api/types.ts'
import { isBlock } from './quota-status.ts'

/** Where messages go, beside where they usually go. */

const DESTINATION_GROUPS = ['country', 'message_type'] as const
export type DestinationGroup = (typeof DESTINATION_GROUPS)[number]

/** The senders of the same messages are shown beside their destinations. */
export const TRAFFIC_GROUPS = [...DESTINATION_GROUPS, 'sender'] as const
export type TrafficGroup = (typeof TRAFFIC_GROUPS)[number]

/** Units of all users to one country, of one message type or by one sender; `key` is null for messages that named none. */
export interface Destination {
  key: string | null
  /** In the last 24 hours: sent or denied. */
  asked: number
  denied: number
  /** Sent or denied on an average day of the 7 days before; null until it is loaded. */
  usual: number | null
  /** Messages that were sent, and those whose code was entered. */
  messages: number
  verified: number
}

export type GroupSum = { asked: number; denied: number; sent: number; messages: number; verified: number }

/** Sums of the country, message type or sender of a period's messages. */
export type GroupSums = ReadonlyMap<string | null, GroupSum>

/** @param usual of the week before; undefined until it is loaded */
export function destinationsOf(sums: GroupSums, usual: GroupSums | undefined): Destination[] {
  const destinations = [...sums].map(([key, { sent: _, ...sum }]) => ({
    key,
    ...sum,
    usual: usual === undefined ? null : (usual.get(key)?.asked ?? 0) / USUAL_DAYS,
  }))
  const rankOf = (destination: Destination) => Number(isUnusual(destination))
  return destinations.toSorted((one, other) => rankOf(other) - rankOf(one) || other.asked - one.asked)
}

/** Whether a cap blocks all messages to its countries, or of its types, and not only those that are of both. */
export function blocksAll(group: DestinationGroup, quota: Api['SmsQuota']): boolean {
  return isBlock(quota) && (group === 'country' ? quota.message_types : quota.countries) === null
}
