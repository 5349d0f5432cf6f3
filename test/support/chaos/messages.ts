/** The messages that senders send during the chaos test: whose they are, and with which options. */
import type { Entry } from './record.ts'

export const USERS = 50
/** Half of all messages are this user's. Users 39 and 49 have the same shard, so their commands share its batches. */
export const HOT_USER = 6
/** Only these users have forced commands, so that all others must stay within their limits at all times. */
export const FORCING_USERS = [45, 46, 47, 48, 49]

/** Codes of the one to `PUMPED_COUNTRY` are never entered, and all others are. */
export const PUMPED_USER = 60
export const HONEST_USER = 61
export const PUMPED_COUNTRY = 'US'
/** The message type that the breaker watches. */
export const CODE = 'code'

/** The ids of users without quotas begin here. None of them has an account before a command is forced. */
const FIRST_UNKNOWN_USER = 1_000

export const isUnknown = (user: number) => user >= FIRST_UNKNOWN_USER

export interface Messages {
  /** A message of a user with quotas, by default of any. */
  next(user?: number): Entry
  /** A message of a user without quotas, perhaps one who had messages before. */
  ofUnknownUser(force: boolean): Entry
  /** A message with a code, as the breaker watches them. */
  withCode(user: number, country: string): Entry
}

export function createMessages(random: () => number): Messages {
  let made = 0
  let unknownUsers = 0
  const below = (bound: number) => Math.floor(random() * bound)
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)]

  function newId(): string {
    made += 1
    return `c${made}`
  }

  function entryOf(user: number, op: Entry['op'], force: boolean): Entry {
    const id = newId()
    const units = 1 + below(random() < 0.1 ? 60 : 4)
    const allowsPart = random() < 0.15
    const onExpiry = random() < 0.2 ? 'commit' : 'release'
    const body = {
      ...{ user_id: user, id, units },
      ...(allowsPart ? { allow_partial: true } : {}),
      ...(random() < 0.3 ? { message_type: oneOf(['otp', 'news']) } : {}),
      ...(random() < 0.3 ? { country: oneOf(['DE', 'FR']) } : {}),
      ...(random() < 0.5 ? { recipient: oneOf(['+491', '+492', '+493']) } : {}),
      ...(random() < 0.4 ? { tag: oneOf(['sales', 'support']) } : {}),
      ...(force ? { force } : {}),
      // Half of them expire while their sender still settles them.
      ttl_seconds: 60 + below(3_600),
      on_expiry: onExpiry,
    }
    return asEntry({ user, id, op, body, asked: units, onExpiry, allowsPart, force })
  }

  return {
    next(user = random() < 0.5 ? HOT_USER : below(USERS)) {
      const op = random() < 0.15 ? 'consume' : 'reserve'
      return entryOf(user, op, op === 'consume' && FORCING_USERS.includes(user) && random() < 0.5)
    },
    ofUnknownUser(force) {
      const isNew = unknownUsers === 0 || random() < 0.7
      if (isNew) unknownUsers += 1
      const user = FIRST_UNKNOWN_USER + (isNew ? unknownUsers - 1 : below(unknownUsers))
      return entryOf(user, force ? 'consume' : 'reserve', force)
    },
    withCode(user, country) {
      const id = newId()
      const body = { user_id: user, id, units: 1, country, message_type: CODE }
      return asEntry({
        ...{ user, id, op: 'consume', body, asked: 1 },
        ...{ onExpiry: 'release', allowsPart: false, force: false },
      })
    },
  }
}

type Asked = Pick<Entry, 'user' | 'id' | 'op' | 'body' | 'asked' | 'onExpiry' | 'allowsPart' | 'force'>

const asEntry = (asked: Asked): Entry => ({
  ...asked,
  ...{ begun: 0, open: 0, shown: undefined, expiresAt: undefined },
  ...{ begunAt: performance.now(), firstShownAt: 0, shownAt: 0, changedAt: 0 },
})
