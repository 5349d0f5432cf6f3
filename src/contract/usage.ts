import Type, { type Static, type TSchema } from 'typebox'
import { MAX_INTEGER, MAX_USAGE_INTERVALS, MAX_USAGE_ROWS } from '../domain/bounds.ts'
import { USAGE_GROUPS } from '../domain/usage.ts'
import { nullable, time, uint } from './quotas.ts'

/** The shapes of usage reports: what users sent, gave back and were denied. */

const USAGE_INTERVALS = ['hour', 'day', 'month'] as const

const stretch = {
  from: time({ description: 'Included. On a quarter of an hour, as all usage is kept by.' }),
  to: time({ description: 'Not included. On a quarter of an hour.' }),
}
const report = {
  ...stretch,
  interval: Type.Enum([...USAGE_INTERVALS], {
    description: `A row for each, ${MAX_USAGE_INTERVALS} at most. The first and the last end where the period does.`,
  }),
  time_zone: Type.Optional(
    Type.String({
      format: 'time-zone',
      maxLength: 64,
      default: 'UTC',
      description: 'The IANA time zone whose hours, days and months are meant.',
    }),
  ),
}
const groupBy = <Group extends string>(groups: readonly Group[]) =>
  Type.Optional(
    Type.Enum([...groups], {
      description: `A row for each interval and each that was used in the period, ${MAX_USAGE_ROWS} rows at most.`,
    }),
  )

export const AdminUsageQuery = Type.Object(
  {
    ...report,
    user_id: Type.Optional(uint({ description: "Only this user's; all users' if left out." })),
    group_by: groupBy(USAGE_GROUPS),
  },
  { additionalProperties: false },
)
export const UserUsageQuery = Type.Object(
  { ...report, group_by: groupBy(['quota', 'country', 'message_type'] as const) },
  { additionalProperties: false },
)
export const TopUsersQuery = Type.Object(
  { ...stretch, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })) },
  { additionalProperties: false },
)

const count = (description: string) => Type.Object({ units: uint(), messages: uint() }, { description })
const counts = {
  committed: count('What was committed, at the moment of the commit; a message counts with its first unit.'),
  refunded: count('What came back, at the moment of the refund; not taken off `committed`.'),
  unfunded: count('The part of `committed` that no grant paid for.'),
  denied: count('What was asked for with `reserve` or `consume` and denied. Asked again, it counts again.'),
}

const Usage = Type.Object(
  {
    from: time(),
    to: time(),
    interval: Type.Enum([...USAGE_INTERVALS]),
    time_zone: Type.String(),
    total: Type.Object(counts),
    items: Type.Array(
      Type.Object({
        start: time({ description: 'Included.' }),
        end: time({ description: 'Not included.' }),
        user_id: Type.Optional(uint()),
        quota_id: Type.Optional(
          nullable(Type.Integer({ minimum: 1, maximum: MAX_INTEGER }), {
            description:
              'The grant that paid; null: none did. Caps pay nothing. A message is of the grant that paid first.',
          }),
        ),
        country: Type.Optional(nullable(Type.String())),
        message_type: Type.Optional(nullable(Type.String())),
        ...counts,
      }),
      { description: 'In order of time, without gaps; what they are grouped by is in each row.' },
    ),
  },
  { $id: 'Usage', description: 'What was sent, given back and denied; exact to the last commit, and kept for good.' },
)

const TopUsers = Type.Object(
  {
    from: time(),
    to: time(),
    items: Type.Array(Type.Object({ user_id: uint(), ...counts })),
  },
  { $id: 'TopUsers', description: 'The users with most units committed, the most first.' },
)

export const USAGE_COMPONENTS = { Usage, TopUsers } satisfies Record<string, TSchema>

export type AdminUsageQuery = Static<typeof AdminUsageQuery>
export type TopUsersQuery = Static<typeof TopUsersQuery>
