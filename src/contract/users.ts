import Type, { type Static, type TSchema } from 'typebox'
import {
  closed,
  cursorPageOf,
  cursorQuery,
  nullable,
  patterned,
  positive,
  text,
  time,
  timeZone,
  uint,
  userNames,
  userRef,
} from './schemas.ts'

/** Users: the directory, one user with what another system calls it, and the export and the erasure of a user's data. */

export const UserParams = Type.Object({ user_id: uint({ examples: [7] }) })

export const UsersQuery = Type.Object(cursorQuery, closed)

const lastActivity = nullable(time(), {
  description:
    'When the user last reserved or consumed. If that reservation is not kept any more: the quarter of an hour in which the user last sent, refunded or was denied; after five weeks the beginning of that day, later of that month. null: never.',
})

const userEntry = {
  user_id: uint({ examples: [7] }),
  ...userNames,
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
    ...userNames,
    quotas: Type.Object(
      { unexpired: uint(), expired: uint(), deleted: uint() },
      { description: 'How many quotas the user has. Deleted ones are not counted as expired.' },
    ),
    last_activity_at: lastActivity,
    erasure: nullable(Type.Ref('Erasure#'), { description: 'The erasure that is under way.' }),
  },
  { $id: 'User', description: 'A user that the service has data of.' },
)

const profileFields = {
  ref: nullable(userRef({ format: 'identifier' }), {
    description:
      'What your system calls the user, such as a UUID or the number of an account. Unique among all users, and immutable once set.',
    examples: ['customer-1042'],
  }),
  name: nullable(text(120, { minLength: 1 }), { description: 'What people call the user.', examples: ['Example Ltd'] }),
  email: nullable(patterned('email', { format: 'identifier' }), {
    description:
      'For your own systems. The service writes to a user only at an address that the user confirms (`/api/sms/quota/notifications`), and offers this one for it.',
    examples: [null],
  }),
  language: nullable(patterned('language'), { description: 'The language of messages.', examples: ['en'] }),
  time_zone: nullable(timeZone(), {
    description: 'The time zone of times that people read.',
    examples: ['Europe/Berlin'],
  }),
  rate_card_id: nullable(positive(), {
    description: 'The rate card that was negotiated with the user. null: that of the plan, else the default one.',
    examples: [null],
  }),
}

export const ProfileReq = Type.Object(
  Object.fromEntries(Object.entries(profileFields).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [Name in keyof typeof profileFields]: ReturnType<typeof Type.Optional<(typeof profileFields)[Name]>>
  },
  { ...closed, $id: 'ProfileReq', description: 'Fields that are left out stay as they are; null clears one.' },
)

export const UserProfile = Type.Object(
  {
    user_id: uint({ examples: [7] }),
    ...profileFields,
    version: uint({ description: 'Numbers the changes, from 1; 0: nothing was ever set.' }),
    updated_at: nullable(time()),
    updated_by: nullable(Type.String(), { description: "The `sub` of the administrator's token." }),
  },
  {
    $id: 'UserProfile',
    description: 'What another system knows of a user: the reference, and how to address a person.',
  },
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
      'pause',
      'increase_request',
      'principal_name',
      'user_profile',
      'profile_change',
      'user_address',
      'user_address_change',
      'end',
    ]),
  },
  {
    $id: 'ExportRecord',
    additionalProperties: true,
    description:
      'A line of an export. `record` names its kind; the other fields are those that the API shows. `export` begins it, with `user_id` and `as_of`. `quota` is an `SmsQuota`, also a deleted one, with `deleted_at`; its past windows and changes follow it as `quota_window` (`QuotaWindow`) and `quota_change` (`QuotaChange`), each with `quota_id`. `reservation` is a `ReservationRecord`, newest first. `denial` is a `DenialDetail`, with the quotas that were explained when it was logged. `usage` is the usage of a quarter of an hour from `start`, by grant, country and message type; `usage_day` and `usage_month` are that of a day or month into which older usage was compacted. No usage is in two of them. `event` is an `Event`. `transfer` is a `Transfer` from or to the user. `pause` is a `Pause` of the user, also one that is over. `increase_request` is an `IncreaseRequest`. `principal_name` is a `PrincipalName` that a token of the user had while it had a role, with `seen_at`. `user_profile` is a `UserProfile`, if anything was set; its changes follow as `profile_change`, each as it is in the audit. `user_address` is a `Notifications` without `profile_email`, if an address was ever set; its changes follow as `user_address_change`. `end` is the last line and has the number of `records` between: an export without it is incomplete.',
  },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const USER_COMPONENTS = {
  UserEntry,
  UserPage,
  Erasure,
  User,
  ProfileReq,
  UserProfile,
  ExportRecord,
} satisfies Record<string, TSchema>

export type UsersQuery = Static<typeof UsersQuery>
export type UserEntry = Static<typeof UserEntry>
export type UserPage = Static<typeof UserPage, { 'UserEntry#': typeof UserEntry }>
export type Erasure = Static<typeof Erasure>
export type User = Static<typeof User, { 'Erasure#': typeof Erasure }>
export type ProfileReq = Static<typeof ProfileReq>
export type UserProfile = Static<typeof UserProfile>
export type ExportRecord = Static<typeof ExportRecord> & Record<string, unknown>
