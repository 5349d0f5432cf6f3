import Type, { type Static, type TSchema } from 'typebox'
import { namedValues } from '../domain/basics/named-values.ts'
import { EXPORTED_ONLY } from '../domain/quotas/quota-file.ts'
import { dryRunQuery, FIRST_LISTED, manyRecords } from './many.ts'
import { CreateQuotaReq, SmsQuota, UpdateQuotaReq } from './quotas.ts'
import { closed, identifier, localTime, nullable, positive, text, uint, userRef } from './schemas.ts'

/** The import of quotas: newline-delimited JSON in both directions. */

export const ImportQuery = dryRunQuery(
  'Whether to only report what would change. Rows are compared with what is stored now, and with what the first 10,000 earlier rows that change something would make of it. Users that the import would make (`AUTO_USERS`) count as made.',
)

const { user_id, limit, external_ref: _, ...optional } = CreateQuotaReq.properties

/** What an export has besides: an import takes it and sets nothing. */
const exported = Type.Object(
  namedValues<Pick<typeof SmsQuota.properties, (typeof EXPORTED_ONLY)[number]>>(
    EXPORTED_ONLY,
    name => SmsQuota.properties[name],
  ),
)

const id = positive({
  description:
    "The user's quota to update. Without it, the quota with this `external_ref` is updated, and created if there is none.",
})

const LOCAL =
  'RFC 3339; a day, or a time without an offset, is in the `time_zone` of the row, or else of the quota that it updates, or else in UTC.'

/** The id of a plan, or its name. */
const planToGive = Type.Union([positive(), text(120, { minLength: 1 })])

export const ImportRow = Type.Object(
  {
    id: Type.Optional(id),
    user_id: Type.Optional(user_id),
    user_ref: Type.Optional(
      nullable(userRef(), {
        description:
          'The reference of the user, in place of `user_id`. If both are given, as in an export, they must name the same user. With `AUTO_USERS=true`, a row without `user_id` makes the user of a new reference.',
      }),
    ),
    limit: Type.Optional(limit),
    ...optional,
    starts_at: Type.Optional(localTime({ description: `Inclusive. ${LOCAL} Cannot change once it is reached.` })),
    expires_at: Type.Optional(nullable(localTime(), { description: `Exclusive. ${LOCAL}` })),
    external_ref: Type.Optional(
      nullable(identifier(120, { minLength: 1 }), {
        description:
          "Your own reference, unique among the user's undeleted quotas. A row without an `id` needs it: the quota that has it is updated, otherwise one is created. So an import can be repeated.",
      }),
    ),
    allow_below_usage: Type.Optional(UpdateQuotaReq.properties.allow_below_usage),
    plan: Type.Optional(
      Type.Union([...planToGive.anyOf, ...SmsQuota.properties.plan.anyOf], {
        description:
          'The id of a plan, or the name of one that is not archived: the row gives the user its current version, and has no field of a quota. What an export has is ignored.',
      }),
    ),
    ...Type.Partial(exported).properties,
  },
  {
    $id: 'ImportRow',
    ...closed,
    description:
      'A quota to update by its `id`, or by its `external_ref` to create or to update. Updates merge: omitted fields keep their value. A row without an `id` needs `external_ref` and `limit`. A row with the id or the name of a `plan` gives the user that plan instead. `opening_used` counts only when the quota is created. What else an export has is accepted and ignored, so what it writes can be imported.',
    examples: [{ user_id: 7, external_ref: 'K-1042', limit: 1000, period: 'month', time_zone: 'Europe/Berlin' }],
  },
)

/** A row that gives the user a plan. */
export const ImportRowOfPlan = Type.Object(
  { ...Type.Pick(ImportRow, ['user_id', 'user_ref', 'user_name']).properties, plan: planToGive },
  closed,
)

/** A row that names no `id`. */
export const ImportRowByReference = Type.Object(
  { ...ImportRow.properties, limit, external_ref: identifier(120, { minLength: 1 }) },
  closed,
)

const counts = {
  created: uint(),
  updated: uint(),
  unchanged: uint(),
  failed: uint({ description: 'Rows that were refused.' }),
}

export const ImportRecord = manyRecords('ImportRecord', {
  counts,
  at: { line: uint({ description: 'All rows up to this line have taken effect; 0: none.' }) },
  failed: {
    line: positive({ description: 'The number of the line, from 1. Empty lines count and are skipped.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'A JSON pointer to the field.' }),
          message: Type.String({ description: 'What is wrong, and what is accepted.' }),
        }),
      ),
    ),
  },
  refused: `A row that was refused; the others are not affected. ${FIRST_LISTED}`,
  others: [],
  again: 'Repeat the import.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const IMPORT_COMPONENTS = { ImportRow, ImportRecord } satisfies Record<string, TSchema>

export type ImportRow = Static<typeof ImportRow>
export type ImportRowOfPlan = Static<typeof ImportRowOfPlan>
export type ImportRecord = Static<typeof ImportRecord>
