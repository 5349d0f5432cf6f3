import Type, { type Static, type TSchema } from 'typebox'
import { closed, cursorPageOf, cursorQuery, nullable, time, uint } from './schemas.ts'

/** Users: the directory, one user, and the export and the erasure of a user's data. */

export const UserParams = Type.Object({ user_id: uint({ examples: [7] }) })

export const UsersQuery = Type.Object(cursorQuery, closed)

const lastActivity = nullable(time(), {
  description:
    'When the user last reserved or consumed. If that reservation is not kept any more: the quarter of an hour in which the user last sent, refunded or was denied; after five weeks the beginning of that day, later of that month. null: never.',
})

const userEntry = {
  user_id: uint({ examples: [7] }),
  quotas: uint({ description: 'Quotas that are neither deleted nor expired.' }),
  last_activity_at: lastActivity,
}

export const UserEntry = Type.Object(userEntry, {
  $id: 'UserEntry',
  description: 'A user who has, or had, a quota, a reservation or usage.',
})

export const UserPage = cursorPageOf('UserEntry', {
  $id: 'UserPage',
  description:
    'Users, by ascending id: everyone who has, or had, a quota or usage. A user without quotas appears some seconds after the first call for them.',
})

export const Erasure = Type.Object(
  {
    user_id: uint(),
    status: Type.Enum(['running', 'finished'], {
      description: '`running`: the quotas are gone, and the rest is being removed.',
    }),
    requested_at: time(),
    requested_by: Type.String({ description: "The `sub` of the administrator's token." }),
    request_id: Type.String({ description: 'The `X-Request-Id` of the call.' }),
    force: Type.Boolean({ description: 'Whether open reservations were to be released.' }),
    finished_at: nullable(time()),
    removed: Type.Record(Type.String(), uint(), {
      description:
        'How many records were removed so far, by kind. Events are counted too: they keep only their number.',
    }),
  },
  { $id: 'Erasure', description: "The erasure of a user's data. This record stays." },
)

export const User = Type.Object(
  {
    user_id: uint(),
    quotas: Type.Object(
      { unexpired: uint(), expired: uint(), deleted: uint() },
      { description: 'How many quotas the user has. Deleted ones are not counted as expired.' },
    ),
    last_activity_at: lastActivity,
    erasure: nullable(Type.Ref('Erasure#'), { description: 'The erasure that is under way.' }),
  },
  { $id: 'User', description: 'A user that the service has data of.' },
)

export const EraseQuery = Type.Object(
  {
    force: Type.Optional(
      Type.Enum(['true', 'false'], {
        default: 'false',
        description: 'Whether to release open reservations. If not, a user who has some is refused.',
      }),
    ),
  },
  closed,
)

export const ExportRecord = Type.Object(
  {
    record: Type.Enum([
      'export',
      'quota',
      'quota_window',
      'quota_change',
      'reservation',
      'denial',
      'usage',
      'usage_day',
      'usage_month',
      'event',
      'transfer',
      'principal_name',
      'end',
    ]),
  },
  {
    $id: 'ExportRecord',
    additionalProperties: true,
    description:
      'A line of an export. `record` names its kind; the other fields are those that the API shows. `export` begins it, with `user_id` and `as_of`. `quota` is an `SmsQuota`, also a deleted one, with `deleted_at`; its past windows and changes follow it as `quota_window` (`QuotaWindow`) and `quota_change` (`QuotaChange`), each with `quota_id`. `reservation` is a `ReservationRecord`, newest first. `denial` is a `DenialDetail`, with the quotas that were explained when it was logged. `usage` is the usage of a quarter of an hour from `start`, by grant, country and message type; `usage_day` and `usage_month` are that of a day or month into which older usage was compacted. No usage is in two of them. `event` is an `Event`. `transfer` is a `Transfer` from or to the user. `principal_name` is a `PrincipalName` that a token of the user had while it had a role, with `seen_at`. `end` is the last line and has the number of `records` between: an export without it is incomplete.',
  },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const USER_COMPONENTS = { UserEntry, UserPage, Erasure, User, ExportRecord } satisfies Record<string, TSchema>

export type UsersQuery = Static<typeof UsersQuery>
export type UserEntry = Static<typeof UserEntry>
export type UserPage = Static<typeof UserPage, { 'UserEntry#': typeof UserEntry }>
export type Erasure = Static<typeof Erasure>
export type User = Static<typeof User, { 'Erasure#': typeof Erasure }>
export type ExportRecord = Static<typeof ExportRecord> & Record<string, unknown>
