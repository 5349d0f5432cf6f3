import Type, { type Static, type TSchema } from 'typebox'
import { QUOTA_STATUSES } from '../domain/quotas/quota.ts'
import { RESERVATION_STATES } from '../domain/units/reservation.ts'
import { kind } from './quotas.ts'
import { closed, nullable, positive, text, time, uint, userNames } from './schemas.ts'
import type { UserEntry } from './users.ts'
import { Webhook } from './webhooks.ts'

/** Search over all users, for administrators. */

/** Hits of each kind in an answer, at most. */
export const MAX_HITS = 20

export const SearchQuery = Type.Object(
  {
    q: text(128, {
      minLength: 1,
      description:
        'What an id, a name or a reference begins with. Spaces around it are ignored. In names A to Z match in either case.',
      examples: ['msg-1042'],
    }),
  },
  closed,
)

export const QuotaHit = Type.Object(
  {
    id: positive(),
    user_id: uint(),
    ...userNames,
    kind,
    name: nullable(Type.String()),
    external_ref: nullable(Type.String()),
    status: Type.Enum([...QUOTA_STATUSES]),
  },
  { $id: 'QuotaHit', description: 'A quota that a search found.' },
)

export const ReservationHit = Type.Object(
  {
    id: Type.String(),
    user_id: uint(),
    ...userNames,
    state: Type.Enum([...RESERVATION_STATES]),
    units: uint(),
    created_at: time(),
  },
  { $id: 'ReservationHit', description: 'A reservation that a search found.' },
)

export const WebhookHit = Type.Object(
  {
    id: positive(),
    kind: Webhook.properties.kind,
    url: Webhook.properties.url,
    addresses: Webhook.properties.addresses,
    description: nullable(Type.String()),
    enabled: Type.Boolean(),
  },
  { $id: 'WebhookHit', description: 'A webhook that a search found.' },
)

export const PlanHit = Type.Object(
  { id: positive(), name: Type.String(), version: positive(), is_default: Type.Boolean() },
  { $id: 'PlanHit', description: 'A plan that a search found.' },
)

export const SearchResult = Type.Object(
  {
    users: Type.Array(Type.Ref('UserEntry#'), {
      description: 'Users whose id, reference or name begins with `q`: first by id, then by reference, then by name.',
    }),
    quotas: Type.Array(Type.Ref('QuotaHit#'), {
      description:
        'Quotas whose id, `external_ref` or `name` begins with `q`. Those with exactly `q` come first. Deleted ones are found by their id only; the list of quotas with `status=deleted` selects them by name or reference.',
    }),
    reservations: Type.Array(Type.Ref('ReservationHit#'), {
      description: 'Reservations of all users whose id begins with `q`, by id.',
    }),
    webhooks: Type.Array(Type.Ref('WebhookHit#'), {
      description: 'Webhooks whose id begins with `q`, or whose `url` or `description` contains it.',
    }),
    plans: Type.Array(Type.Ref('PlanHit#'), {
      description: 'Plans whose id or name begins with `q`, by id. Archived ones are not among them.',
    }),
    has_more: Type.Object(
      {
        users: Type.Boolean(),
        quotas: Type.Boolean(),
        reservations: Type.Boolean(),
        webhooks: Type.Boolean(),
        plans: Type.Boolean(),
      },
      { description: `Whether there are more than the ${MAX_HITS} that are shown of a kind.` },
    ),
  },
  { $id: 'SearchResult', description: 'What a search found, of each kind.' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const SEARCH_COMPONENTS = { QuotaHit, ReservationHit, WebhookHit, PlanHit, SearchResult } satisfies Record<
  string,
  TSchema
>

export type QuotaHit = Static<typeof QuotaHit>
export type ReservationHit = Static<typeof ReservationHit>
export type WebhookHit = Static<typeof WebhookHit>
export type PlanHit = Static<typeof PlanHit>
export type SearchResult = Static<
  typeof SearchResult,
  {
    'UserEntry#': typeof UserEntry
    'QuotaHit#': typeof QuotaHit
    'ReservationHit#': typeof ReservationHit
    'WebhookHit#': typeof WebhookHit
    'PlanHit#': typeof PlanHit
  }
>
