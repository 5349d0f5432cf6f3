import Type, { type Static, type TSchema } from 'typebox'
import { MAX_UNITS } from '../domain/bounds.ts'

/** The shapes of what administrators do to limits, and of what people look up: changes, windows, reservations. */

/* ── Adjusting ──────────────────────────────────────────────────────────────────────────────────────────────────── */

export const AdjustReq = Type.Object(
  {
    delta: Type.Union(
      [Type.Integer({ minimum: 1, maximum: MAX_UNITS }), Type.Integer({ minimum: -MAX_UNITS, maximum: -1 })],
      { description: 'By how many units the limit moves; not 0. Its result must be a limit as any other.' },
    ),
    reason: Type.String({
      format: 'text',
      minLength: 1,
      maxLength: 500,
      description: 'Why, in your words; the history shows it.',
    }),
    allow_below_usage: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Move the limit below what is already used and reserved; nothing is taken back.',
      }),
    ),
  },
  {
    $id: 'AdjustReq',
    additionalProperties: false,
    description:
      'A limit to be moved by so many units, whatever it is by then: adjustments at the same time all count.',
    examples: [{ delta: 500, reason: 'Goodwill after the outage' }],
  },
)

/** The shapes that the document names, by their `$id`. */
export const RECORD_COMPONENTS: Record<string, TSchema> = { AdjustReq }

export type AdjustReq = Static<typeof AdjustReq>
