import Type, { type Static, type TSchema } from 'typebox'
import { AUDITED_ACTIONS, AUDITED_RESOURCES } from '../domain/events/audit.ts'
import {
  closed,
  cursorPageOf,
  cursorQuery,
  nullable,
  patterned,
  positive,
  text,
  time,
  uint,
  userNames,
} from './schemas.ts'

/** Who changed what: the list of all administrators' changes. */

export const AuditQuery = Type.Object(
  {
    ...cursorQuery,
    resource: Type.Optional(
      Type.Enum([...AUDITED_RESOURCES], { description: 'Only changes of this kind of resource.' }),
    ),
    action: Type.Optional(Type.Enum([...AUDITED_ACTIONS])),
    actor: Type.Optional(text(255, { minLength: 1, description: 'Only changes by this `sub`, exactly.' })),
    request_id: Type.Optional(
      patterned('requestId', {
        description: 'Only what the call with this `X-Request-Id`, or the bulk change with this `bulk_id`, changed.',
      }),
    ),
    user_id: Type.Optional(
      uint({
        description: "Only changes of what is this user's, and the user's erasures.",
      }),
    ),
    thing_id: Type.Optional(
      uint({
        description:
          'Only changes of what has this id: with `resource`, of one thing. Alone it is searched for among all.',
      }),
    ),
    raised: Type.Optional(
      Type.Enum(['true'], {
        description:
          'Only changes of quotas that raised a limit: `limit` and `overage_limit` allow more together than before, or the change added a grant that no plan and no transfer gave. An import of new grants is among them.',
      }),
    ),
    from: Type.Optional(time({ description: 'Changed at this time or later.' })),
    to: Type.Optional(time({ description: 'Changed before this time.' })),
  },
  closed,
)

const asShown = (description: string) =>
  nullable(Type.Object({}, { additionalProperties: true }), { description, examples: [null] })

export const AuditEntry = Type.Object(
  {
    resource: Type.Enum([...AUDITED_RESOURCES], { description: 'What was changed.' }),
    thing_id: uint({
      description:
        'The id of what was changed; of a profile, an address and an erasure that of the user, and 0 of the breaker.',
    }),
    ...userNames,
    user_id: nullable(uint(), {
      description: 'The user of what was changed, or the user that was erased; null for what is of no user, or of all.',
    }),
    action: Type.Enum([...AUDITED_ACTIONS], {
      description:
        'Of webhooks, `disabled`: the service disabled it, because its receiver takes nothing any more; `secret_discarded`: its secret could not be decrypted and was replaced.',
    }),
    version: nullable(positive(), {
      description:
        'Numbers the changes of what was changed, from 1. Of a quota, a profile, an address and the breaker it is the version that the change made; of a plan it is not the version of the plan. null for an erasure.',
    }),
    at: time(),
    actor: Type.String({
      description:
        "The `sub` of the administrator's token, or of the user's who made or withdrew a request, or set or withdrew an address; `sms-quota` for the service itself, and for links in messages.",
    }),
    request_id: nullable(Type.String(), {
      description:
        'The `X-Request-Id` of the call, or the `bulk_id` of a bulk change; null if the service made the change by itself.',
    }),
    reason: nullable(Type.String(), {
      description:
        'The reason of an adjustment, a transfer, a return or a roll-out; null if none was given, and for other changes.',
    }),
    transfer_id: nullable(positive(), {
      description: 'The transfer that gave, took or returned units by this change; null for other changes.',
    }),
    before: asShown(
      'What was changed as the API showed it before, without secrets; of an address for messages only its `status` and `language`; null if there was none.',
    ),
    after: asShown(
      'What was changed as the API showed it afterwards, without secrets; of an address for messages only its `status` and `language`; null if there is none.',
    ),
  },
  { $id: 'AuditEntry', description: 'A change by an administrator: who, when, from what to what.' },
)

export const AuditPage = cursorPageOf('AuditEntry', {
  $id: 'AuditPage',
  description:
    'Changes by administrators, newest first. A call reads a bounded number of changes, so with filters a page may be short or even empty and still have a `next_cursor`.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const AUDIT_COMPONENTS = {
  AuditEntry,
  AuditPage,
} satisfies Record<string, TSchema>

export type AuditQuery = Static<typeof AuditQuery>
export type AuditEntry = Static<typeof AuditEntry>
export type AuditPage = Static<typeof AuditPage, { 'AuditEntry#': typeof AuditEntry }>
