import { MAX_VALID_FROM_AHEAD_MS } from '../basics/bounds.ts'
import type { EpochMs } from '../time/time.ts'
import type { Rate } from './rate.ts'
import type { FindLine, Priced } from './rate-line.ts'

/** A list of prices, prepared for look-ups. */
export interface PreparedList {
  readonly version: number
  readonly valid_from: EpochMs
  readonly find: FindLine
}

/** Whose card a user has. Null: none. */
export interface CardsOfUser {
  /** The user's own, which was negotiated. */
  readonly own: number | null
  /** The plan that the user has. */
  readonly plan: number | null
}

export const NO_CARDS: CardsOfUser = { own: null, plan: null }

/** The rate cards that a process knows. */
export interface RateBook {
  /** The lists of each card that is not archived: those that hold, or will. */
  readonly cards: ReadonlyMap<number, readonly PreparedList[]>
  readonly defaultId: number | null
  /** The cards of plans. */
  readonly ofPlans: ReadonlyMap<number, number>
  /** The plan that users get who never had a quota, if it has a card. */
  readonly defaultPlanId: number | null
  /** Whether any user or plan has a card of its own: without, no one has to ask who the user is. */
  readonly isPersonal: boolean
}

export const NO_RATES: RateBook = {
  cards: new Map(),
  defaultId: null,
  ofPlans: new Map(),
  defaultPlanId: null,
  isPersonal: false,
}

/** Whose card users have who get the default plan. */
export const cardsOfNewcomer = ({ defaultPlanId }: RateBook): CardsOfUser => ({ own: null, plan: defaultPlanId })

/** The rate of a message; null if no card prices it. The card is the user's own, else that of the user's plan, else the default. */
export function rateOf(book: RateBook, { own, plan }: CardsOfUser, message: Priced, now: EpochMs): Rate | null {
  for (const card_id of [own, plan === null ? null : (book.ofPlans.get(plan) ?? null), book.defaultId]) {
    const lists = card_id === null ? undefined : book.cards.get(card_id)
    if (card_id === null || lists === undefined) continue
    const list = listAt(lists, now)
    const line = list?.find(message)
    if (list === undefined || line === undefined) continue
    const { per_segment, per_message } = line
    return { card_id, version: list.version, per_segment, per_message }
  }
  return null
}

/**
 * The list that holds at a time: the latest of those that hold already, of one time the last version. One that begins later than any may
 * be asked to was written while a clock was ahead, and holds. While all are yet to come, for a clock that lags, the first one holds.
 */
export function listAt<List extends Dated>(lists: readonly List[], now: EpochMs): List | undefined {
  let found: List | undefined
  let first: List | undefined
  for (const list of lists) {
    const isHolding = list.valid_from <= now || isOfClockAhead(list, now)
    if (isHolding && (found === undefined || isLater(list, found, now))) found = list
    if (first === undefined || isLater(first, list, now)) first = list
  }
  return found ?? first
}

type Dated = Pick<PreparedList, 'version' | 'valid_from'>

const isOfClockAhead = ({ valid_from }: Dated, now: EpochMs) => valid_from > now + MAX_VALID_FROM_AHEAD_MS

/** Of a list that a clock which was ahead has written, the time says nothing. */
function isLater(one: Dated, other: Dated, now: EpochMs): boolean {
  const isByVersion = one.valid_from === other.valid_from || isOfClockAhead(one, now) || isOfClockAhead(other, now)
  return isByVersion ? one.version > other.version : one.valid_from > other.valid_from
}
