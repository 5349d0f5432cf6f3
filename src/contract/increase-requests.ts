import Type, { type Static, type TSchema } from 'typebox'
import { MAX_OPEN_REQUESTS, MAX_UNITS } from '../domain/basics/bounds.ts'
import { REQUEST_STATUSES } from '../domain/quotas/increase-request.ts'
import { closed, cursorPageOf, cursorQuery, nullable, positive, text, time, uint, userNames } from './schemas.ts'

/** Increase requests: users ask for more units, administrators decide. */

const units = Type.Integer({ minimum: 1, maximum: MAX_UNITS, description: 'How many units more.', examples: [500] })
const until = nullable(time(), {
  description:
    'When the units end. Until then they are a grant of their own, beside the one that gets them. null: for good, the limit of that grant is raised.',
})
const reason = text(500, { minLength: 1, description: 'What the units are for.', examples: ['Sale in April'] })
const note = nullable(text(500, { minLength: 1 }), { description: 'What the user reads about the decision.' })
const status = Type.Enum([...REQUEST_STATUSES], {
  description: '`open`: not decided. `withdrawn`: the user took it back.',
})

export const IncreaseReq = Type.Object(
  {
    units,
    until: Type.Optional(Type.With(until, { default: null })),
    reason,
    quota_id: Type.Optional(
      nullable(positive(), {
        default: null,
        description:
          'The grant that is to get the units: a live one of the user with a limit. Omitted: the one that pays first.',
      }),
    ),
  },
  {
    $id: 'IncreaseReq',
    ...closed,
    description: 'More units to ask for.',
    examples: [{ units: 500, until: '2027-05-01T00:00:00.000Z', reason: 'Sale in April' }],
  },
)

export const IncreaseForUserReq = Type.Object(
  { user_id: uint({ description: 'Who is to get them.' }), ...IncreaseReq.properties },
  {
    $id: 'IncreaseForUserReq',
    ...closed,
    description: 'More units to ask for a user.',
    examples: [{ user_id: 7, units: 5_000, until: '2027-05-01T00:00:00.000Z', reason: 'Sale in April' }],
  },
)

export const ApproveReq = Type.Object(
  {
    units: Type.Optional(Type.With(units, { description: 'Omitted: as many as were asked for.' })),
    until: Type.Optional(
      Type.With(until, {
        description: 'When the units end; null: never, the limit of the grant is raised. Omitted: as it was asked for.',
      }),
    ),
    note: Type.Optional(Type.With(note, { default: null })),
  },
  {
    $id: 'ApproveReq',
    ...closed,
    description: 'What is given; all that is omitted is given as it was asked for.',
    examples: [{ units: 300, note: 'For the first week.' }],
  },
)

export const DeclineReq = Type.Object(
  { note: Type.Optional(Type.With(note, { default: null })) },
  {
    $id: 'DeclineReq',
    ...closed,
    description: 'Why nothing is given.',
    examples: [{ note: 'Please order a larger package.' }],
  },
)

export const IncreaseRequest = Type.Object(
  {
    id: positive(),
    user_id: uint({ description: 'Who asked.' }),
    ...userNames,
    quota_id: positive({ description: 'The grant that is to get the units.' }),
    units,
    until,
    reason,
    status,
    created_at: time(),
    decided_at: nullable(time(), {
      description: 'When it was approved, declined or withdrawn; null while it is open.',
    }),
    decided_by: nullable(Type.String(), {
      description:
        'The `sub` of the token that decided; `sms-quota` if the service approved it. null while it is open, and for users.',
    }),
    note,
    granted: nullable(
      Type.Object({
        quota_id: positive({
          description: 'The grant that has the units: a new one, or the one whose limit was raised.',
        }),
        units,
        until: nullable(time()),
      }),
      { description: 'What was given; null unless it was approved.', examples: [null] },
    ),
  },
  { $id: 'IncreaseRequest', description: "A user's request for more units, and how it was decided." },
)

export const IncreaseRequestParams = Type.Object({ id: positive() })

export const MyIncreaseRequestsQuery = Type.Object(cursorQuery, closed)

export const IncreaseRequestsQuery = Type.Object(
  {
    ...cursorQuery,
    user_id: Type.Optional(uint({ description: 'Only requests of this user.' })),
    status: Type.Optional(Type.With(status, { description: 'Only requests that are so now.' })),
  },
  closed,
)

export const IncreaseRequestPage = cursorPageOf('IncreaseRequest', {
  $id: 'IncreaseRequestPage',
  description: `Increase requests, newest first. At most ${MAX_OPEN_REQUESTS} of a user are open. Decided ones are kept as long as the audit.`,
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const INCREASE_REQUEST_COMPONENTS = {
  IncreaseReq,
  IncreaseForUserReq,
  ApproveReq,
  DeclineReq,
  IncreaseRequest,
  IncreaseRequestPage,
} satisfies Record<string, TSchema>

export type IncreaseReq = Static<typeof IncreaseReq>
export type IncreaseRequest = Static<typeof IncreaseRequest>
export type IncreaseRequestsQuery = Static<typeof IncreaseRequestsQuery>
