import Type, { type Static, type TSchema } from 'typebox'
import { MAX_BULK_IDS, MAX_SAMPLES } from '../domain/basics/bounds.ts'
import { SLOT_OUTCOMES } from '../domain/plans/give-plan.ts'
import { BEGIN, FIRST_LISTED, ManyHeaders, manyRecords } from './many.ts'
import { fresh } from './plans.ts'
import { IfMatchHeaders } from './quotas.ts'
import { closed, positive, text, uint } from './schemas.ts'

/** The roll-out of a plan: its current version for many users. */

export const RollOutReq = Type.Object(
  {
    users: Type.Optional(
      Type.Array(uint(), {
        minItems: 1,
        maxItems: MAX_BULK_IDS,
        description: 'These users, whichever plan they have.',
      }),
    ),
    from_version: Type.Optional(positive({ description: 'All who have this version of the plan.' })),
    from_plan: Type.Optional(positive({ description: 'All who have this other plan, in any version.' })),
    reason: Type.Optional(
      text(500, { minLength: 1, description: 'Why, for the history of each quota that changes, and for the audit.' }),
    ),
    fresh,
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to only report what would change, with examples.' }),
    ),
  },
  {
    $id: 'RollOutReq',
    ...closed,
    description:
      'Who gets the current version: at most one of `users`, `from_version` and `from_plan`. With none of them, all who have the plan in another version.',
    examples: [{ from_version: 1, dry_run: true }],
  },
)

export const RollOutHeaders = Type.Object({ ...IfMatchHeaders.properties, ...ManyHeaders.properties })

const rollOutCounts = {
  users: Type.Object({
    changed: uint({
      description: 'Users whose quotas changed, if only in the version of the plan; in a dry run, would change.',
    }),
    unchanged: uint({ description: 'Users who have all of it already.' }),
    left_out: uint({
      description:
        'Users who had another plan when it was their turn than the one that was asked for, or a later version of this one.',
    }),
    failed: uint({ description: 'Users who could not get the plan.' }),
  }),
  quotas: Type.Object({
    made: uint(),
    changed: uint({ description: 'Changed in place in a field, with their counters.' }),
    ended: uint({ description: 'Of slots that the plan does not have, and those that were replaced by others.' }),
    stay: uint({ description: 'No field changed. The version of the plan may have moved.' }),
    kept: uint({ description: 'Of those that are changed or stay: with fields that were changed by hand.' }),
  }),
  carried: uint({
    description: 'Users with a quota that is made and begins with what earlier ones of its slot have used.',
  }),
  again: uint({
    description: 'With `fresh`: users who get again what earlier quotas of a slot have used in a window that is open.',
  }),
  exhausted: uint({
    description: 'Users with a quota that has nothing left by this change, and had something before.',
  }),
}
const outcomeOfUser = { user_id: uint() }
const usedOfSlots = Type.Array(
  Type.Object({ slot: Type.String(), used: uint({ description: 'Units, or messages if the quota counts those.' }) }),
)

export const RollOutRecord = manyRecords('RollOutRecord', {
  counts: rollOutCounts,
  at: {},
  failed: outcomeOfUser,
  refused: `A user who could not get the plan; the others are not affected. ${FIRST_LISTED}`,
  others: [
    BEGIN,
    Type.Object(
      { record: Type.Literal('exhausted'), ...outcomeOfUser, slots: Type.Array(Type.String()) },
      {
        description: `A user with quotas that have nothing left by this change, and had something before. ${FIRST_LISTED}`,
      },
    ),
    Type.Object(
      { record: Type.Literal('carried'), ...outcomeOfUser, slots: usedOfSlots },
      {
        description: `Only in a dry run: a user with quotas that would begin with what earlier ones of their slots have used, and how much. ${FIRST_LISTED}`,
      },
    ),
    Type.Object(
      { record: Type.Literal('again'), ...outcomeOfUser, slots: usedOfSlots },
      {
        description: `Only in a dry run with \`fresh\`: a user who would get again what earlier quotas have used, and how much. ${FIRST_LISTED}`,
      },
    ),
    Type.Object(
      {
        record: Type.Literal('sample'),
        ...outcomeOfUser,
        slots: Type.Array(
          Type.Object({
            slot: Type.String(),
            outcome: Type.Enum([...SLOT_OUTCOMES]),
            kept: Type.Record(Type.String(), Type.Unknown(), {
              description:
                'The fields that would stay as an administrator has changed them by hand, each with its value.',
              examples: [{ limit: 500 }],
            }),
            changes: Type.Record(Type.String(), Type.Array(Type.Unknown(), { minItems: 2, maxItems: 2 }), {
              description: 'The fields that would change in place, each with its value before and after.',
              examples: [{ limit: [100, 200] }],
            }),
          }),
        ),
        ended: uint({ description: 'How many quotas would end.' }),
      },
      { description: `Only in a dry run: one of the first ${MAX_SAMPLES} users who would change.` },
    ),
  ],
  again: 'Repeat the call with the same key.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const ROLL_OUT_COMPONENTS = { RollOutReq, RollOutRecord } satisfies Record<string, TSchema>

export type RollOutReq = Static<typeof RollOutReq>
export type RollOutRecord = Static<typeof RollOutRecord>
