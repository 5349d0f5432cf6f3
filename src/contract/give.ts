import Type, { type Static, type TSchema } from 'typebox'
import { MAX_BULK_IDS, MAX_UNITS } from '../domain/basics/bounds.ts'
import { LEFT_OUT_REASONS, UNTIL } from '../domain/forecasts/gift.ts'
import { AdjustReq, extraName } from './adjust.ts'
import { BEGIN, dryRunQuery, manyRecords } from './many.ts'
import { CreateQuotaReq, SmsQuota } from './quotas.ts'
import { closed, nullable, positive, time, timeZone, uint } from './schemas.ts'

/** More units for many users: a bulk change that finds the grant of each, answered as newline-delimited JSON. */

export const GiveQuery = dryRunQuery('Whether to only report what each user would get.')

const units = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_UNITS, description })

export const GiveReq = Type.Object(
  {
    users: Type.Array(
      Type.Object(
        { user_id: uint(), units: Type.Optional(units('For this user. Without it, the `units` of all.')) },
        closed,
      ),
      { minItems: 1, maxItems: MAX_BULK_IDS, description: 'Who gets units, each user once.' },
    ),
    units: Type.Optional(units('For each user without units of its own.')),
    period: Type.With(Type.Required(Type.Pick(CreateQuotaReq, ['period'])).properties.period, {
      description:
        'Which grant of each user gets the units: the one with this period, null for a one-time grant. If a user has several, the one that pays first.',
    }),
    until: Type.Optional(
      Type.Enum([...UNTIL], {
        default: 'window_end',
        description:
          'When the units end. `window_end`: with the current window of the grant, or with a one-time grant; `month_end`: with the calendar month, for one-time grants only. These units are a grant of their own for the same messages, given once for the same reason in each window or month. `for_good`: never, for grants with a period only; the limit is raised in every window, by each call.',
      }),
    ),
    time_zone: Type.Optional(
      timeZone({
        description:
          'Where the calendar month ends. By default in the time zone of most monthly grants of the users; without any, in UTC.',
      }),
    ),
    reason: AdjustReq.properties.reason,
    again: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Also gives to users who have other extra units of the grant until the same end.',
      }),
    ),
    name: extraName,
  },
  {
    $id: 'GiveReq',
    ...closed,
    description: 'More units for many users.',
    examples: [
      { users: [{ user_id: 7 }, { user_id: 8, units: 200 }], units: 500, period: 'month', reason: 'Outage in March' },
    ],
  },
)

const { id, user_id, name, kind, period, limit, metadata, status, created_at } = SmsQuota.properties

export const GiftQuota = Type.Object(
  { id, user_id, name, kind, period, limit, metadata, status, created_at },
  { $id: 'GiftQuota', description: 'What a record of a gift shows of a quota.' },
)

const quota = Type.Ref('GiftQuota#')
const end = nullable(time(), { description: 'When the units end; null for never.' })
const reference = nullable(Type.String(), {
  description:
    'The `external_ref` of the new grant, the same for the same gift; null if the limit of the grant is raised instead.',
})

export const GiftNote = Type.Union(
  [
    Type.Object(
      { note: Type.Literal('several') },
      { description: 'Several grants fit. The one that pays first gets the units.' },
    ),
    Type.Object(
      { note: Type.Literal('has_extra'), extra: quota },
      { description: 'The user has extra units already, and the limit is raised in addition.' },
    ),
    Type.Object(
      {
        note: Type.Literal('cap'),
        cap: quota,
        reached: Type.Boolean({ description: 'Whether nothing can be sent under it now.' }),
        capacity: nullable(uint(), {
          description: 'About how many units of all grants it lets pass before the added ones end; null: any number.',
        }),
        ending: nullable(uint(), {
          description: 'How many units that end by then the user has without the added ones; null: unlimited.',
        }),
        usable: uint({ description: 'How many of the added units can be sent in addition, at most.' }),
      },
      { description: 'A cap keeps the user from sending some of the units.' },
    ),
  ],
  { $id: 'GiftNote', description: 'What to know about a user who gets units.' },
)

export const Gift = Type.Object(
  {
    quota,
    units: positive(),
    until: end,
    time_zone: Type.String({ description: 'Where the units end at midnight.' }),
    month_end: Type.Boolean({ description: 'Whether the units end with the calendar month, not with the grant.' }),
    reference,
    earlier: Type.Array(quota, {
      description:
        'Grants of other extra units that the user has until the same end; of a one-time grant all. With `again` only.',
    }),
    notes: Type.Array(Type.Ref('GiftNote#')),
    usable: nullable(uint(), {
      description: 'How many of the units caps let the user send at most; null if none is in the way.',
    }),
  },
  { $id: 'Gift', description: 'What a user gets. `quota` is the grant that gets the units.' },
)

const counts = {
  given: uint({ description: 'Users who got units by this call; in a dry run, who would.' }),
  given_before: uint({ description: 'Users who got them by an earlier call with the same key.' }),
  left_out: uint({ description: 'Users who get none.' }),
  failed: uint({ description: 'Users whose units were refused.' }),
}

export const GiveRecord = manyRecords('GiveRecord', {
  counts,
  at: {},
  failed: { user_id },
  refused: 'A user whose units were refused; the others are not affected.',
  others: [
    BEGIN,
    Type.Object(
      { record: Type.Literal('given'), user_id, gift: Type.Ref('Gift#') },
      { description: 'A user who has got units, or in a dry run would get them.' },
    ),
    Type.Object(
      {
        record: Type.Literal('given_before'),
        user_id,
        quota_id: positive({ description: 'The grant that got the units.' }),
        units: uint(),
        until: end,
        reference,
      },
      { description: 'A user who got the units by an earlier call with the same key.' },
    ),
    Type.Object(
      {
        record: Type.Literal('left_out'),
        user_id,
        reason: Type.Enum([...LEFT_OUT_REASONS], {
          description:
            '`no_quota`, `only_caps`: the user has no grant. `unlimited`: the grant needs no units. `not_live`: it is suspended, has not begun or has ended. `only_one_time`, `other_period`: it has another period than the asked one, or none. `had_before`: the user got these units for this reason. `got_others`: the user got other units until the same end, and `again` is false.',
        }),
        quota: nullable(quota, { description: 'The grant that does not fit, or the one that gave units before.' }),
        offer: nullable(Type.Ref('Gift#'), {
          description: 'What the user would get with the period of that grant; null if nothing.',
        }),
      },
      { description: 'A user who gets nothing, and why.' },
    ),
  ],
  again: 'Repeat the call with the same key.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const GIVE_COMPONENTS = { GiveReq, GiftQuota, GiftNote, Gift, GiveRecord } satisfies Record<string, TSchema>

type Refs = {
  'GiftQuota#': typeof GiftQuota
  'GiftNote#': typeof GiftNote
  'Gift#': typeof Gift
}
export type GiveReq = Static<typeof GiveReq>
export type GiveRecord = Static<typeof GiveRecord, Refs>
