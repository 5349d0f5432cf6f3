import Type, { type Static, type TSchema } from 'typebox'
import { BREAKER_MODES, MAX_BUDGET } from '../domain/pauses/breaker-settings.ts'
import { closed, country, messageType, nullable, positive, uint } from './schemas.ts'

/** What administrators set of the breaker, and what it saw lately. */

const budgetFields = {
  day: positive({ maximum: MAX_BUDGET, description: 'Messages of the last 24 hours.' }),
  hour: positive({ maximum: MAX_BUDGET, description: 'Messages of the last hour.' }),
  flight: positive({
    maximum: MAX_BUDGET,
    description: 'Messages of the last 5 minutes, whose codes may still be entered.',
  }),
  share: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'A destination with much traffic may have this part of its verified messages, if that is more.',
  }),
}
const BUDGETS =
  'Messages of a destination that were sent, neither verified nor refunded as a whole, and are no reason to pause it.'

const settings = {
  mode: Type.Enum([...BREAKER_MODES], {
    description:
      '`off`: nothing is counted. `observe`: what would be paused is listed and an event, and nothing is denied. `enforce`: it is paused.',
  }),
  pass_countries: Type.Array(country(), {
    maxItems: 250,
    uniqueItems: true,
    description: 'Countries to which nothing is paused.',
    examples: [['DE']],
  }),
  pass_users: Type.Array(uint(), {
    maxItems: 1_000,
    uniqueItems: true,
    description: 'Users who are never paused.',
    examples: [[7]],
  }),
}

const messageTypes = nullable(Type.Array(messageType(), { minItems: 1, maxItems: 50, uniqueItems: true }), {
  description: 'The types of the messages that are watched; null: those of `BREAKER_MESSAGE_TYPES`.',
  examples: [['otp']],
})

export const BreakerReq = Type.Object(
  {
    mode: Type.Optional(settings.mode),
    message_types: Type.Optional(messageTypes),
    budgets: Type.Optional(Type.Partial(Type.Object(budgetFields, closed), { ...closed, description: BUDGETS })),
    pass_countries: Type.Optional(settings.pass_countries),
    pass_users: Type.Optional(settings.pass_users),
  },
  { $id: 'BreakerReq', ...closed, description: 'What is left out stays.', examples: [{ mode: 'enforce' }] },
)

const latestUsers = Type.Object(
  {
    with_feedback: uint({ description: 'Those with feedback: the breaker works for them.' }),
    without_feedback: uint({
      description: 'Those without: their codes cannot be judged, and their destinations are only observed.',
    }),
    examples: Type.Array(Type.Object({ user_id: uint(), messages: uint() }), {
      description: 'Those without feedback who sent most, at most ten.',
    }),
  },
  { description: 'Users who sent watched messages in the last quarter of an hour, judged by their last 24 hours.' },
)

export const Breaker = Type.Object(
  {
    ...settings,
    message_types: Type.Array(messageType(), { description: 'The types of the messages that are watched.' }),
    budgets: Type.Object(budgetFields, { description: BUDGETS }),
    version: positive({ description: 'Of the settings, for `If-Match`.' }),
    users: nullable(latestUsers, { description: 'null: nothing was judged yet.' }),
    active_count: uint({ description: 'How many pauses deny messages now, of the breaker and of people.' }),
    active: Type.Array(Type.Ref('Pause#'), { description: 'The newest of them: at most ten.' }),
    latest: Type.Array(Type.Ref('Pause#'), {
      description:
        'What it paused, or only observed (`observed`), newest first: at most ten. All: `GET …/pauses?origin=breaker`.',
    }),
  },
  { $id: 'Breaker', description: 'The breaker against pumped traffic: its settings, and what it saw lately.' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const BREAKER_SETTINGS_COMPONENTS = { BreakerReq, Breaker } satisfies Record<string, TSchema>

export type BreakerReq = Static<typeof BreakerReq>
