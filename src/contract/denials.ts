import Type, { type Static, type TSchema } from 'typebox'
import { MAX_RULE_DENIALS, MAX_SCANNED_DENIALS } from '../domain/basics/bounds.ts'
import { DENIAL_REASONS, UNNAMED } from '../domain/units/reservation.ts'
import { RULE_REASONS } from '../domain/units/rule-denials.ts'
import { explanationLine, reasonTexts } from './explanations.ts'
import {
  closed,
  country,
  cursorQuery,
  messageType,
  nullable,
  patterned,
  positive,
  scannedPageOf,
  text,
  time,
  uint,
  userNames,
} from './schemas.ts'

/** The log of denials: why messages were refused. */

const denialId = patterned('denialId', { examples: ['den_7_1773576000000_42'] })

export const DenialParams = Type.Object({ denial_id: denialId })

const filters = {
  ...cursorQuery,
  reason: Type.Optional(Type.Enum([...DENIAL_REASONS])),
  country: Type.Optional(country({ description: 'Only messages to this country.' })),
  message_type: Type.Optional(messageType({ description: 'Only messages of this type.' })),
  id: Type.Optional(patterned('reservationId', { description: "Only denials of this id, the sender's own." })),
  from: Type.Optional(time({ description: 'Denied at this time or later.' })),
  to: Type.Optional(time({ description: 'Denied before this time.' })),
}

const without = { description: 'Only messages for which the sender named no country, or no type.' }

export const UserDenialsQuery = Type.Object(
  { ...filters, without: Type.Optional(Type.Enum(['country', 'message_type'], without)) },
  closed,
)
export const AdminDenialsQuery = Type.Object(
  {
    ...filters,
    user_id: Type.Optional(uint({ description: "Only this user's denials." })),
    sender: Type.Optional(text(255, { description: 'Only denials of this sender: the subject of its token.' })),
    without: Type.Optional(
      Type.Enum([...UNNAMED], {
        description: 'Only messages for which the sender named no country, or no type; or whose sender is not known.',
      }),
    ),
  },
  closed,
)

const sender = Type.Optional(
  nullable(Type.String(), {
    description: 'The subject of the token that asked; null if that is not known. For administrators only.',
  }),
)

const fields = {
  denial_id: Type.String({ description: 'Identifies the denial.', ...denialId }),
  at: time({ description: 'When it was denied.' }),
  user_id: uint({ description: 'The user whose message it was.', examples: [7] }),
  ...userNames,
  id: Type.String({
    description: "The sender's own id. A denied id is decided again, so several denials may have it.",
    examples: ['msg-1042'],
  }),
  op: Type.Enum(['reserve', 'consume'], { description: 'The operation that was denied.' }),
  units: uint({ description: 'Units asked for.' }),
  country: nullable(Type.String(), { description: 'The destination; null if the sender did not name one.' }),
  message_type: nullable(Type.String()),
  allow_partial: Type.Boolean({ description: 'Whether fewer units, at least 1, would have been enough.' }),
  reason: Type.Enum([...DENIAL_REASONS], {
    description: reasonTexts({
      no_quota: 'no live grant matched',
      destination_paused: 'the destination was paused',
      cap_reached: 'a cap had no room',
      quota_exhausted: 'the matching grants had too little left',
    }),
  }),
  remaining: nullable(uint(), { description: 'How much the same request could have drawn; null if unbounded.' }),
  limiting_quota_id: nullable(uint(), {
    description: 'The blocking cap with the lowest id, else the last matching grant.',
  }),
  retry_at: nullable(time(), {
    description:
      'As answered then: it could not be granted before this time. Of a paused destination, the end of the pause.',
  }),
  skipped: nullable(uint(), {
    description:
      'How many denials of this user were left out of the log since the one before, by the process that wrote this one. null if it does not know. Usage counts every denial.',
  }),
}

export const DenialRecord = Type.Object(
  { ...fields, sender },
  {
    $id: 'DenialRecord',
    description:
      'A denied reserve or consume. The text and the number of the message are not stored. Each process of the service logs at most 60 an hour of one user, and 20 a second of all, 1,200 at once.',
  },
)

export const DenialDetail = Type.Object(
  {
    ...fields,
    sender,
    explain: Type.Array(explanationLine, {
      description:
        'Why quotas did or did not count: the first 20 as of the denial, then up to 20 that had ended last before it, as they are now.',
    }),
  },
  { $id: 'DenialDetail', description: 'A denied reserve or consume with its explanation.' },
)

export const DenialPage = scannedPageOf('DenialRecord', {
  $id: 'DenialPage',
  description: `Denials, newest first. A call reads at most ${MAX_SCANNED_DENIALS.toLocaleString('en')} denials, so with filters a page may be short or even empty and still have a \`next_cursor\`.`,
})

export const RuleDenials = Type.Object(
  {
    from: time({ description: 'The start of the last 24 hours.' }),
    complete: Type.Boolean({
      description: `Whether all denials of this time are counted that the log has: for each reason, the latest ${MAX_RULE_DENIALS.toLocaleString('en')} are, of the latest ${MAX_SCANNED_DENIALS.toLocaleString('en')} denials.`,
    }),
    items: Type.Array(
      Type.Object({
        reason: Type.Enum([...RULE_REASONS]),
        pause_id: nullable(positive(), {
          description:
            'With `destination_paused`: the pause that holds for these messages now. null if none does any more.',
        }),
        plan_id: nullable(positive(), {
          description: 'With `cap_reached`: the plan of the caps. null if they are of none.',
        }),
        slot: nullable(Type.String(), { description: 'The slot of the plan.' }),
        denials: uint({
          description: 'With those that the log left out before them, which may have been denied by another rule.',
        }),
        users: uint({ description: 'Whose messages they were.' }),
      }),
      { description: 'Most denials first.' },
    ),
  },
  { $id: 'RuleDenials', description: 'What pauses and caps denied in the last 24 hours, by rule.' },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const DENIAL_COMPONENTS = {
  DenialRecord,
  DenialDetail,
  DenialPage,
  RuleDenials,
} satisfies Record<string, TSchema>

export type UserDenialsQuery = Static<typeof UserDenialsQuery>
export type AdminDenialsQuery = Static<typeof AdminDenialsQuery>
export type DenialRecord = Static<typeof DenialRecord>
export type DenialDetail = Static<typeof DenialDetail>
export type RuleDenials = Static<typeof RuleDenials>
export type DenialPage = Static<typeof DenialPage, { 'DenialRecord#': typeof DenialRecord }>
