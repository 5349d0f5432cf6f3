/** What a message says of each event: the fields of its data, and those of them that are listed. */
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { nullable } from '../contract/schemas.ts'
import type { EventType, OwnEventType } from '../domain/events/event.ts'
import { REQUEST_STATUSES } from '../domain/quotas/increase-request.ts'

/** An event, or the test that an administrator sends. */
export type MessageType = EventType | 'webhook.test'

const count = Type.Number()
const quota = Type.Object({
  id: count,
  name: nullable(Type.String()),
  limit: nullable(count),
  used: nullable(count),
  reserved: nullable(count),
  remaining: nullable(count),
  window_end: nullable(Type.String()),
  time_zone: Type.String(),
  // Absent in events of earlier versions.
  kind: Type.Optional(Type.String()),
  countries: Type.Optional(nullable(Type.Array(Type.String()))),
  message_types: Type.Optional(nullable(Type.Array(Type.String()))),
})
/** Absent in events of builds that did not write it. */
const sendable = Type.Object({
  units: nullable(count),
  country: nullable(Type.String()),
  message_type: nullable(Type.String()),
})
const transfer = {
  transfer: Type.Object({ reason: nullable(Type.String()) }),
  units: count,
  direction: Type.Enum(['in', 'out']),
  quota,
}
const pause = Type.Object({
  country: Type.String(),
  message_types: nullable(Type.Array(Type.String())),
  until: nullable(Type.String()),
  reason: nullable(Type.String()),
  observed: Type.Boolean(),
  evidence: nullable(Type.Object({ young: count, unverified_hour: count, unverified_day: count, verified_day: count })),
})
const request = {
  request: Type.Object({
    id: count,
    units: count,
    until: nullable(Type.String()),
    reason: Type.String(),
    status: Type.Enum([...REQUEST_STATUSES]),
    note: nullable(Type.String()),
    granted: nullable(Type.Object({ units: count, until: nullable(Type.String()) })),
  }),
}

/**
 * The fields that a message reads: part of the event's schema, and all of them in the events of earlier versions, too. It reads neither the
 * id of a reservation, which the sender chooses and which may be a number, nor metadata.
 */
const DATA = {
  'quota.created': Type.Object({ quota }),
  'quota.updated': Type.Object({ quota }),
  'quota.deleted': Type.Object({ quota }),
  'quota.threshold_reached': Type.Object({ quota, percent: count, sendable: Type.Optional(sendable) }),
  'quota.expired': Type.Object({ quota }),
  'reservation.expired': Type.Object({ released: count, committed: count }),
  'transfer.made': Type.Object(transfer),
  'transfer.returned': Type.Object(transfer),
  'request.made': Type.Object(request),
  'request.decided': Type.Object(request),
  'pause.made': Type.Object({ pause }),
  'pause.lifted': Type.Object({ pause }),
  'breaker.tripped': Type.Object({ pause }),
  'webhook.disabled': Type.Object({
    webhook: Type.Object({
      id: count,
      description: nullable(Type.String()),
      disabled_reason: Type.Enum(['failing', 'gone']),
      failing_since: nullable(Type.String()),
    }),
  }),
  'user.erased': Type.Object({ erasure: Type.Object({ user_id: count }) }),
  'webhook.test': Type.Object({ webhook: Type.Object({ id: count, description: nullable(Type.String()) }) }),
} as const satisfies Record<MessageType, TObject>

export type DataOf<Name extends MessageType> = Static<(typeof DATA)[Name]>
export type QuotaFacts = Static<typeof quota>
export type RequestFacts = DataOf<'request.made'>['request']
type PauseFacts = Static<typeof pause>

export const isMessageType = (name: string): name is MessageType => Object.hasOwn(DATA, name)

/** Whether the data of an event has what its message says. Retention of years may keep an event of a version that wrote less. */
export function isDataOf<Name extends MessageType>(type: Name, data: unknown): data is DataOf<Name> {
  const schema: TSchema = DATA[type]
  return Value.Check(schema, data)
}

export type Label =
  | 'user'
  | 'limit'
  | 'used'
  | 'reserved'
  | 'left'
  | 'windowEnd'
  | 'released'
  | 'committed'
  | 'reason'
  | 'note'
  | 'until'
  | 'messageTypes'
  | 'young'
  | 'unverifiedHour'
  | 'unverifiedDay'
  | 'verifiedDay'
  | 'failingSince'

/** A value that a message lists; how it is written depends on the language. Null is not listed. */
export type Fact = readonly [Label, number | string | { time: string; zone: string } | null]

const timeOf = (time: string | null, zone = 'UTC') => (time === null ? null : { time, zone })

const ofQuota = ({ limit, used, reserved, remaining, window_end, time_zone }: QuotaFacts): Fact[] => [
  ['limit', limit],
  ['used', used],
  ['reserved', reserved === 0 ? null : reserved],
  ['left', remaining],
  ['windowEnd', timeOf(window_end, time_zone)],
]

type PauseShown = Pick<PauseFacts, 'until' | 'message_types' | 'reason' | 'evidence'>
const ofPause = ({ until, message_types, reason, evidence }: PauseShown): Fact[] => [
  ['until', timeOf(until)],
  ['messageTypes', message_types?.join(', ') ?? null],
  ['reason', reason],
  ['young', evidence?.young ?? null],
  ['unverifiedHour', evidence?.unverified_hour ?? null],
  ['unverifiedDay', evidence?.unverified_day ?? null],
  ['verifiedDay', evidence?.verified_day ?? null],
]

const ofTransfer = ({ quota: changed, transfer: made }: DataOf<'transfer.made'>): Fact[] => [
  ['reason', made.reason],
  ...ofQuota(changed),
]

const ofRequest = ({ until, reason, note, granted }: RequestFacts): Fact[] => [
  ['until', timeOf(granted === null ? until : granted.until)],
  ['reason', reason],
  ['note', note],
]

/** What a message lists of each event. */
export const FACTS: { readonly [Name in MessageType]: (data: DataOf<Name>) => Fact[] } = {
  'quota.created': data => ofQuota(data.quota),
  'quota.updated': data => ofQuota(data.quota),
  'quota.deleted': data => ofQuota(data.quota),
  'quota.threshold_reached': data => ofQuota(data.quota),
  'quota.expired': data => ofQuota(data.quota),
  'reservation.expired': ({ released, committed }) => [
    ['released', released],
    ['committed', committed],
  ],
  'transfer.made': ofTransfer,
  'transfer.returned': ofTransfer,
  'request.made': data => ofRequest(data.request),
  'request.decided': data => ofRequest(data.request),
  'pause.made': data => ofPause(data.pause),
  'pause.lifted': data => ofPause(data.pause),
  'breaker.tripped': data => ofPause(data.pause),
  'webhook.disabled': ({ webhook }) => [['failingSince', timeOf(webhook.failing_since)]],
  'user.erased': () => [],
  'webhook.test': () => [],
}

/** Of pauses, users read neither what the breaker has counted nor what administrators note. */
const ofOwnPause = ({ until, message_types }: PauseShown): Fact[] =>
  ofPause({ until, message_types, reason: null, evidence: null })

/** What a message lists for the user whose event it is. */
export const OWN_FACTS: { readonly [Name in OwnEventType]: (data: DataOf<Name>) => Fact[] } = {
  ...FACTS,
  'transfer.made': data => ofQuota(data.quota),
  'transfer.returned': data => ofQuota(data.quota),
  'pause.made': data => ofOwnPause(data.pause),
  'pause.lifted': data => ofOwnPause(data.pause),
  'breaker.tripped': data => ofOwnPause(data.pause),
}

/** The page of the console on which an event is seen, below the address of the service. Null: it has none. */
export const PATHS: { readonly [Name in MessageType]: (data: DataOf<Name>, userId: number | null) => string | null } = {
  'quota.created': data => quotaPath(data.quota),
  'quota.updated': data => quotaPath(data.quota),
  'quota.deleted': data => quotaPath(data.quota),
  'quota.threshold_reached': data => quotaPath(data.quota),
  'quota.expired': data => quotaPath(data.quota),
  'reservation.expired': (_, userId) => (userId === null ? null : `/users/${userId}/reservations`),
  'transfer.made': data => quotaPath(data.quota),
  'transfer.returned': data => quotaPath(data.quota),
  'request.made': ({ request: { id } }, userId) => (userId === null ? null : `/requests?request=${id}&of=${userId}`),
  'request.decided': (_, userId) => (userId === null ? null : `/users/${userId}`),
  'pause.made': () => '/pauses',
  'pause.lifted': () => '/pauses',
  'breaker.tripped': () => '/pauses',
  'webhook.disabled': ({ webhook }) => `/webhooks/${webhook.id}`,
  'user.erased': () => null,
  'webhook.test': ({ webhook }) => `/webhooks/${webhook.id}`,
}

const quotaPath = ({ id }: QuotaFacts) => `/quotas/${id}`
