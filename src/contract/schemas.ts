import Type, { type TSchema } from 'typebox'
import {
  DEFAULT_PAGE_SIZE,
  MAX_CAPS_PER_VALUE,
  MAX_INTEGER,
  MAX_PAGE_SIZE,
  MAX_UNITS,
} from '../domain/basics/bounds.ts'
import { COUNTED_VALUES, COUNTS } from '../domain/quotas/quota-settings.ts'
import { PERIODS } from '../domain/time/period.ts'
import { PATTERNS } from './patterns.ts'

/** Schemas that several resources share. */

export const nullable = <T extends TSchema>(schema: T, options = {}) => Type.Union([schema, Type.Null()], options)

/** An integer from 0 that every JSON reader can represent exactly. */
export const uint = (options = {}) => Type.Integer({ minimum: 0, maximum: MAX_INTEGER, ...options })

/** A number of units that a request may name. */
export const units = (options = {}) => Type.Integer({ minimum: 0, maximum: MAX_UNITS, ...options })

/** An integer from 1 that every JSON reader can represent exactly, such as an id. */
export const positive = (options = {}) => Type.Integer({ minimum: 1, maximum: MAX_INTEGER, ...options })

/** An RFC 3339 timestamp. */
export const time = (options = {}) => Type.String({ format: 'date-time', ...options })

/** An RFC 3339 timestamp, or a day or a time without an offset. */
export const localTime = (options = {}) => Type.String({ format: 'local-time', ...options })

/** Text that the database can store. */
export const text = (maxLength: number, options = {}) => Type.String({ format: 'text', maxLength, ...options })

/** Text that tells things apart: none looks like another one that has invisible characters, or blanks around it. */
export const identifier = (maxLength: number, options = {}) => text(maxLength, { format: 'identifier', ...options })

/** A text of which the table of patterns says what it looks like. */
export const patterned = (name: keyof typeof PATTERNS, options = {}) =>
  Type.String({ pattern: PATTERNS[name].pattern, ...options })

/** An ISO 3166 alpha-2 code, or 001. */
export const country = (options = {}) => Type.String({ format: 'country', minLength: 2, maxLength: 3, ...options })

export const messageType = (options = {}) => patterned('messageType', options)

/** What names a user in place of an id. */
export const userRef = (options = {}) => patterned('userRef', { format: 'text', ...options })

/**
 * An object that names a user by id, as the document shows it: a reference may stand in place of the id. What validates it comes behind
 * the door that puts the id there.
 */
export function withUserRef(schema: { properties?: Record<string, object>; required?: string[] }): TSchema {
  const { properties = {}, required = [] } = schema
  const reference = userRef({ description: 'Instead of `user_id`: the reference of the user.' })
  const fields = Object.entries(properties).flatMap(([name, field]) =>
    name === 'user_id'
      ? [
          [name, field],
          ['user_ref', reference],
        ]
      : [[name, field]],
  )
  return { ...schema, properties: Object.fromEntries(fields), required: required.filter(name => name !== 'user_id') }
}

/** Beside the id of a user, in what administrators read. */
export const userNames = {
  user_ref: Type.Optional(
    nullable(Type.String(), { description: 'For administrators: the reference of the user; null if there is none.' }),
  ),
  user_name: Type.Optional(
    nullable(Type.String(), { description: 'For administrators: the name of the user; null if there is none.' }),
  ),
}

export const timeZone = (options = {}) => Type.String({ format: 'time-zone', maxLength: 64, ...options })

/** An object that refuses unknown fields. */
export const closed = { additionalProperties: false }

/** Routes without query parameters refuse all parameters, so that a misspelled one is never ignored. */
export const NoQuery = Type.Object({}, closed)

/** Headers of calls that take effect once. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    patterned('idempotencyKey', {
      description: 'Makes the call safe to repeat: for at least 24 hours, the same key and body get the same response.',
    }),
  ),
})

/** How long the windows of a quota are, and where they begin. */
export const period = nullable(Type.Enum([...PERIODS]), {
  description:
    'The length of a window. null: one window, from `starts_at` to `expires_at`. Otherwise the counters reset at each calendar boundary in `time_zone`. Weeks begin on Monday, months and years where `anchor` says. `minute` is only for a cap with `per`.',
})
export const ANCHOR =
  'Where the windows begin. For the period `month` a day from "1" to "31", the last day where a month is shorter; for `year` a month and a day, such as "04-01" ("02-29" is 28 February in other years). null: on the first, on 1 January. Only for these periods.'
export const anchor = nullable(patterned('anchor'), { description: ANCHOR, examples: ['15'] })

/** What a cap counts, and by which values. */
export const per = nullable(Type.Enum([...COUNTED_VALUES]), {
  description: `Only for a cap with a period: its \`limit\` holds for each recipient, country or tag by itself; null: for all together. A request that does not name the value does not match the cap. Values are stored as keyed hashes only. A user has at most ${MAX_CAPS_PER_VALUE} such caps that are neither deleted nor expired. \`recipient\` and \`tag\` need the setting SECRETS_KEY beside an external database.`,
})
export const counts = Type.Enum([...COUNTS], {
  description:
    'What the quota counts. A grant counts units. A cap can count messages: a reservation counts one, or its `messages`, until all of its units have been given back. Default: `messages` if `per` is given, else `units`.',
})

/** The plan that a user has got. */
export const givenPlan = {
  id: positive(),
  name: Type.String({ description: 'As it was when this version was given.' }),
  version: positive({ description: 'The version of the plan that was given last.' }),
}

export const planOfQuota = nullable(
  Type.Object({
    ...givenPlan,
    slot: Type.String({ description: 'What the quota is called in the plan.', examples: ['monthly'] }),
  }),
  {
    description: "The plan that the quota is of; null: it is the user's own, or of no plan any more.",
    examples: [null],
  },
)

/** Query parameters of a list that is read by cursor only. */
export const cursorQuery = {
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
  cursor: Type.Optional(
    patterned('cursor', { description: '`next_cursor` of the previous page. It fixes the filters.' }),
  ),
}

export const nextCursor = nullable(Type.String(), {
  description: 'The `cursor` of the next page; null on the last page.',
})

const pageFields = <const Item extends string>(item: Item) => ({
  items: Type.Array(Type.Ref(`${item}#` as const)),
  page_size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE }),
  next_cursor: nextCursor,
})

/** A page of a list that is read by cursor only. Such lists have neither page numbers nor totals. */
export const cursorPageOf = <const Item extends string>(item: Item, options: { $id: string; description: string }) =>
  Type.Object(pageFields(item), options)

/** A page of such a list, newest first, for which a bounded number of rows is read. */
export const scannedPageOf = <const Item extends string>(item: Item, options: { $id: string; description: string }) =>
  Type.Object(
    {
      ...pageFields(item),
      scanned_until: nullable(time(), {
        description:
          'How far back the list was read: all that is newer is on this page or on those before. null: to its end.',
      }),
    },
    options,
  )
