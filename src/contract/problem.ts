import Type, { type Static, type TSchema } from 'typebox'
import { ERRORS, type ErrorCode } from '../errors.ts'
import type { Reservation } from './reservations.ts'
import { time, uint } from './schemas.ts'

/** The body of every error. */

export const ProblemDetails = Type.Object(
  {
    type: Type.String({
      description: "The page of the service's own docs that explains `code`.",
      format: 'uri-reference',
    }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
    detail: Type.String(),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'All issues of the request.',
      }),
    ),
    existing_id: Type.Optional(uint({ description: 'The quota that already has this `external_ref`.' })),
    reservation: Type.Optional(Type.Ref('Reservation#')),
    cursor: Type.Optional(
      Type.String({
        description: 'For `events_pruned`: `after` of the next call, which leads to all events that are left.',
      }),
    ),
    oldest_at: Type.Optional(
      time({ description: 'For `events_pruned`: when the oldest event behind `cursor` happened.' }),
    ),
  },
  { $id: 'Problem', description: 'Problem details (RFC 9457).', additionalProperties: true },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const PROBLEM_COMPONENTS = { Problem: ProblemDetails } satisfies Record<string, TSchema>

export type ProblemDetails = Static<typeof ProblemDetails, { 'Reservation#': typeof Reservation }>
