import Type, { type Static, type TSchema } from 'typebox'
import { MAX_PAUSES } from '../domain/basics/bounds.ts'
import { PAUSE_ORIGINS } from '../domain/pauses/pause.ts'
import { evidence } from './breaker.ts'
import {
  closed,
  country,
  cursorPageOf,
  cursorQuery,
  messageType,
  nullable,
  positive,
  text,
  time,
  uint,
  userNames,
  withUserRef,
} from './schemas.ts'

/** Pauses: messages to a country that are denied for a time. */

const userId = nullable(uint(), {
  description: 'Whose messages are denied; null: those of all users.',
  examples: [7],
})
const destination = country({ description: 'Messages to it are denied.', examples: ['FR'] })
const messageTypes = nullable(Type.Array(messageType(), { minItems: 1, maxItems: 50, uniqueItems: true }), {
  description: 'Only messages of these types; null: of all types, and of none.',
  examples: [['otp']],
})
const until = nullable(time(), { description: 'Exclusive. null: until it is lifted.' })
const reason = nullable(text(500, { minLength: 1 }), {
  description: 'For senders and administrators. Users do not read it.',
})

export const PauseReq = Type.Object(
  {
    user_id: userId,
    country: destination,
    message_types: Type.Optional(Type.With(messageTypes, { default: null })),
    until: Type.Optional(Type.With(until, { default: null })),
    reason: Type.Optional(Type.With(reason, { default: null })),
  },
  {
    $id: 'PauseReq',
    ...closed,
    description: 'Messages to deny.',
    examples: [{ user_id: 7, country: 'FR', until: '2027-01-31T00:00:00.000Z', reason: 'Pumped codes' }],
  },
)

const pause = {
  id: positive(),
  user_id: userId,
  ...userNames,
  country: destination,
  message_types: messageTypes,
  until,
  reason,
  origin: Type.Enum([...PAUSE_ORIGINS], {
    description: '`person`: an administrator made it. `breaker`: the service did, because of pumped traffic.',
  }),
  evidence: nullable(evidence, {
    description: 'The figures that made the breaker pause; null if a person did.',
    examples: [null],
  }),
  observed: Type.Boolean({
    description: 'The breaker would have paused the destination, and only observes: no message is denied.',
  }),
  active: Type.Boolean({ description: 'Whether messages are denied now: it is not lifted, and has not ended.' }),
  created_at: time(),
  created_by: Type.String({ description: "The `sub` of the administrator's token; `sms-quota` for the service." }),
  lifted_at: nullable(time()),
  lifted_by: nullable(Type.String()),
}

export const Pause = Type.Object(pause, {
  $id: 'Pause',
  description: 'A pause: messages to a country that are denied for a time.',
})

/** In a denial. */
export const pauseOfDenial = Type.Optional(
  Type.Object(
    { id: positive(), until: nullable(time()), reason: nullable(Type.String()) },
    {
      description:
        'With the reason `destination_paused`: the pause that lasts longest. `until` null: until it is lifted. `reason` is what an administrator wrote for others: null for a sender whose token is bounded to some users.',
    },
  ),
)

export const PauseParams = Type.Object({ id: positive() })

export const PausesQuery = Type.Object(
  {
    ...cursorQuery,
    user_id: Type.Optional(
      uint({ description: 'Only pauses that hold for this user: those of the user, and those of all users.' }),
    ),
    country: Type.Optional(country({ description: 'Only pauses of this country.' })),
    origin: Type.Optional(Type.Enum([...PAUSE_ORIGINS])),
    active: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'Only those that deny messages now, or only those that have ended or were lifted.',
      }),
    ),
  },
  closed,
)

export const PausePage = cursorPageOf('Pause', {
  $id: 'PausePage',
  description: `Pauses, newest first. At most ${MAX_PAUSES.toLocaleString('en')} are active. A call reads a bounded number of pauses, so with filters a page may be short or even empty and still have a \`next_cursor\`.`,
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const PAUSE_COMPONENTS = { PauseReq: withUserRef(PauseReq), Pause, PausePage } satisfies Record<string, TSchema>

export type PauseReq = Static<typeof PauseReq>
export type Pause = Static<typeof Pause>
export type PausesQuery = Static<typeof PausesQuery>
