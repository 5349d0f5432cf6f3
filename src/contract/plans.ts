import Type, { type Static, type TSchema } from 'typebox'
import { MAX_LASTS_DAYS, MAX_PLANS, MAX_SLOTS } from '../domain/basics/bounds.ts'
import { SLOT_OUTCOMES } from '../domain/plans/give-plan.ts'
import type { PlanDraft, PlannedFields, planViewOf } from '../domain/plans/plan.ts'
import { CreateQuotaReq } from './quotas.ts'
import {
  ANCHOR,
  closed,
  cursorPageOf,
  cursorQuery,
  givenPlan,
  identifier,
  nullable,
  patterned,
  positive,
  time,
  uint,
} from './schemas.ts'

/** Plans: lists of quotas that users get as a whole. */

/** The fields of a new quota that a slot has, with the same bounds and defaults. */
const {
  user_id: _user,
  starts_at: _start,
  expires_at: _expiry,
  enabled: _enabled,
  external_ref: _reference,
  opening_used: _opening,
  ...planned
} = CreateQuotaReq.properties
planned satisfies Record<keyof PlannedFields, TSchema>

const slotAnchor = nullable(patterned('slotAnchor'), {
  description: `${ANCHOR} "joined": the day on which the user got the plan, in \`time_zone\`; each user's quota has that day, and keeps it through later versions. A quota of the slot that has a day keeps that one.`,
  examples: ['joined'],
})
const ofSlot = { ...planned, anchor: Type.Optional(Type.With(slotAnchor, { default: null })) }

const slot = patterned('slot', {
  description: 'Names the quota within the plan: a later version changes the quota that has the same slot.',
  examples: ['monthly'],
})
const lastsDays = nullable(Type.Integer({ minimum: 1, maximum: MAX_LASTS_DAYS }), {
  description: 'How many days of 24 hours a user has the quota, from its `starts_at`. null: until it is ended.',
})

const SlotReq = Type.Object(
  { slot, lasts_days: Type.Optional(Type.With(lastsDays, { default: null })), ...ofSlot },
  {
    $id: 'PlanSlotReq',
    ...closed,
    description: 'A quota of a plan: the fields of a new quota, but for those of a single one.',
  },
)

export const PlanSlot = Type.Object(
  { slot, lasts_days: lastsDays, ...Type.Required(Type.Object(ofSlot)).properties },
  { $id: 'PlanSlot', description: 'A quota of a plan.' },
)

const name = identifier(120, { minLength: 1, description: 'A display name. Users see it.', examples: ['Basic'] })
const slotList = <Slot extends TSchema>(items: Slot) =>
  Type.Array(items, { minItems: 1, maxItems: MAX_SLOTS, description: `The quotas of the plan, ${MAX_SLOTS} at most.` })
const isDefault = Type.Boolean({
  description:
    'Whether users who never had a quota get this plan. One plan at most is the default: another one ends to be it.',
})

const rateCardId = nullable(positive(), {
  description:
    'The rate card of the users of the plan, in any version, unless they have one of their own. null: the default card, if there is one.',
  examples: [null],
})

const EXAMPLE = {
  name: 'Basic',
  slots: [
    { slot: 'monthly', limit: 1000, period: 'month', name: 'Monthly package' },
    { slot: 'daily', kind: 'cap', limit: 200, period: 'day', name: 'Daily cap' },
  ],
}

const createPlanReq = <Slot extends TSchema>(items: Slot) =>
  Type.Object(
    {
      name,
      slots: slotList(items),
      is_default: Type.Optional(Type.With(isDefault, { default: false })),
      rate_card_id: Type.Optional(Type.With(rateCardId, { default: null })),
    } satisfies Record<keyof PlanDraft, TSchema>,
    {
      $id: 'CreatePlanReq',
      ...closed,
      description: `A new plan. There are ${MAX_PLANS.toLocaleString('en')} at most, without archived ones.`,
      examples: [EXAMPLE],
    },
  )
export const CreatePlanReq = createPlanReq(SlotReq)

const updatePlanReq = <Slot extends TSchema>(items: Slot) =>
  Type.Object(
    {
      name: Type.Optional(name),
      slots: Type.Optional(slotList(items)),
      is_default: Type.Optional(isDefault),
      rate_card_id: Type.Optional(rateCardId),
    } satisfies Record<keyof PlanDraft, TSchema>,
    {
      $id: 'UpdatePlanReq',
      ...closed,
      description: 'Omitted fields keep their value. `slots` replaces all slots: a slot that is not named is dropped.',
      examples: [{ is_default: true }],
    },
  )
export const UpdatePlanReq = updatePlanReq(SlotReq)

const plan = {
  id: positive(),
  version: positive({ description: 'Grows by one with each change of `name` or `slots`. The ETag.' }),
  name,
  slots: slotList(Type.Ref('PlanSlot#')),
  is_default: isDefault,
  rate_card_id: rateCardId,
  archived: Type.Boolean({ description: 'An archived plan is given to no further user; those who have it keep it.' }),
  created_at: time(),
  created_by: Type.String({ description: 'The subject of the token.' }),
  updated_at: time(),
  updated_by: Type.String({ description: 'The subject of the token.' }),
} satisfies Record<keyof ReturnType<typeof planViewOf>, TSchema>
export const Plan = Type.Object(plan, {
  $id: 'Plan',
  description:
    'A versioned list of quotas that users get as a whole. A new version changes no quota until it is given.',
})

export const PlanDetail = Type.Object(
  {
    ...plan,
    users: Type.Array(Type.Object({ version: positive(), users: positive() }), {
      description: 'How many users have which version, the newest first. Versions without users are left out.',
    }),
  },
  { $id: 'PlanDetail', description: 'A plan, and who has it.' },
)

export const PlanParams = Type.Object({ id: positive() })

export const PlansQuery = Type.Object(
  {
    ...cursorQuery,
    archived: Type.Optional(
      Type.Enum(['true', 'false'], {
        default: 'false',
        description: 'Whether to list those that are archived instead.',
      }),
    ),
  },
  closed,
)

export const PlanPage = cursorPageOf('Plan', { $id: 'PlanPage', description: 'Plans, newest first.' })

/* ── Users ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

export const fresh = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'Whether a quota that is made begins anew. Otherwise what earlier quotas of its slot have used and reserved in a window that is still open, or would be if they had not ended, counts in its first window, if they count the same: so the allowance is not given twice. Quotas that stay keep their counters in either case.',
  }),
)

export const GivePlanReq = Type.Object(
  {
    plan_id: positive({ examples: [1] }),
    reset: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether fields that administrators have changed by hand are set to what the plan says.',
      }),
    ),
    fresh,
  },
  { $id: 'GivePlanReq', ...closed },
)

export const UserPlan = Type.Object(
  {
    user_id: uint({ examples: [7] }),
    plan: nullable(Type.Object(givenPlan), { description: 'null: the user has no plan.' }),
    slots: Type.Array(
      Type.Object({
        slot: Type.String({ examples: ['monthly'] }),
        quota_id: positive(),
        outcome: Type.Enum([...SLOT_OUTCOMES], {
          description:
            '`stays`: no field changed, but perhaps the version of the plan. `changed`: in place, with its counters. `replaced`: a field that cannot change differs, so the quota before has ended, and this one was made.',
        }),
        kept: Type.Array(Type.String(), {
          description: 'The fields that stay as an administrator has changed them by hand.',
          examples: [['limit']],
        }),
        carried: uint({
          description:
            'What the call has carried over from earlier quotas of the slot into one that it made. 0 otherwise.',
        }),
      }),
      { description: 'The quotas of the plan.' },
    ),
    ended: Type.Array(positive(), { description: 'The ids of the quotas that the call has ended.' }),
  },
  { $id: 'UserPlan', description: 'The plan of a user, with its quotas.' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const PLAN_COMPONENTS = {
  PlanSlotReq: SlotReq,
  PlanSlot,
  CreatePlanReq: createPlanReq(Type.Ref('PlanSlotReq#')),
  UpdatePlanReq: updatePlanReq(Type.Ref('PlanSlotReq#')),
  Plan,
  PlanDetail,
  PlanPage,
  GivePlanReq,
  UserPlan,
} satisfies Record<string, TSchema>

export type CreatePlanReq = Static<typeof CreatePlanReq>
export type UpdatePlanReq = Static<typeof UpdatePlanReq>
export type UserPlan = Static<typeof UserPlan>
