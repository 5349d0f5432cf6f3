/** A line of a rate card, as it charged a message. `per_segment` and `per_message` are units. */
export interface Rate {
  card_id: number
  /** Of the card's list that held when the message was decided. */
  version: number
  per_segment: number
  per_message: number
}

/** The price of a message: its rate, and how many segments it has. */
export interface Price extends Rate {
  segments: number
}

type Charges = Pick<Rate, 'per_segment' | 'per_message'>

/** The units of a message of some segments. A message of which nothing was sent costs nothing. */
export function unitsOf({ per_segment, per_message }: Charges, segments: number): number {
  return segments === 0 ? 0 : segments * per_segment + per_message
}

/**
 * How many of a message's segments the first of its units pay: only whole ones, and none before what the message costs beside them is
 * paid. Of a message whose segments cost nothing each, all.
 */
export function segmentsPaidBy(units: number, { segments, per_segment, per_message }: Price): number {
  if (units <= 0 || units < per_message) return 0
  return per_segment === 0 ? segments : Math.floor((units - per_message) / per_segment)
}

/** As many units of those that are there as pay whole segments of a message. */
export function wholeUnits(price: Price, available: number): number {
  return unitsOf(price, segmentsPaidBy(available, price))
}
