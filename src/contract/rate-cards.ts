import Type, { type Static, type TSchema } from 'typebox'
import { MAX_RATE, MAX_RATE_CARDS, MAX_RATE_LINES } from '../domain/basics/bounds.ts'
import type { rateCardViewOf } from '../domain/rates/rate-card.ts'
import { LINE_CHANGES, type RateLine as Line } from '../domain/rates/rate-line.ts'
import {
  closed,
  country,
  cursorPageOf,
  cursorQuery,
  identifier,
  messageType,
  nullable,
  patterned,
  positive,
  time,
  uint,
} from './schemas.ts'

/** Rate cards: how many units a segment costs, by destination. */

const charge = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_RATE, description })

const prefix = nullable(patterned('ratePrefix'), {
  description: 'The beginning of numbers, in E.164 form without the plus. The longest one of a number decides.',
  examples: ['49'],
})
const destination = nullable(country(), {
  description:
    'The country (ISO 3166 alpha-2, or `001`) of numbers that no prefix of the list fits. Not with `prefix`.',
  examples: [null],
})
const type = nullable(messageType(), {
  description: 'Only messages of this type. null: all others to the destination.',
  examples: [null],
})
const charges = {
  per_segment: charge('Units for each segment.'),
  per_message: charge('Units for the message, beside its segments.'),
}

export const RateLineReq = Type.Object(
  {
    prefix: Type.Optional(Type.With(prefix, { default: null })),
    country: Type.Optional(Type.With(destination, { default: null })),
    message_type: Type.Optional(Type.With(type, { default: null })),
    per_segment: Type.With(charges.per_segment, { examples: [75] }),
    per_message: Type.Optional(Type.With(charges.per_message, { default: 0 })),
  } satisfies Record<keyof Line, TSchema>,
  {
    $id: 'RateLineReq',
    ...closed,
    description:
      'What messages to a destination cost. A line without prefix and country is for all others; a list must have one for all types, too.',
  },
)

export const RateLine = Type.Object(
  { prefix, country: destination, message_type: type, ...charges } satisfies Record<keyof Line, TSchema>,
  { $id: 'RateLine', description: 'What messages to a destination cost.' },
)

const lineList = <Item extends TSchema>(items: Item) =>
  Type.Array(items, {
    minItems: 1,
    maxItems: MAX_RATE_LINES,
    description: `All prices of the card, ${MAX_RATE_LINES.toLocaleString('en')} at most.`,
  })
const name = identifier(120, { minLength: 1, description: 'A display name.', examples: ['Standard'] })
const isDefault = Type.Boolean({
  description:
    'Whether it is the card of users who have none of their own and whose plan has none. One card at most is: another one ends to be it. Without a default, a segment of theirs costs one unit.',
})

const createRateCardReq = <Item extends TSchema>(items: Item) =>
  Type.Object(
    {
      name,
      is_default: Type.Optional(Type.With(isDefault, { default: false })),
      lines: Type.Optional(lineList(items)),
    },
    {
      $id: 'CreateRateCardReq',
      ...closed,
      description: `A new rate card. There are ${MAX_RATE_CARDS} at most, without archived ones. Without \`lines\` it charges one unit a segment.`,
      examples: [{ name: 'Standard', lines: [{ per_segment: 400 }, { prefix: '49', per_segment: 75 }] }],
    },
  )
export const CreateRateCardReq = createRateCardReq(RateLineReq)

export const UpdateRateCardReq = Type.Object(
  { name: Type.Optional(name), is_default: Type.Optional(isDefault) },
  {
    $id: 'UpdateRateCardReq',
    ...closed,
    description: 'Omitted fields keep their value.',
    examples: [{ is_default: true }],
  },
)

const card = {
  id: positive(),
  version: positive({ description: 'Grows by one with each list of prices. The ETag.' }),
  name,
  is_default: isDefault,
  archived: Type.Boolean({ description: 'No plan and no user has an archived card, and none can get it.' }),
  lines: uint({ description: 'How many lines the last list has.' }),
  created_at: time(),
  created_by: Type.String({ description: 'The subject of the token.' }),
  updated_at: time(),
  updated_by: Type.String({ description: 'The subject of the token.' }),
} satisfies Record<keyof ReturnType<typeof rateCardViewOf>, TSchema>

export const RateCard = Type.Object(card, {
  $id: 'RateCard',
  description: 'What messages cost in units, by destination.',
})

export const RateCardDetail = Type.Object(
  {
    ...card,
    plans: uint({ description: 'How many plans have it that someone has or can get.' }),
    users: uint({ description: 'How many users have it as their own.' }),
    lists: Type.Array(
      Type.Object({
        version: positive(),
        state: Type.Enum(['holds', 'upcoming', 'past']),
        valid_from: time({
          description:
            'From when on the list holds. Of several that do, the latest decides; of one time the last version.',
        }),
        lines: uint(),
        created_at: time(),
        created_by: Type.String(),
      }),
      { description: 'The lists of prices, the last first. One is kept for 400 days after it held.' },
    ),
  },
  { $id: 'RateCardDetail', description: 'A rate card with its lists of prices, and who has it.' },
)

export const RateCardParams = Type.Object({ id: positive() })

export const RateCardsQuery = Type.Object(
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

export const RateCardPage = cursorPageOf('RateCard', { $id: 'RateCardPage', description: 'Rate cards, newest first.' })

/* ── Lines ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

const rateLinesReq = <Item extends TSchema>(items: Item) =>
  Type.Object(
    { lines: lineList(items) },
    { $id: 'RateLinesReq', ...closed, description: 'The whole list of prices of a card.' },
  )
export const RateLinesReq = rateLinesReq(RateLineReq)

export const SetLinesQuery = Type.Object(
  {
    valid_from: Type.Optional(
      time({
        description: 'From when on the prices hold: at most 90 days ahead. Left out: at once.',
        examples: ['2027-01-01T00:00:00Z'],
      }),
    ),
    dry_run: Type.Optional(
      Type.Enum(['true', 'false'], { default: 'false', description: 'Says what would change, and changes nothing.' }),
    ),
  },
  closed,
)

const cost = nullable(Type.Object(charges))

export const RateLinesSet = Type.Object(
  {
    dry_run: Type.Boolean(),
    card: Type.Ref('RateCard#'),
    valid_from: time(),
    changes: Type.Object(
      Object.fromEntries(LINE_CHANGES.map(change => [change, uint()])) as Record<
        (typeof LINE_CHANGES)[number],
        ReturnType<typeof uint>
      >,
      {
        description:
          'How many lines are new or gone, and how many dearer or cheaper for a message of one segment, compared with the prices that would hold then.',
      },
    ),
    changed: Type.Array(
      Type.Object({
        prefix,
        country: destination,
        message_type: type,
        change: Type.Enum([...LINE_CHANGES]),
        before: cost,
        after: cost,
      }),
      { description: 'These lines, the largest changes first: 1,000 at most.' },
    ),
  },
  { $id: 'RateLinesSet', description: 'New prices of a card, and what they change.' },
)

export const RateLinesQuery = Type.Object(
  {
    ...cursorQuery,
    version: Type.Optional(positive({ description: 'The list. Left out: the one that holds now.' })),
    prefix: Type.Optional(
      patterned('ratePrefix', {
        description: 'Only lines whose prefix begins with this one, or is the beginning of it.',
      }),
    ),
  },
  closed,
)

export const RateLinePage = cursorPageOf('RateLine', {
  $id: 'RateLinePage',
  description: 'The lines of a list of prices, in its order.',
})

/** The named schemas of the OpenAPI document, by `$id`. */
export const RATE_CARD_COMPONENTS = {
  RateLineReq,
  RateLine,
  CreateRateCardReq: createRateCardReq(Type.Ref('RateLineReq#')),
  UpdateRateCardReq,
  RateCard,
  RateCardDetail,
  RateCardPage,
  RateLinesReq: rateLinesReq(Type.Ref('RateLineReq#')),
  RateLinesSet,
  RateLinePage,
} satisfies Record<string, TSchema>

export type CreateRateCardReq = Static<typeof CreateRateCardReq>
export type UpdateRateCardReq = Static<typeof UpdateRateCardReq>
export type RateLinesReq = Static<typeof RateLinesReq>
export type RateLineReq = Static<typeof RateLineReq>
export type RateLinesQuery = Static<typeof RateLinesQuery>
