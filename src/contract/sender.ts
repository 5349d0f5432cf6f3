import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import {
  DEFAULT_TTL_SECONDS,
  MAX_BATCH_OPERATIONS,
  MAX_COMMIT_MESSAGES,
  MAX_RESERVED_UNITS,
  MAX_SEGMENTS,
  MAX_TTL_SECONDS,
} from '../domain/basics/bounds.ts'
import { DENIAL_REASONS } from '../domain/units/reservation.ts'
import { explanationLine, reasonTexts } from './explanations.ts'
import { message, named } from './message.ts'
import { pauseOfDenial } from './pauses.ts'
import { draws, rate, reservationFields, reservationId, unfunded } from './reservations.ts'
import { closed, country, messageType, nullable, time, uint, userNames, userRef } from './schemas.ts'

/** The sender's paths. Requests are flat, so that validating one is cheap. */

/* ── Requests ───────────────────────────────────────────────────────────────────────────────────────────────────── */

const userId = uint({ description: 'The user whose message it is.', examples: [7] })

/** Either names the user: exactly one of them is required. */
const user = {
  user_id: Type.Optional(
    uint({ description: 'The user whose message it is. Either this or `user_ref` is required.', examples: [7] }),
  ),
  user_ref: Type.Optional(
    userRef({ description: 'Instead of `user_id`: what your system calls the user, the `ref` of the profile.' }),
  ),
}

const namedSo = { user_ref: Type.Optional(Type.String({ description: 'As the request named the user.' })) }

/** How many messages the units pay. */
const messages = Type.Integer({
  minimum: 1,
  maximum: MAX_COMMIT_MESSAGES,
  default: 1,
  description:
    'How many messages the units are for, as a slice of a lease is for several. Caps that count messages count these, and a commit, unless it names `messages`.',
})

const drawFields = {
  ...user,
  units: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_RESERVED_UNITS,
      description: 'How many units. Either this or `message` is required.',
      examples: [2],
    }),
  ),
  message: Type.Optional(message),
  country: Type.Optional(
    country({
      description:
        'The destination (ISO 3166 alpha-2, or `001` for numbers of no country). Without it, no quota with `countries` matches.',
      examples: ['DE'],
    }),
  ),
  ...named,
  message_type: Type.Optional(
    messageType({
      description: 'The type of the message. Without it, no quota with `message_types` matches.',
      examples: ['otp'],
    }),
  ),
  messages: Type.Optional(messages),
  explain: Type.Optional(
    Type.Boolean({ default: false, description: 'Explains for each quota why it counted or not.' }),
  ),
}

const reserveFields = {
  ...drawFields,
  id: reservationId,
  ttl_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TTL_SECONDS,
      default: DEFAULT_TTL_SECONDS,
      description: 'How long the units stay reserved.',
    }),
  ),
  on_expiry: Type.Optional(
    Type.Enum(['release', 'commit'], {
      default: 'release',
      description:
        'What happens to outstanding units after `ttl_seconds`. `commit` is for gateways that may crash after they hand a message over.',
    }),
  ),
  allow_partial: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Grants as many units as available, at least 1, if not all can be granted.',
    }),
  ),
}

const settleFields = {
  ...user,
  id: reservationId,
  total_units: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_RESERVED_UNITS,
      description: 'The total that this operation shall have reached, not an increment. Omitted: as many as possible.',
    }),
  ),
}

const totalSegments = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_SEGMENTS,
    description:
      'Instead of `total_units`, of a reservation that has a `rate`: how many segments were sent, or did not arrive. They count what the reservation says that they cost.',
    examples: [3],
  }),
)

const force = (description: string) => ({ force: Type.Optional(Type.Boolean({ default: false, description })) })

const verified = (description: string) => Type.Literal(true, { description })

const FIELDS = {
  check: drawFields,
  reserve: reserveFields,
  consume: {
    ...reserveFields,
    ...force(
      'Books a message that was already sent, past any limit. A later reserve or consume of it without force is a repetition.',
    ),
  },
  commit: {
    ...settleFields,
    total_segments: totalSegments,
    ...force(
      'Books units again that were released or refunded or have expired, and more than were reserved, past any limit: `total_units` or `total_segments` then says how many shall be used in all. For a message that was delivered after all, or was longer.',
    ),
    messages: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_COMMIT_MESSAGES,
        description:
          'How many messages usage counts with the first committed units. Default: the `messages` of the reservation.',
      }),
    ),
    verified: Type.Optional(
      verified("The message's code was entered, as `feedback` says it; of a commit that is a repetition, too."),
    ),
  },
  release: settleFields,
  refund: { ...settleFields, total_segments: totalSegments },
  feedback: { ...user, id: reservationId, verified: verified("The message's code was entered.") },
} satisfies Record<string, TProperties>

export type SenderOp = keyof typeof FIELDS
export const SENDER_OPS = Object.keys(FIELDS) as SenderOp[]

/** The body of each operation's own path. */
export const REQUESTS = {
  check: Type.Object(FIELDS.check, { ...closed, $id: 'CheckReq' }),
  reserve: Type.Object(FIELDS.reserve, { ...closed, $id: 'ReserveReq' }),
  consume: Type.Object(FIELDS.consume, { ...closed, $id: 'ConsumeReq' }),
  commit: Type.Object(FIELDS.commit, { ...closed, $id: 'CommitReq' }),
  release: Type.Object(FIELDS.release, { ...closed, $id: 'ReleaseReq' }),
  refund: Type.Object(FIELDS.refund, { ...closed, $id: 'RefundReq' }),
  feedback: Type.Object(FIELDS.feedback, { ...closed, $id: 'FeedbackReq' }),
} satisfies Record<SenderOp, TSchema>

const ofEachOp = <T>(make: (fields: TProperties, op: SenderOp) => T) =>
  Object.fromEntries(SENDER_OPS.map(op => [op, make(FIELDS[op], op)])) as Record<SenderOp, T>

/** Each operation inside a batch. */
export const OPERATIONS: Record<SenderOp, TSchema> = ofEachOp((fields, op) =>
  Type.Object({ op: Type.Enum([op]), ...fields }, { ...closed, title: op }),
)

/** The fields of each operation that take `null` for "not given". */
export const OPTIONAL: Record<SenderOp, ReadonlySet<string>> = ofEachOp(
  fields => new Set(Object.keys(fields).filter(name => Type.IsOptional(fields[name]))),
)

/** The fields of a validated body: of these, those of its operation. */
export interface SenderRequest {
  /** Either this or `user_ref`. */
  user_id?: number
  user_ref?: string
  id?: string
  units?: number
  message?: { to: string; text: string }
  country?: string
  recipient?: string
  tag?: string
  message_type?: string
  explain?: boolean
  ttl_seconds?: number
  on_expiry?: 'release' | 'commit'
  allow_partial?: boolean
  total_units?: number
  total_segments?: number
  force?: boolean
  messages?: number
  verified?: true
}

const batchOf = (operation: TSchema) =>
  Type.Object(
    {
      operations: Type.Array(operation, {
        minItems: 1,
        maxItems: MAX_BATCH_OPERATIONS,
        description: 'Operations of the same user take effect in this order.',
      }),
    },
    { ...closed, $id: 'BatchReq', description: 'Independent operations: one that fails does not affect the others.' },
  )

/** Validates a batch as a whole. An invalid operation is answered in its own result and does not stop the others. */
export const BatchReq = batchOf(Type.Unknown())

export const ReservationParams = Type.Object({ user_id: userId, id: reservationId })

/* ── Responses ──────────────────────────────────────────────────────────────────────────────────────────────────── */

const replayed = Type.Boolean({ description: 'Whether this was already done before, so that nothing was taken now.' })
const remaining = nullable(uint(), {
  description:
    'How much the same request could still draw after this response, caps and overage applied; null if unbounded.',
})
const reason = (description: string) => Type.Enum([...DENIAL_REASONS], { description })

/** What a decision adds for a request with `message` or `explain`. */
const onRequest = {
  encoding: Type.Optional(Type.Enum(['GSM-7', 'UCS-2'], { description: 'The encoding of the `message`.' })),
  segments: Type.Optional(
    nullable(uint(), {
      description: 'The segments of the `message`, which are its units unless a rate card prices it.',
    }),
  ),
  country: Type.Optional(
    nullable(Type.String(), { description: "The country of the `message`'s number; null if it has none." }),
  ),
  explain: Type.Optional(
    Type.Array(explanationLine, {
      description:
        'Every unexpired quota of the user, and the 20 that ended last. Absent if `replayed`, since the decision was made earlier.',
    }),
  ),
}
const wouldDeny = {
  would_deny: Type.Optional(reason('In observe mode: the reason for which enforce mode would deny.')),
}

export const Settled = Type.Object(
  { ...reservationFields, ...namedSo, replayed },
  { $id: 'Settled', description: 'The reservation after the operation.' },
)

export const Granted = Type.Object(
  { granted: Type.Literal(true), ...reservationFields, ...namedSo, remaining, replayed, ...wouldDeny, ...onRequest },
  { $id: 'Granted', description: 'The units are reserved, or consumed.' },
)

export const Grantable = Type.Object(
  {
    granted: Type.Literal(true),
    user_id: Type.Optional(
      uint({
        description: 'The user. Absent if the request named one by `user_ref` who is made by the first message.',
      }),
    ),
    ...userNames,
    units: uint(),
    rate: Type.Optional(rate),
    unfunded,
    draws,
    remaining,
    ...wouldDeny,
    ...onRequest,
  },
  { $id: 'Grantable', description: 'The units would be granted now. None are taken.' },
)

export const Denied = Type.Object(
  {
    granted: Type.Literal(false),
    user_id: Type.Optional(
      uint({
        description: 'The user, if the request named one by `user_ref` that exists.',
      }),
    ),
    ...namedSo,
    reason: reason(
      reasonTexts({
        no_quota: 'no live grant matches',
        destination_paused: 'messages to the country are paused',
        cap_reached: 'a cap has no room',
        quota_exhausted: 'the matching grants have too little left',
      }),
    ),
    units: Type.Optional(uint({ description: 'The units that the `message` needs.' })),
    rate: Type.Optional(rate),
    remaining,
    limiting_quota_id: nullable(uint(), {
      description: 'The blocking cap with the lowest id, else the last matching grant.',
    }),
    retry_at: nullable(time(), { description: 'It cannot be granted before; null if waiting alone does not help.' }),
    pause: pauseOfDenial,
    ...onRequest,
  },
  { $id: 'Denied', description: 'A denial is not an error. The same id may ask again.' },
)

export const BatchResult = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        status: Type.Integer({ minimum: 200, maximum: 599 }),
        body: Type.Object({}, { additionalProperties: true, description: 'The response of the single call.' }),
      }),
      { description: 'In the order of the operations.' },
    ),
  },
  { $id: 'BatchResult' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const SENDER_COMPONENTS = {
  CheckReq: REQUESTS.check,
  ReserveReq: REQUESTS.reserve,
  ConsumeReq: REQUESTS.consume,
  CommitReq: REQUESTS.commit,
  ReleaseReq: REQUESTS.release,
  RefundReq: REQUESTS.refund,
  FeedbackReq: REQUESTS.feedback,
  BatchReq: batchOf(Type.Union(SENDER_OPS.map(op => OPERATIONS[op]))),
  Settled,
  Granted,
  Grantable,
  Denied,
  BatchResult,
} satisfies Record<string, TSchema>

export type CheckReq = Static<typeof REQUESTS.check>
export type ReserveReq = Static<typeof REQUESTS.reserve>
export type ConsumeReq = Static<typeof REQUESTS.consume>
export type CommitReq = Static<typeof REQUESTS.commit>
export type ReleaseReq = Static<typeof REQUESTS.release>
export type RefundReq = Static<typeof REQUESTS.refund>
export type FeedbackReq = Static<typeof REQUESTS.feedback>
export type BatchOperation = { [Op in SenderOp]: { op: Op } & Static<(typeof REQUESTS)[Op]> }[SenderOp]
/** The body of a batch as clients write it. */
export type BatchReq = { operations: BatchOperation[] }
export type ReservationParams = Static<typeof ReservationParams>
export type Settled = Static<typeof Settled>
export type Granted = Static<typeof Granted>
export type Grantable = Static<typeof Grantable>
export type Denied = Static<typeof Denied>
/** One result of a batch: `body` is the single call's response, or a problem if `status` is 400 or more. */
export type BatchResult = Static<typeof BatchResult>
