import Type, { type Static, type TSchema } from 'typebox'
import { SmsQuota } from './quotas.ts'
import { closed, cursorPageOf, cursorQuery, nullable, positive, time, uint } from './schemas.ts'

/** The changes and the past windows of a quota. */

export const HistoryQuery = Type.Object(cursorQuery, closed)

/** Stored as it was shown at the time, so fields that the API gained later are missing. */
export const QuotaAsShown = Type.Partial(Type.Object(SmsQuota.properties, { additionalProperties: true }), {
  $id: 'QuotaAsShown',
  description: 'The quota as the API showed it at the time. Fields that were added later are missing.',
})

export const QuotaChange = Type.Object(
  {
    version: positive({ description: 'The version that the change created.' }),
    action: Type.Enum(['created', 'updated', 'deleted']),
    at: time(),
    actor: Type.String({ description: "The `sub` of the administrator's token." }),
    request_id: Type.String({ description: 'The `X-Request-Id` of the call, or the `bulk_id` of a bulk change.' }),
    reason: nullable(Type.String(), {
      description:
        'The reason of an adjustment, a transfer, a return or a roll-out; null if none was given, and for other changes.',
    }),
    transfer_id: nullable(positive(), {
      description: 'The transfer that gave, took or returned units by this change; null for other changes.',
    }),
    before: nullable(Type.Ref('QuotaAsShown#'), { description: 'null for a creation.' }),
    after: Type.Ref('QuotaAsShown#'),
  },
  { $id: 'QuotaChange', description: 'A change of a quota: who, when, from what to what.' },
)

export const QuotaHistory = cursorPageOf('QuotaChange', {
  $id: 'QuotaHistory',
  description: 'Changes of a quota, newest first.',
})

export const QuotaWindow = Type.Object(
  {
    window_no: uint({ description: 'Numbers the windows. Windows without any activity are not listed.' }),
    window_start: time(),
    window_end: time(),
    limit: nullable(uint(), { description: 'The limit when the window ended; null is unlimited.' }),
    overage_limit: uint(),
    rolled_over: uint({ description: 'Units carried into this window.' }),
    used: uint({ description: 'Units committed, less later refunds.' }),
    reserved: uint({ description: 'Units reserved in this window that are not yet committed or released.' }),
    carried: uint({ description: 'Units carried into the next window.' }),
    released: nullable(uint(), {
      description:
        'Units that lapsed: neither used, reserved nor carried. Includes the units that reservations gave back. limit + rolled_over + overage = used + reserved + carried + released. null if the window was unlimited.',
    }),
    overage: uint({ description: 'max(0, used + reserved − limit − rolled_over).' }),
  },
  { $id: 'QuotaWindow', description: 'A past window of a quota.' },
)

export const QuotaWindowPage = cursorPageOf('QuotaWindow', {
  $id: 'QuotaWindowPage',
  description: 'Past windows of a quota, newest first.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const QUOTA_HISTORY_COMPONENTS = {
  QuotaAsShown,
  QuotaChange,
  QuotaHistory,
  QuotaWindow,
  QuotaWindowPage,
} satisfies Record<string, TSchema>

type References = { 'QuotaAsShown#': typeof QuotaAsShown }

export type HistoryQuery = Static<typeof HistoryQuery>
export type QuotaAsShown = Static<typeof QuotaAsShown>
export type QuotaChange = Static<typeof QuotaChange, References>
export type QuotaHistory = Static<typeof QuotaHistory, References & { 'QuotaChange#': typeof QuotaChange }>
export type QuotaWindow = Static<typeof QuotaWindow>
export type QuotaWindowPage = Static<typeof QuotaWindowPage, { 'QuotaWindow#': typeof QuotaWindow }>
