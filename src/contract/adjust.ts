import Type from 'typebox'
import { MAX_UNITS } from '../domain/basics/bounds.ts'
import { EXTRA_NAME } from '../domain/quotas/extra-grant.ts'
import { closed, text } from './schemas.ts'

/** Units that are added to one quota, or taken from it. */

/** Of grants that give units to others for a time. */
export const extraName = Type.Optional(
  text(60, {
    minLength: 1,
    default: EXTRA_NAME,
    description: 'How the names of new grants begin. The name of the grant that gets the units follows.',
  }),
)

export const AdjustReq = Type.Object(
  {
    delta: Type.Union(
      [Type.Integer({ minimum: 1, maximum: MAX_UNITS }), Type.Integer({ minimum: -MAX_UNITS, maximum: -1 })],
      {
        description:
          'The units to add to the limit, or to subtract if negative; not 0. The result must be a valid limit.',
      },
    ),
    reason: Type.String({
      format: 'text',
      minLength: 1,
      maxLength: 500,
      description: 'Your reason. The history shows it.',
    }),
    allow_below_usage: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Allows a limit below `used` + `reserved`. No units are taken back.',
      }),
    ),
    until: Type.Optional(
      Type.Enum(['window_end'], {
        description:
          'Only of a live grant with a period, and to add units: they end with its current window, and are a grant of their own, for the same messages. Omitted: the limit changes for good.',
      }),
    ),
    name: extraName,
  },
  {
    $id: 'AdjustReq',
    ...closed,
    description:
      'A change of the limit relative to its current value. Adjustments that are made at the same time all count.',
    examples: [{ delta: 500, reason: 'Goodwill after the outage' }],
  },
)
