/** How the gateway or carrier of a deployment cuts texts into SMS: settings, since no two do it alike. */

/** Letters that a national single shift table of 3GPP TS 23.038 has besides GSM-7. Each takes two septets, as € does. */
const SHIFT_LETTERS = { turkish: 'ĞİŞçğış', spanish: 'çÁÍÓÚáíóú', portuguese: 'êçÔôÁáÊÀÍÓÚÃÕÂíóúãõâ' }

type ShiftTable = keyof typeof SHIFT_LETTERS
export const SHIFT_TABLES: readonly ShiftTable[] = ['turkish', 'spanish', 'portuguese']

export interface SegmentRules {
  /** Where a part in UCS-2 may end: between graphemes, or after any 16-bit unit, also within an emoji. */
  split: 'graphemes' | 'code-units'
  /** The number that joins the parts of a text: one of 16 bits takes an octet more of each part. */
  referenceBits: 8 | 16
  /** The tables that are used, each for texts whose letters it has. A text is sent with one table at most. */
  shiftTables: readonly ShiftTable[]
}

/** As most providers count. */
export const DEFAULT_SEGMENT_RULES: SegmentRules = { split: 'graphemes', referenceBits: 8, shiftTables: [] }

/** By no other rules does any text take fewer segments. */
export const FEWEST_SEGMENTS: SegmentRules = { split: 'code-units', referenceBits: 8, shiftTables: SHIFT_TABLES }

const letterSets = new Map<ShiftTable, ReadonlySet<number>>(
  SHIFT_TABLES.map(table => [table, new Set(Array.from(SHIFT_LETTERS[table], letter => letter.charCodeAt(0)))]),
)

/** The letters of each table of the rules, as UTF-16 units. */
export function lettersOf({ shiftTables }: SegmentRules): ReadonlySet<number>[] {
  return shiftTables.flatMap(table => letterSets.get(table) ?? [])
}

/** The characters that an SMS holds: a text that is one SMS, and each part of a longer one. */
export interface Capacity {
  alone: number
  ofPart: number
}

/** An SMS has 140 octets. What says which part it is, and that a shift table is used, stands in a header before the text. */
const OCTETS = 140
const HEADER_LENGTH = 1
const SHIFT_ELEMENT = 3

/** In septets of GSM-7. */
export function septetCapacity(rules: SegmentRules, isShifted: boolean): Capacity {
  const shift = isShifted ? SHIFT_ELEMENT : 0
  const septets = (header: number) => Math.floor(((OCTETS - header) * 8) / 7)
  return {
    alone: septets(isShifted ? HEADER_LENGTH + shift : 0),
    ofPart: septets(HEADER_LENGTH + joinElement(rules) + shift),
  }
}

/** In 16-bit units of UCS-2. */
export function unitCapacity(rules: SegmentRules): Capacity {
  return { alone: OCTETS / 2, ofPart: Math.floor((OCTETS - HEADER_LENGTH - joinElement(rules)) / 2) }
}

/** Two octets of its own, the reference, how many parts there are, and which one this is. */
function joinElement({ referenceBits }: SegmentRules): number {
  return 2 + referenceBits / 8 + 2
}
