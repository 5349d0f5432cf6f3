import Type, { type Static, type TSchema } from 'typebox'
import { MAX_UNITS } from '../domain/basics/bounds.ts'
import { BUDGET_NAMES, DEFAULT_BUDGETS } from '../domain/pauses/breaker.ts'
import { closed, country, cursorPageOf, cursorQuery, messageType, time, uint, userNames } from './schemas.ts'

/** The breaker: it pauses destinations to which codes are sent that no person enters. */

/** The longest past that is replayed. Its history is as long again, and usage by the quarter of an hour is kept for longer than both. */
export const MAX_REPLAY_DAYS = 14

const budget = (name: 'day' | 'hour' | 'flight', description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_UNITS, default: DEFAULT_BUDGETS[name], description }))

export const ReplayQuery = Type.Object(
  {
    ...cursorQuery,
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_REPLAY_DAYS,
        default: MAX_REPLAY_DAYS,
        description: 'How far back the replay begins.',
      }),
    ),
    message_type: Type.Optional(messageType({ default: 'otp', description: 'The type of the messages with codes.' })),
    day: budget('day', 'Unverified messages of the last 24 hours that are no reason to pause.'),
    hour: budget('hour', 'Unverified messages of the last hour that are no reason to pause.'),
    flight: budget('flight', 'Messages younger than 5 minutes, not verified yet, that are no reason to pause.'),
    share: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: DEFAULT_BUDGETS.share,
        description: 'The part of its verified messages that a destination with much traffic may have unverified.',
      }),
    ),
  },
  closed,
)

const figure = (description: string) => Type.Number({ minimum: 0, description })

export const evidence = Type.Object(
  {
    budget: Type.Enum([...BUDGET_NAMES], { description: 'The budget that was exceeded.' }),
    counted: figure('Messages that counted against it.'),
    allowed: figure('How many it allows to this destination.'),
    young: figure('Not verified, and younger than 5 minutes.'),
    unverified_hour: figure('Not verified, older, and of the last hour.'),
    unverified_day: figure('Not verified, older, and of the last 24 hours.'),
    verified_quarter: figure('Verified in the last quarter of an hour.'),
    verified_hour: figure('Verified in the last hour.'),
    verified_day: figure('Verified in the last 24 hours.'),
    usual_day: figure('The most verified on one of the 14 days before.'),
    usual_quarter: figure('The most verified in one quarter of an hour of the 14 days before.'),
  },
  { description: 'The figures. Parts of a message come from quarters of an hour that are counted in part.' },
)

export const ReplayedPause = Type.Object(
  {
    user_id: uint(),
    ...userNames,
    country: country(),
    from: time(),
    until: time({ description: 'Exclusive.' }),
    evidence,
    stopped: uint({ description: 'Messages that would not have left.' }),
    stopped_verified: uint({ description: 'Those of them that were verified: people who would have got no code.' }),
  },
  { $id: 'ReplayedPause', description: 'A pause that the breaker would have made.' },
)

const replayPage = {
  $id: 'ReplayPage',
  description:
    'Pauses that the breaker would have made, by user, country and time; users are in no order that means something. A call reads the usage of a bounded number of users, so a page may be short or even empty and still have a `next_cursor`.',
}

export const ReplayPage = Type.Object(
  {
    ...cursorPageOf('ReplayedPause', replayPage).properties,
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The part of all users that has been read with this page.',
    }),
  },
  replayPage,
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const BREAKER_COMPONENTS = { ReplayedPause, ReplayPage } satisfies Record<string, TSchema>

export type ReplayQuery = Static<typeof ReplayQuery>
export type ReplayedPause = Static<typeof ReplayedPause>
