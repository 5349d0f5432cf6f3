/** The rows of the table of variables for what senders name: destinations, and users that the service may make. */
import { parseFlag, parseMessageTypes, refuse, whole } from './parse.ts'
import type { Variable } from './variable.ts'

const ENFORCEMENTS = ['enforce', 'observe'] as const
export type Enforcement = (typeof ENFORCEMENTS)[number]

export const SENDER_VARIABLES = {
  ENFORCEMENT: {
    means: 'what happens to a send beyond its quota: enforce denies it, observe grants it and reports it (would_deny)',
    accepts: `one of ${ENFORCEMENTS.join(', ')}`,
    fallback: 'enforce',
    parse: (text: string) => ENFORCEMENTS.find(mode => mode === text) ?? refuse('is neither'),
  },
  REQUIRE_COUNTRY: {
    means: 'whether senders must name the destination, so that no send can avoid quotas that are scoped to countries',
    accepts: 'true or false',
    fallback: 'false',
    parse: parseFlag,
  },
  REQUIRE_RECIPIENT: {
    means: 'whether senders must name the recipient, so that no send can avoid caps that count each recipient',
    accepts: 'true or false',
    fallback: 'false',
    parse: parseFlag,
  },
  AUTO_USERS: {
    means:
      'whether a user_ref that no user has makes the user, with an id from 2^40 on, when a reserve, consume, import or creation of a quota names it; else it is answered 404 (unknown_user)',
    accepts: 'true or false',
    fallback: 'false',
    parse: parseFlag,
  },
  BREAKER_MESSAGE_TYPES: {
    means: 'the message types that the breaker against pumped traffic watches, unless its settings name others',
    accepts: 'message types separated by commas',
    fallback: 'otp',
    parse: parseMessageTypes,
  },
  BREAKER_INTERVAL_SECONDS: {
    means: 'how often the breaker judges what was sent. A pause holds at most two seconds later',
    accepts: 'a whole number from 5 to 300',
    fallback: '15',
    parse: whole(5, 300),
  },
} as const satisfies Record<string, Variable<unknown>>
