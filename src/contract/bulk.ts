import Type, { type Static, type TSchema } from 'typebox'
import { MAX_BULK_IDS, MAX_SAMPLES } from '../domain/basics/bounds.ts'
import { BULK_ACTIONS, type BulkAction } from '../domain/quotas/bulk-change.ts'
import { AdjustReq } from './adjust.ts'
import { ExportQuotasQuery } from './exports.ts'
import { BEGIN, dryRunQuery, FIRST_LISTED, manyRecords } from './many.ts'
import { UpdateQuotaReq, VISIBLE_STATUSES } from './quotas.ts'
import { closed, nullable, patterned, positive, uint } from './schemas.ts'

/** Bulk changes: the same change of many quotas, answered as newline-delimited JSON. */

export const BulkQuery = dryRunQuery('Whether to only report how many quotas would change, with examples.')

const idList = <Id extends TSchema>(item: Id, description: string) =>
  Type.Array(item, { minItems: 1, maxItems: MAX_BULK_IDS, description })

const { status: _, ...listFilters } = ExportQuotasQuery.properties

export const BulkSelection = Type.Object(
  {
    ids: Type.Optional(idList(positive(), 'These quotas. No other field may stand beside it.')),
    user_ids: Type.Optional(idList(uint(), 'Only quotas of these users. Excludes `user_id`.')),
    ...listFilters,
    status: Type.Optional(
      Type.Enum(VISIBLE_STATUSES, { description: 'Only quotas that have this status when they are read.' }),
    ),
  },
  {
    ...closed,
    $id: 'BulkSelection',
    description:
      'Which quotas to change: by `ids`, or by the filters of the list, at least one. Quotas that are created after the bulk change has begun are not among them.',
    examples: [{ user_ids: [7, 8], name: 'Monthly package' }],
  },
)

const { delta, reason, allow_below_usage } = AdjustReq.properties
const change = (action: BulkAction, properties: Record<string, TSchema>, description: string) =>
  Type.Object({ action: Type.Literal(action), ...properties }, { ...closed, description })

/** The changes, by their action. */
export const BULK_CHANGES = {
  suspend: change('suspend', {}, 'Sets `enabled` to false.'),
  resume: change('resume', {}, 'Sets `enabled` to true.'),
  extend: change(
    'extend',
    {
      expires_at: Type.Optional(UpdateQuotaReq.properties.expires_at),
      by: Type.Optional(
        patterned('duration', {
          description:
            "A duration of ISO 8601 in years, months, weeks and days, such as `P1M` or `P30D`, added to the quota's `expires_at` by the calendar of its time zone. Extended by months or years again, an end keeps to the day of the first one: from 31 January to 28 February, then to 31 March. A quota that never expires is refused.",
        }),
      ),
    },
    'Moves the expiry: to `expires_at`, or by `by`. One of them is required.',
  ),
  adjust: change(
    'adjust',
    { delta, reason, allow_below_usage },
    'Adds units to the limit of each quota, or subtracts them, for good: as the adjustment of a single quota does.',
  ),
  delete: change('delete', {}, 'Deletes the quotas.'),
} satisfies Record<BulkAction, TSchema>

const bulkOf = <Select extends TSchema>(select: Select, changeSchema: TSchema) =>
  Type.Object(
    { select, change: changeSchema },
    {
      ...closed,
      $id: 'BulkReq',
      description: 'One change, and the quotas to make it to.',
      examples: [
        {
          select: { user_ids: [7, 8], name: 'Monthly package' },
          change: { action: 'adjust', delta: 500, reason: 'Goodwill after the outage' },
        },
      ],
    },
  )

/** Validates all but the change, whose fields depend on its action: see `BULK_CHANGES`. */
export const BulkReq = bulkOf(BulkSelection, Type.Unknown())

const counts = {
  changed: uint({ description: 'Quotas that this call changed; in a dry run, that would change.' }),
  changed_before: uint({ description: 'Quotas that an earlier call with the same key changed: they are left alone.' }),
  unchanged: uint({ description: 'Quotas that already are as the change would make them.' }),
  failed: uint({ description: 'Quotas that could not be changed.' }),
}

export const BulkRecord = manyRecords('BulkRecord', {
  counts,
  at: {},
  failed: { quota_id: positive(), user_id: nullable(uint(), { description: 'null if there is no such quota.' }) },
  refused: `A quota that could not be changed; the others are not affected. ${FIRST_LISTED}`,
  others: [
    BEGIN,
    Type.Object(
      { record: Type.Literal('sample'), before: Type.Ref('SmsQuota#'), after: Type.Ref('SmsQuota#') },
      {
        description: `Only in a dry run: one of the first ${MAX_SAMPLES} quotas that would change, as it is and as it would be.`,
      },
    ),
  ],
  again: 'Repeat the call with the same key.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const BULK_COMPONENTS = {
  BulkSelection,
  BulkReq: bulkOf(Type.Ref('BulkSelection#'), Type.Union(BULK_ACTIONS.map(action => BULK_CHANGES[action]))),
  BulkRecord,
} satisfies Record<string, TSchema>

export type BulkSelection = Static<typeof BulkSelection>
/** Its quotas are what the API shows of them. */
export type BulkRecord = Static<typeof BulkRecord, { 'SmsQuota#': Type.TUnknown }>
