import Type, { type Static, type TSchema } from 'typebox'
import { MAX_UNITS } from '../domain/basics/bounds.ts'
import {
  closed,
  cursorPageOf,
  cursorQuery,
  IdempotencyHeaders,
  nullable,
  positive,
  text,
  time,
  uint,
  userNames,
} from './schemas.ts'

/** Transfers: units of a grant that became a grant of another user. */

export const TransferHeaders = Type.Object({
  'idempotency-key': Type.With(Type.Required(IdempotencyHeaders).properties['idempotency-key'], {
    description:
      'Names the transfer, or the return. A repeated call with the same key and body, for at least 24 hours, moves nothing more and gets the same response.',
  }),
})

export const TransferParams = Type.Object({ id: positive({ examples: [1042] }) })

const reason = Type.Optional(
  nullable(text(500, { minLength: 1 }), { default: null, description: 'For the histories of both quotas.' }),
)

const units = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_UNITS, description })

export const TransferReq = Type.Object(
  {
    to_user_id: uint({ description: 'Who gets the units. May be the same user.', examples: [8] }),
    units: units('How many units move.'),
    reason,
    expires_at: Type.Optional(
      nullable(time(), {
        default: null,
        description:
          'When the units end for the receiver. By default, and at the latest, when they would have ended for the giver: with the current window of the grant, or at its expiry.',
      }),
    ),
  },
  {
    $id: 'TransferReq',
    ...closed,
    description: 'Units to hand on.',
    examples: [{ to_user_id: 8, units: 500, reason: 'Branch in Lyon' }],
  },
)

export const ReturnReq = Type.Object(
  {
    units: Type.Optional(units('How many units go back. By default all that are neither used nor reserved.')),
    reason,
  },
  { $id: 'ReturnReq', ...closed, description: 'Units to give back.', examples: [{ units: 200 }] },
)

export const TransfersQuery = Type.Object(
  { ...cursorQuery, user_id: Type.Optional(uint({ description: 'Only transfers from or to this user.' })) },
  closed,
)

export const Transfer = Type.Object(
  {
    id: positive(),
    user_id: uint({ description: 'The giver.' }),
    ...userNames,
    quota_id: positive({ description: 'The grant that gave.' }),
    window_start: time({ description: 'The start of the window that the units came from, and go back to.' }),
    to_user_id: nullable(uint(), { description: 'The receiver; null once erased.' }),
    to_user_ref: Type.Optional(
      nullable(Type.String(), {
        description: 'For administrators: the reference of the receiver; null if there is none.',
      }),
    ),
    to_user_name: Type.Optional(
      nullable(Type.String(), { description: 'For administrators: the name of the receiver; null if there is none.' }),
    ),
    to_quota_id: nullable(positive(), {
      description: 'The one-time grant that was made of the units; null once its user was erased.',
    }),
    units: positive({ description: 'Units that moved.' }),
    returned: uint({ description: 'Units of these that were given back.' }),
    reason: nullable(Type.String()),
    expires_at: nullable(time(), { description: 'The end of the grant when it was made; null: never.' }),
    at: time(),
    actor: Type.String({ description: "The `sub` of the administrator's token." }),
  },
  {
    $id: 'Transfer',
    description:
      'Units that changed hands. The giver has them as the reservation `_transfer:{id}`, which is no message and not in usage.',
  },
)

export const TransferAnswer = Type.Object(
  {
    transfer: Type.Ref('Transfer#'),
    quota: Type.Ref('SmsQuota#', { description: 'The grant that gave, as it is now.' }),
  },
  { $id: 'TransferAnswer', description: 'A transfer, and the grant that gave.' },
)

export const TransferPage = cursorPageOf('Transfer', { $id: 'TransferPage', description: 'Transfers, newest first.' })

/** The named schemas of the OpenAPI document, by `$id`. */
export const TRANSFER_COMPONENTS = {
  TransferReq,
  ReturnReq,
  Transfer,
  TransferAnswer,
  TransferPage,
} satisfies Record<string, TSchema>

export type TransferReq = Static<typeof TransferReq>
export type Transfer = Static<typeof Transfer>
