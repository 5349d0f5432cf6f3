import { findIn, type RateLine } from '../../../src/domain/rates/rate-line.ts'
import type { Api } from '../api/types.ts'
import { withoutGroups } from './typed.ts'

type Card = Api['RateCard']

/* ── Who has which card ─────────────────────────────────────────────────────────────────────────────────────────── */

/** The card of a user and where it comes from: the user's own, else that of the plan, else the default. Null: there is none. */
export function cardOf(
  cards: readonly Card[],
  own: number | null,
  ofPlan: number | null,
): { card: Card; from: 'own' | 'plan' | 'default' } | null {
  const byId = (id: number | null) => cards.find(card => card.id === id)
  const found = [
    { card: byId(own), from: 'own' },
    { card: byId(ofPlan), from: 'plan' },
    { card: cards.find(({ is_default }) => is_default), from: 'default' },
  ] as const
  for (const { card, from } of found) if (card !== undefined) return { card, from }
  return null
}

/* ── Look-up ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The digits of a number or of its beginning, without plus or 00; null for another text. */
export function digitsOf(text: string): string | null {
  return /^(?:\+|00)?([1-9]\d{0,14})$/.exec(withoutGroups(text.trim()))?.[1] ?? null
}

/** Whether lines that begin numbers decide for these digits and any type: then no line of a country does. */
export function isDecidedByPrefix(lines: readonly RateLine[], digits: string): boolean {
  return lines.some(({ prefix, message_type }) => message_type === null && prefix !== null && digits.startsWith(prefix))
}

/** A line that decides what a message costs, for messages of a type; null: of all types that no other line names. */
export interface DecidingLine {
  message_type: string | null
  line: RateLine
}

/** The lines that decide for a destination: one for all types, and those by which a type costs something else. */
export function decidingLines(
  lines: readonly RateLine[],
  { digits, country }: { digits: string | null; country: string | null },
): DecidingLine[] {
  const find = findIn(lines)
  const lineOf = (message_type: string | null) => find({ digits, country, message_type })
  const general = lineOf(null)
  const types = [...new Set(lines.map(({ message_type }) => message_type))].filter(type => type !== null)
  return [null, ...types.sort()].flatMap(message_type => {
    const line = lineOf(message_type)
    return line === undefined || (message_type !== null && line === general) ? [] : [{ message_type, line }]
  })
}
