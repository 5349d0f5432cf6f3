import Type, { type TSchema } from 'typebox'
import { MAX_PAGE_SIZE } from '../domain/bounds.ts'
import { EVENT_TYPES } from '../domain/event.ts'
import { nullable, time, uint } from './quotas.ts'

/** The shapes of the feed. */

const anyType = `(?:${EVENT_TYPES.map(type => type.replace('.', '\\.')).join('|')})`

export const EventsQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,1000}$',
        description:
          '`next` of the page before; `latest` begins now. Without it the feed begins at the first event there is.',
      }),
    ),
    last: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE_SIZE,
        description: 'Instead of `after`: begins with the last so many events, of whatever type and user.',
      }),
    ),
    types: Type.Optional(
      Type.String({
        pattern: `^${anyType}(?:,${anyType})*$`,
        description: 'Only these types, separated by commas.',
        examples: ['quota.created,quota.updated'],
      }),
    ),
    user_id: Type.Optional(uint({ description: "Only this user's events." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: 100 })),
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        default: 0,
        description: 'How long to wait for an event if there is none.',
      }),
    ),
  },
  { additionalProperties: false },
)

const Event = Type.Object(
  {
    id: Type.String({ description: 'The same wherever the event is seen.', examples: ['evt_12_345'] }),
    type: Type.String({ examples: ['quota.created'] }),
    at: time(),
    user_id: nullable(uint(), { description: 'null for `webhook.disabled`, which is no matter of a user.' }),
    sequence: nullable(uint(), { description: "Counts the user's own events, from 1." }),
    data: Type.Object({}, { additionalProperties: true, description: 'What the type brings, such as the `quota`.' }),
  },
  { $id: 'Event', description: 'Something that has happened, written in the transaction that made it happen.' },
)

const EventPage = Type.Object(
  {
    items: Type.Array(Type.Ref('Event#')),
    next: Type.String({ description: 'Where to go on, as `after`. Events that commit late are never behind it.' }),
  },
  { $id: 'EventPage', description: 'A page of the feed. An empty one does not end it.' },
)

export const EVENT_COMPONENTS = { Event, EventPage } satisfies Record<string, TSchema>
