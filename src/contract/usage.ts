import Type, { type Static, type TSchema } from 'typebox'
import {
  MAX_USAGE_INTERVALS,
  MAX_USAGE_READ,
  MAX_USAGE_ROWS,
  USAGE_DAYS_KEPT,
  USAGE_DETAIL_DAYS,
} from '../domain/basics/bounds.ts'
import type { DenialReason } from '../domain/units/reservation.ts'
import { USAGE_GROUPS } from '../domain/units/usage.ts'
import { closed, country, messageType, nullable, positive, time, timeZone, uint, userNames } from './schemas.ts'

/** Usage reports: what users sent, gave back and were denied. */

const USAGE_INTERVALS = ['hour', 'day', 'week', 'month'] as const

const period = {
  from: time({
    description:
      'Inclusive. Rounded down to a quarter of an hour, the resolution of all usage; the answer says what was read.',
  }),
  to: time({ description: 'Exclusive. Rounded up to a quarter of an hour.' }),
}
const filters = {
  country: Type.Optional(country({ description: 'Only messages to this country.' })),
  message_type: Type.Optional(messageType({ description: 'Only messages of this type.' })),
}
const report = {
  ...period,
  ...filters,
  interval: Type.Enum([...USAGE_INTERVALS], {
    description: `One row per interval, at most ${MAX_USAGE_INTERVALS}. The first begins and the last ends with the period.`,
  }),
  time_zone: Type.Optional(
    timeZone({
      default: 'UTC',
      description: 'The IANA time zone in which hours, days, weeks (on Monday) and months begin.',
    }),
  ),
}
const groupBy = <Group extends string>(groups: readonly Group[], more = '') =>
  Type.Optional(
    Type.Enum([...groups], {
      description: `One row per interval and value that occurs in the period, at most ${MAX_USAGE_ROWS} rows.${more}`,
    }),
  )

export const AdminUsageQuery = Type.Object(
  {
    ...report,
    user_id: Type.Optional(uint({ description: "Only this user's usage; omitted: the usage of all users." })),
    group_by: groupBy(
      USAGE_GROUPS,
      ` Without a \`user_id\`, the report reads ${MAX_USAGE_READ} stored rows at most if it is by \`user\` or \`quota\` or concerns both a country and a message type, and is refused beyond: ask for a shorter period, or for the top users. By \`sender\` without a \`user_id\`, \`country\` and \`message_type\` only: usage by sender is counted of all together.`,
    ),
  },
  closed,
)
export const UserUsageQuery = Type.Object(
  { ...report, group_by: groupBy(['quota', 'country', 'message_type'] as const) },
  closed,
)
export const TopUsersQuery = Type.Object(
  { ...period, ...filters, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })) },
  closed,
)

/** The period that a report has read. */
const read = {
  from: time({ description: 'What was read, inclusive: on a quarter of an hour.' }),
  to: time({ description: 'What was read, exclusive: on a quarter of an hour.' }),
  rounded: Type.Boolean({
    description:
      'Whether that is more than what was asked for: `from` or `to` of the query was not on a quarter of an hour.',
  }),
}
const count = (description: string) => Type.Object({ units: uint(), messages: uint() }, { description })
/** What an interval shows of usage that was compacted. */
const exact = Type.Boolean({
  description: `False: it begins or ends within a day or month that was compacted, which counts where it begins. Usage is kept by the quarter of an hour for ${USAGE_DETAIL_DAYS} days, by the day for ${USAGE_DAYS_KEPT} days, and then by the month, of the time zone USAGE_TIME_ZONE.`,
})

/** What users sent, gave back and were denied. */
export const counts = {
  committed: count('Committed, at the time of the commit. A message counts with its first unit.'),
  committed_segments: uint({
    description: 'Segments of committed messages that a rate card has priced. Of others the units say it.',
  }),
  verified_messages: uint({
    description: 'Messages whose code was entered, at the time of the feedback. Each reservation counts once.',
  }),
  refunded: count('Given back, at the time of the refund. Not subtracted from `committed`.'),
  unfunded: count('The part of `committed` that no grant paid for.'),
  denied: count('Asked for with `reserve` or `consume` and denied. Each attempt counts.'),
  denied_by_reason: Type.Object(
    {
      no_quota: count('No live grant matched.'),
      destination_paused: count('The destination was paused.'),
      cap_reached: count('A cap had no room.'),
      quota_exhausted: count('The grants had too few units.'),
    } satisfies Record<DenialReason, TSchema>,
    { description: 'The parts of `denied`. They add up to less where denials are from before reasons were recorded.' },
  ),
}

export const Usage = Type.Object(
  {
    ...read,
    interval: Type.Enum([...USAGE_INTERVALS]),
    time_zone: Type.String(),
    exact,
    total: Type.Object(counts),
    items: Type.Array(
      Type.Object({
        start: time({ description: 'Inclusive.' }),
        end: time({ description: 'Exclusive.' }),
        exact,
        user_id: Type.Optional(uint()),
        ...userNames,
        quota_id: Type.Optional(
          nullable(positive(), {
            description:
              'The grant that paid; null if none did. Caps do not pay. A message belongs to the grant that pays its first unit.',
          }),
        ),
        country: Type.Optional(nullable(Type.String())),
        message_type: Type.Optional(nullable(Type.String())),
        sender: Type.Optional(
          nullable(Type.String(), {
            description:
              'The subject of the token whose call committed or refunded the units, or was denied. Null: the service itself, whose reservations were committed on expiry; usage from before it was counted by sender; and senders beyond the 100,000 that are named.',
          }),
        ),
        ...counts,
      }),
      { description: 'In order of time, without gaps. With `group_by`, each row has the field that it groups by.' },
    ),
  },
  {
    $id: 'Usage',
    description: 'Units and messages sent, given back and denied. Includes every commit so far; kept forever.',
  },
)

export const TopUsers = Type.Object(
  {
    ...read,
    exact,
    complete: Type.Boolean({
      description: 'Whether it is proven that no user who is missing committed more units than the last one listed.',
    }),
    unlisted_up_to: uint({ description: 'No user who is missing committed more units than this.' }),
    items: Type.Array(Type.Object({ user_id: uint(), ...userNames, ...counts })),
  },
  {
    $id: 'TopUsers',
    description:
      'The users with the most committed units, or the most to a destination, in descending order. The counts of each are exact to the last commit. With very many active users of similar use, some who belong here can be missing: see `complete`.',
  },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const USAGE_COMPONENTS = { Usage, TopUsers } satisfies Record<string, TSchema>

export type AdminUsageQuery = Static<typeof AdminUsageQuery>
export type UserUsageQuery = Static<typeof UserUsageQuery>
export type TopUsersQuery = Static<typeof TopUsersQuery>
export type Usage = Static<typeof Usage>
export type TopUsers = Static<typeof TopUsers>
