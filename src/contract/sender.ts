import Type, { type TProperties, type TSchema } from 'typebox'
import {
  DEFAULT_TTL_SECONDS,
  E164_PATTERN,
  MAX_BATCH_OPERATIONS,
  MAX_RESERVED_UNITS,
  MAX_TTL_SECONDS,
} from '../domain/bounds.ts'
import type { Explanation } from '../domain/command.ts'
import { RESERVATION_STATES } from '../domain/reservation.ts'
import { kind, nullable, time, uint } from './quotas.ts'

/** The shapes of the sender's paths. What comes in is flat, so that checking it is cheap. */

/* ── What senders ask ───────────────────────────────────────────────────────────────────────────────────────────── */

const closed = { additionalProperties: false }

const userId = uint({ description: 'The user whose message it is.', examples: [7] })
const reservationId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$',
  description: "The sender's own id of the message or campaign, unique for the user: what makes calls repeatable.",
  examples: ['msg-1042'],
})

/** Write-only: neither stored nor logged, and not repeated when it is wrong. */
const message = Type.Object(
  {
    to: Type.String({
      pattern: E164_PATTERN,
      writeOnly: true,
      description: 'The number it goes to, in E.164 form.',
      examples: ['+4915112345678'],
    }),
    text: Type.String({ writeOnly: true, description: 'Its text; an empty one is one segment.', examples: ['Hello'] }),
  },
  {
    ...closed,
    writeOnly: true,
    description:
      'Instead of `units`: the service counts the segments and finds the country. Neither stored nor logged, nor repeated in any answer.',
  },
)

const what = {
  user_id: userId,
  units: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_RESERVED_UNITS,
      description: 'How many units; either this or `message`.',
      examples: [2],
    }),
  ),
  message: Type.Optional(message),
  country: Type.Optional(
    Type.String({
      format: 'country',
      minLength: 2,
      maxLength: 2,
      description: 'The destination (ISO 3166 alpha-2), without which no quota scoped to countries matches.',
      examples: ['DE'],
    }),
  ),
  message_type: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      description: 'Without it no quota scoped to message types matches.',
      examples: ['otp'],
    }),
  ),
  explain: Type.Optional(
    Type.Boolean({ default: false, description: 'Tell of every quota why it did or did not count.' }),
  ),
}

const setAside = {
  ...what,
  id: reservationId,
  ttl_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TTL_SECONDS,
      default: DEFAULT_TTL_SECONDS,
      description: 'How long the units stay set aside.',
    }),
  ),
  on_expiry: Type.Optional(
    Type.Enum(['release', 'commit'], {
      default: 'release',
      description: 'What becomes of them then; `commit` is for gateways that may crash after handing over.',
    }),
  ),
  allow_partial: Type.Optional(
    Type.Boolean({ default: false, description: 'Grant as many as there are, at least 1, if not all can be granted.' }),
  ),
}

const settled = {
  user_id: userId,
  id: reservationId,
  total_units: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_RESERVED_UNITS,
      description: 'How many shall be so by now in all, not how many more; omitted, as many as possible.',
    }),
  ),
}

const force = (description: string) => ({ force: Type.Optional(Type.Boolean({ default: false, description })) })

/** The fields of each operation. */
const FIELDS = {
  check: what,
  reserve: setAside,
  consume: { ...setAside, ...force('Book a send that has already happened, past any limit.') },
  commit: { ...settled, ...force('Book units again that were released or have expired, past any limit.') },
  release: settled,
  refund: settled,
} satisfies Record<string, TProperties>

export type SenderOp = keyof typeof FIELDS
export const SENDER_OPS = Object.keys(FIELDS) as SenderOp[]

/** The body of each operation's own path. */
export const REQUESTS = mapOps(op => Type.Object(FIELDS[op] as TProperties, { ...closed, $id: nameOf(op) }))

/** The same inside a batch. */
export const OPERATIONS = mapOps(op =>
  Type.Object({ op: Type.Enum([op]), ...(FIELDS[op] as TProperties) }, { ...closed, title: op }),
)

/** `reserve` takes a `ReserveReq`. */
function nameOf(op: SenderOp): string {
  return `${op.charAt(0).toUpperCase()}${op.slice(1)}Req`
}

function mapOps(make: (op: SenderOp) => TSchema): Record<SenderOp, TSchema> {
  return Object.fromEntries(SENDER_OPS.map(op => [op, make(op)])) as Record<SenderOp, TSchema>
}

/** What a body that has been checked holds: of these fields those of its operation. */
export interface SenderRequest {
  user_id: number
  id?: string
  units?: number
  message?: { to: string; text: string }
  country?: string
  message_type?: string
  explain?: boolean
  ttl_seconds?: number
  on_expiry?: 'release' | 'commit'
  allow_partial?: boolean
  total_units?: number
  force?: boolean
}

const batchOf = (operation: TSchema) =>
  Type.Object(
    {
      operations: Type.Array(operation, {
        minItems: 1,
        maxItems: MAX_BATCH_OPERATIONS,
        description: "One user's take effect in this order.",
      }),
    },
    { ...closed, $id: 'BatchReq', description: 'Operations that each stand alone.' },
  )

/** What a batch is checked by: a wrong operation is told in its own result and stops no other. */
export const BatchReq = batchOf(Type.Unknown())

export const ReservationParams = Type.Object({ user_id: userId, id: reservationId })

/* ── What they are answered ─────────────────────────────────────────────────────────────────────────────────────── */

const draws = Type.Array(
  Type.Object({
    quota_id: uint(),
    kind,
    units: uint(),
    window_start: time({ description: 'Whose counters it is in.' }),
  }),
  { description: 'Where the units are counted: the grants that pay, in burn order, then every cap that matched.' },
)
const unfunded = uint({ description: 'Units booked by force with no grant to pay for them.' })
const replayed = Type.Boolean({ description: 'Whether this was done before, and nothing was taken now.' })

export const reservation = {
  id: reservationId,
  user_id: userId,
  state: Type.Enum([...RESERVATION_STATES]),
  units: uint({ description: 'Units granted.' }),
  committed: uint({ description: 'Of them committed, refunded ones included.' }),
  released: uint({ description: 'Of them given back without having been committed, by the sender or by time.' }),
  refunded: uint({ description: 'Of the committed ones given back.' }),
  unfunded,
  draws,
  expires_at: nullable(time(), {
    description: 'When what is outstanding will be closed; null when nothing is: a consumption, or all is settled.',
  }),
}

const remaining = nullable(uint(), {
  description:
    'What this same request could still draw after this answer, caps and overage applied; null if boundless.',
})
const reason = (description: string) => Type.Enum(['no_quota', 'cap_reached', 'quota_exhausted'], { description })

// biome-ignore format: a list.
const VERDICTS: Explanation['verdict'][] = [
  'draws', 'not_needed', 'exhausted', 'has_headroom', 'blocks', 'suspended', 'scheduled', 'expired', 'other_country', 'other_message_type',
]

/** What is told when it was asked for. */
const onRequest = {
  encoding: Type.Optional(Type.Enum(['GSM-7', 'UCS-2'], { description: 'Of a `message`.' })),
  segments: Type.Optional(uint({ description: 'Of a `message`; what its units are counted by.' })),
  country: Type.Optional(nullable(Type.String(), { description: "Of a `message`'s number; null if it has none." })),
  explain: Type.Optional(
    Type.Array(
      Type.Object({
        quota_id: uint(),
        kind,
        verdict: Type.Enum(VERDICTS),
        units: uint({ description: 'Units it pays or counts.' }),
      }),
      { description: 'Every quota considered. Not with an answer that is `replayed`: it was judged before.' },
    ),
  ),
}
const wouldDeny = {
  would_deny: Type.Optional(reason('In observe mode: why it would have been denied.')),
}

const Reservation = Type.Object(reservation, {
  $id: 'Reservation',
  description: 'Units set aside, or what became of them.',
})

const Settled = Type.Object(
  { ...reservation, replayed },
  { $id: 'Settled', description: 'The reservation as it stands after settling.' },
)

const Granted = Type.Object(
  { granted: Type.Literal(true), ...reservation, remaining, replayed, ...wouldDeny, ...onRequest },
  { $id: 'Granted', description: 'The units are set aside, or consumed.' },
)

const Grantable = Type.Object(
  {
    granted: Type.Literal(true),
    user_id: userId,
    units: uint(),
    unfunded,
    draws,
    remaining,
    ...wouldDeny,
    ...onRequest,
  },
  { $id: 'Grantable', description: 'The units could be had now; none are taken.' },
)

const Denied = Type.Object(
  {
    granted: Type.Literal(false),
    reason: reason('No live grant matches; a cap has no room; or what matches has too little left.'),
    units: Type.Optional(uint({ description: 'Of a `message`: the units it would have taken.' })),
    remaining,
    limiting_quota_id: nullable(uint(), { description: 'The lowest blocking cap, else the last matching grant.' }),
    retry_at: nullable(time(), {
      description: 'No earlier than this can it be granted; null if time alone does not help.',
    }),
    ...onRequest,
  },
  { $id: 'Denied', description: 'An answer, not an error: this id may ask again.' },
)

const BatchResult = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        status: Type.Integer({ minimum: 200, maximum: 599 }),
        body: Type.Object({}, { additionalProperties: true, description: 'As the single call would have answered.' }),
      }),
      { description: 'In the order of the operations.' },
    ),
  },
  { $id: 'BatchResult' },
)

/** What senders are answered. */
const SENDER_ANSWERS = { Reservation, Settled, Granted, Grantable, Denied, BatchResult }

export const SENDER_COMPONENTS = {
  ...Object.fromEntries(SENDER_OPS.map(op => [nameOf(op), REQUESTS[op]])),
  BatchReq: batchOf(Type.Union(SENDER_OPS.map(op => OPERATIONS[op]))),
  ...SENDER_ANSWERS,
} satisfies Record<string, TSchema>
