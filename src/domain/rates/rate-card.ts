import { type EpochMs, formatTimestamp } from '../time/time.ts'
import type { RateLine } from './rate-line.ts'

/** A rate card: lists of prices, of which one holds at a time. */
export interface RateCard {
  id: number
  /** Numbers the lists, from 1: that of the last one. */
  version: number
  /** How many lines that one has. */
  line_count: number
  name: string
  /** Whether it is the card of users who have none of their own, and whose plan has none. One card at most is. */
  is_default: boolean
  archived_at: EpochMs | null
  created_at: EpochMs
  created_by: string
  updated_at: EpochMs
  updated_by: string
}

/** A list of prices, which never changes. */
export interface RateList {
  version: number
  /** From when on it holds. */
  valid_from: EpochMs
  /** How many lines it has. */
  line_count: number
  created_at: EpochMs
  created_by: string
}

export interface RateCardDraft {
  name: string
  is_default?: boolean
  lines?: readonly RateLine[]
}

export type RateCardPatch = Partial<Pick<RateCard, 'name' | 'is_default'>>

type Changed = { outcome: 'changed'; card: RateCard } | { outcome: 'unchanged' }
type Context = { now: EpochMs; actor: string }

const changedTo = (current: RateCard, fields: Partial<RateCard>, { now, actor }: Context): Changed => ({
  outcome: 'changed',
  card: { ...current, ...fields, updated_at: now, updated_by: actor },
})

/** Changes a card that is not archived. Its prices change by a new list only. */
export function changeRateCard(current: RateCard, patch: RateCardPatch, context: Context): Changed {
  const { name = current.name, is_default = current.is_default } = patch
  if (name === current.name && is_default === current.is_default) return { outcome: 'unchanged' }
  return changedTo(current, { name, is_default }, context)
}

export function archiveRateCard(current: RateCard, context: Context): Changed {
  return current.archived_at === null
    ? changedTo(current, { archived_at: context.now }, context)
    : { outcome: 'unchanged' }
}

/** A card whose next list is the last. */
export function withNextList(current: RateCard, line_count: number, { now, actor }: Context): RateCard {
  return { ...current, version: current.version + 1, line_count, updated_at: now, updated_by: actor }
}

/** A card as the API shows it. */
export function rateCardViewOf({ line_count, archived_at, created_at, updated_at, ...card }: RateCard) {
  return {
    ...card,
    archived: archived_at !== null,
    lines: line_count,
    created_at: formatTimestamp(created_at),
    updated_at: formatTimestamp(updated_at),
  }
}
