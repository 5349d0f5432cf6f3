/** The rows of the table of variables for what senders name: destinations, and users that the service may make. */
import { parseMessageTypes } from './parse.ts'
import { flag, oneOf, type Variable, wholeNumber } from './variable.ts'

export const SENDER_VARIABLES = {
  ENFORCEMENT: {
    means: 'what happens to a send beyond its quota: enforce denies it, observe grants it and reports it (would_deny)',
    ...oneOf(['enforce', 'observe']),
    fallback: 'enforce',
  },
  REQUIRE_COUNTRY: {
    means: 'whether senders must name the destination, so that no send can avoid quotas that are scoped to countries',
    ...flag,
  },
  REQUIRE_RECIPIENT: {
    means: 'whether senders must name the recipient, so that no send can avoid caps that count each recipient',
    ...flag,
  },
  SENDER_DOOR: {
    means:
      "whether plain calls of senders are read by the service's own reader, which costs less than that of Node.js and the framework",
    ...flag,
    fallback: 'true',
  },
  AUTO_USERS: {
    means:
      'whether a user_ref that no user has makes the user, with an id from 2^40 on, when a reserve, consume, import or creation of a quota names it; else it is answered 404 (unknown_user)',
    ...flag,
  },
  BREAKER_MESSAGE_TYPES: {
    means: 'the message types that the breaker against pumped traffic watches, unless its settings name others',
    accepts: 'message types separated by commas',
    fallback: 'otp',
    parse: parseMessageTypes,
  },
  BREAKER_INTERVAL_SECONDS: {
    means: 'how often the breaker judges what was sent. A pause holds at most two seconds later',
    ...wholeNumber(5, 300),
    fallback: '15',
  },
} as const satisfies Record<string, Variable<unknown>>
