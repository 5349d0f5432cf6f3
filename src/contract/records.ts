import Type, { type Static, type TSchema } from 'typebox'
import { DEFAULT_PAGE_SIZE, MAX_ALERTS, MAX_INTEGER, MAX_PAGE_SIZE, MAX_UNITS } from '../domain/bounds.ts'
import { RESERVATION_STATES } from '../domain/reservation.ts'
import { nullable, SmsQuota, time, uint } from './quotas.ts'
import { reservation } from './sender.ts'

/** The shapes of what administrators do to limits, and of what people look up: changes, windows, reservations. */

/* ── Adjusting ──────────────────────────────────────────────────────────────────────────────────────────────────── */

export const AdjustReq = Type.Object(
  {
    delta: Type.Union(
      [Type.Integer({ minimum: 1, maximum: MAX_UNITS }), Type.Integer({ minimum: -MAX_UNITS, maximum: -1 })],
      { description: 'By how many units the limit moves; not 0. Its result must be a limit as any other.' },
    ),
    reason: Type.String({
      format: 'text',
      minLength: 1,
      maxLength: 500,
      description: 'Why, in your words; the history shows it.',
    }),
    allow_below_usage: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Move the limit below what is already used and reserved; nothing is taken back.',
      }),
    ),
  },
  {
    $id: 'AdjustReq',
    additionalProperties: false,
    description:
      'A limit to be moved by so many units, whatever it is by then: adjustments at the same time all count.',
    examples: [{ delta: 500, reason: 'Goodwill after the outage' }],
  },
)

/* ── Pages ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

const walk = {
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
  cursor: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9_-]{1,1000}$', description: 'From `next_cursor`; it fixes the filters.' }),
  ),
}

/** Records only grow, and are read from the newest on: there are no page numbers and no totals. */
const pageOf = <const Item extends string>(item: Item, description: string, $id: string) =>
  Type.Object(
    {
      items: Type.Array(Type.Ref(`${item}#` as const)),
      page_size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE }),
      next_cursor: nullable(Type.String(), { description: 'Where the next page begins; null on the last.' }),
    },
    { $id, description },
  )

/* ── What a quota went through ──────────────────────────────────────────────────────────────────────────────────── */

export const RecordsQuery = Type.Object(walk, { additionalProperties: false })

/** Kept as it was written: what the contract gained since is not in it. */
const QuotaAsShown = Type.Partial(Type.Object(SmsQuota.properties, { additionalProperties: true }), {
  $id: 'QuotaAsShown',
  description: 'The quota as it was shown at the time.',
})

const RecordedChange = Type.Object(
  {
    version: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'The version that the change made.' }),
    action: Type.Enum(['created', 'updated', 'deleted']),
    at: time(),
    actor: Type.String({ description: 'The subject of the token that made it.' }),
    request_id: Type.String({ description: 'The `X-Request-Id` of the call that made it.' }),
    reason: nullable(Type.String(), { description: 'Why, where it was said: adjustments say it.' }),
    before: nullable(Type.Ref('QuotaAsShown#'), { description: 'null for a creation.' }),
    after: Type.Ref('QuotaAsShown#'),
  },
  { $id: 'QuotaChange', description: 'Who changed a quota, when, from what to what.' },
)

const QuotaWindow = Type.Object(
  {
    window_no: uint({ description: 'Counts the windows; those in which nothing happened are skipped in this list.' }),
    window_start: time(),
    window_end: time(),
    limit: nullable(uint(), { description: 'As it was when the window ended; null is unlimited.' }),
    overage_limit: uint(),
    rolled_over: uint({ description: 'Units carried into it.' }),
    used: uint({ description: 'Units committed; what is refunded later is taken out again.' }),
    reserved: uint({ description: 'Units set aside in it that are still to be committed or released.' }),
    carried: uint({ description: 'Units that it carried into the next window.' }),
    released: nullable(uint(), {
      description:
        'Units that it let go: neither used nor reserved nor carried on, those that reservations gave back included. limit + rolled_over + overage = used + reserved + carried + released. null if it was unlimited.',
    }),
    overage: uint({ description: 'max(0, used + reserved − limit − rolled_over).' }),
  },
  { $id: 'QuotaWindow', description: 'A window that a quota has left behind.' },
)

/* ── Who is about to run out ────────────────────────────────────────────────────────────────────────────────────── */

export const AlertsQuery = Type.Object(
  { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ALERTS, default: DEFAULT_PAGE_SIZE })) },
  { additionalProperties: false },
)

const QuotaAlerts = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        quota: Type.Ref('SmsQuota#'),
        percent: Type.Integer({
          minimum: 1,
          maximum: 100,
          description: 'The highest of its `alert_at` that it reached in its window and still stands at or above.',
        }),
        at: time({ description: 'When that was told.' }),
      }),
    ),
  },
  { $id: 'QuotaAlerts', description: 'Live quotas that have reached a percent of their `alert_at`, the latest first.' },
)

/* ── Reservations ───────────────────────────────────────────────────────────────────────────────────────────────── */

const lookup = {
  ...walk,
  state: Type.Optional(
    Type.Enum([...RESERVATION_STATES], {
      description: 'One whose time is over counts as `reserved` until the service has closed it.',
    }),
  ),
  quota_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'Only those counted in this quota.' }),
  ),
  from: Type.Optional(time({ description: 'Made then or later.' })),
  to: Type.Optional(time({ description: 'Made before.' })),
}

export const UserReservationsQuery = Type.Object(lookup, { additionalProperties: false })
export const AdminReservationsQuery = Type.Object(
  { ...lookup, user_id: Type.Optional(uint({ description: "Only this user's." })) },
  { additionalProperties: false },
)

const ReservationRecord = Type.Object(
  {
    ...reservation,
    id: Type.String({ description: "The sender's own id. One that begins with `_` is the service's." }),
    op: Type.Enum(['reserve', 'consume'], { description: 'How it was asked for.' }),
    asked: uint({ description: 'Units asked for; `units` is less where a part was granted.' }),
    country: nullable(Type.String(), { description: 'The destination, if it was told.' }),
    message_type: nullable(Type.String()),
    allow_partial: Type.Boolean(),
    force: Type.Boolean({ description: 'Whether it was booked past any limit.' }),
    on_expiry: Type.Enum(['release', 'commit']),
    created_at: time(),
  },
  { $id: 'ReservationRecord', description: 'A reservation as people look it up: with what was asked, and when.' },
)

const ReservationPage = pageOf(
  'ReservationRecord',
  'Reservations, newest first. With filters a page may hold fewer than were asked for, even none, and yet have a `next_cursor`: each looks at a bounded number of reservations.',
  'ReservationPage',
)

/** The shapes that the document names, by their `$id`. */
export const RECORD_COMPONENTS = {
  AdjustReq,
  QuotaAsShown,
  QuotaChange: RecordedChange,
  QuotaHistory: pageOf('QuotaChange', 'Changes of a quota, newest first.', 'QuotaHistory'),
  QuotaWindow,
  QuotaAlerts,
  ReservationRecord,
  ReservationPage,
  QuotaWindowPage: pageOf('QuotaWindow', 'Windows that a quota has left behind, newest first.', 'QuotaWindowPage'),
} satisfies Record<string, TSchema>

export type AdjustReq = Static<typeof AdjustReq>
export type RecordsQuery = Static<typeof RecordsQuery>
export type ReservationsQuery = Static<typeof AdminReservationsQuery>
