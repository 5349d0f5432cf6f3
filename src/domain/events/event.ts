import { isShard, type Shard } from '../basics/shard.ts'
import type { Sendable } from '../forecasts/sendable.ts'
import type { pauseViewOf } from '../pauses/pause.ts'
import type { requestViewOf } from '../quotas/increase-request.ts'
import type { reservationViewOf, viewOf } from '../units/view.ts'
import type { Webhook } from '../webhooks/webhook.ts'

type QuotaView = ReturnType<typeof viewOf>
type ReservationView = ReturnType<typeof reservationViewOf>
type PauseView = ReturnType<typeof pauseViewOf>
type RequestView = ReturnType<typeof requestViewOf>

interface TransferEventData {
  transfer: { id: number; units: number; returned: number; reason: string | null; expires_at: string | null }
  /** The units that this event moved. */
  units: number
  /** Whether they left this user's grant, or came into it. */
  direction: 'in' | 'out'
  quota: QuotaView
}

/** A row of the table: whose event it is. `data` is only a type. No event holds the number or the text of a message. */
interface Row<Owner, Data> {
  readonly owner: Owner
  readonly data?: Data
}
const ofUser = <Data extends object>(): Row<'user', Data> => ({ owner: 'user' })
/** An event that belongs to no user. */
const ofSystem = <Data extends object>(): Row<'system', Data> => ({ owner: 'system' })
/** An event of a user, or of no user where it concerns all of them. */
const ofUserOrSystem = <Data extends object>(): Row<'user or system', Data> => ({ owner: 'user or system' })

/**
 * The table of events, as the outbox, the feed and webhooks name them, with their data. `src/contract/events.ts` says when each is
 * emitted and has the schema of its data.
 */
const EVENTS = {
  'quota.created': ofUser<{ quota: QuotaView }>(),
  'quota.updated': ofUser<{ quota: QuotaView }>(),
  'quota.deleted': ofUser<{ quota: QuotaView }>(),
  /** `quota` and `sendable` are the state after all percentages that the same batch reached. */
  'quota.threshold_reached': ofUser<{ quota: QuotaView; percent: number; sendable: Sendable }>(),
  'quota.expired': ofUser<{ quota: QuotaView }>(),
  /** The units that were outstanding, by what happened to them. */
  'reservation.expired': ofUser<{ reservation: ReservationView; released: number; committed: number }>(),
  /** Each side gets its own, with its own quota. It names the other side by the transfer's id only: an erasure leaves events of others. */
  'transfer.made': ofUser<TransferEventData>(),
  'transfer.returned': ofUser<TransferEventData>(),
  'request.made': ofUser<{ request: RequestView }>(),
  /** Approved, declined or withdrawn: `request.status` says which. */
  'request.decided': ofUser<{ request: RequestView }>(),
  'pause.made': ofUserOrSystem<{ pause: PauseView }>(),
  'pause.lifted': ofUserOrSystem<{ pause: PauseView }>(),
  /** In both modes: `pause.observed` says whether it only observes. */
  'breaker.tripped': ofUser<{ pause: PauseView }>(),
  /** Without the URL, which may hold a secret: other receivers read this event. */
  'webhook.disabled': ofSystem<{
    webhook: Pick<Webhook, 'id' | 'description'> & { disabled_reason: 'failing' | 'gone'; failing_since: string | null }
  }>(),
  'user.erased': ofSystem<{ erasure: { user_id: number; requested_at: string; finished_at: string } }>(),
}
type Table = typeof EVENTS

export type EventType = keyof Table
type OwnedBy<Owner> = { [Type in EventType]: Table[Type]['owner'] extends Owner ? Type : never }[EventType]
export type SystemEventType = OwnedBy<'system' | 'user or system'>
export type UserEventType = OwnedBy<'user' | 'user or system'>
export type SharedEventType = OwnedBy<'user or system'>
export type EventData = { [Type in EventType]: NonNullable<Table[Type]['data']> }

const isEventType = (name: string): name is EventType => Object.hasOwn(EVENTS, name)
export const EVENT_TYPES: readonly EventType[] = Object.keys(EVENTS).filter(isEventType)

/**
 * Which events of theirs users may have messages about: `usual` unless the webhook names its types. `never`: it tells them nothing, because
 * they have caused it, or it is about the sender.
 */
const FOR_USERS = {
  'quota.created': 'usual',
  'quota.updated': 'usual',
  'quota.deleted': 'usual',
  'quota.threshold_reached': 'usual',
  'quota.expired': 'usual',
  'reservation.expired': 'never',
  'transfer.made': 'usual',
  'transfer.returned': 'usual',
  'request.made': 'never',
  'request.decided': 'usual',
  'pause.made': 'usual',
  'pause.lifted': 'usual',
  // While the breaker only observes, it says what would be.
  'breaker.tripped': 'named',
} as const satisfies Record<UserEventType, 'usual' | 'named' | 'never'>
type ForUsers = typeof FOR_USERS

/** The types of events that users may have messages about. */
export type OwnEventType = { [Type in UserEventType]: ForUsers[Type] extends 'never' ? never : Type }[UserEventType]
export const isOwnEventType = (name: string): name is OwnEventType =>
  Object.entries(FOR_USERS).some(([type, whether]) => type === name && whether !== 'never')
export const OWN_EVENT_TYPES: readonly OwnEventType[] = EVENT_TYPES.filter(isOwnEventType)
export const USUAL_OWN_EVENT_TYPES = OWN_EVENT_TYPES.filter(type => FOR_USERS[type] === 'usual')

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
