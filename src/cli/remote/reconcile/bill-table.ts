/** The messages of a bill in memory: 64 bytes each, and 8 to 16 to find it, so a million take at most 80 MB. */
import { hash } from 'node:crypto'

/** The key is kept as a hash of 128 bits: no two of a bill are alike. What else is kept, as whole numbers below 2^32. */
const HASH = [0, 1, 2, 3] as const
const FIELDS = [
  'file',
  'line',
  'isFailed',
  'segments',
  'units',
  'userHigh',
  'userLow',
  'result',
  'here',
  'commit',
  'release',
  'refund',
] as const
type Field = (typeof FIELDS)[number]
const WORDS = HASH.length + FIELDS.length

/** The value of a field that is not known. */
export const NONE = 0xffffffff

export interface BillTable {
  readonly size: number
  /** The number of the message with a key; undefined if there is none. */
  find(key: string): number | undefined
  /** Adds one that is not there, with all fields unknown. @returns its number */
  add(key: string): number
  get(message: number, field: Field): number
  set(message: number, fields: Partial<Record<Field, number>>): void
}

/** Messages of a piece of memory. In pieces, it grows without a copy. */
const PIECE = 1 << 14
const placeIn = (field: Field) => HASH.length + FIELDS.indexOf(field)

export function createBillTable(): BillTable {
  const pieces: Uint32Array[] = []
  /** The number of a message, from 1, at the place that its hash says, or behind it. At most half of the places are taken. */
  let index = new Uint32Array(1 << 10)
  let size = 0

  const word = (message: number, place: number) =>
    pieces[Math.floor(message / PIECE)]?.[(message % PIECE) * WORDS + place] ?? 0
  function put(message: number, place: number, value: number): void {
    const piece = pieces[Math.floor(message / PIECE)]
    if (piece !== undefined) piece[(message % PIECE) * WORDS + place] = value
  }
  const wordsOf = (key: string) => {
    const bytes = hash('sha256', key, 'buffer')
    return HASH.map(place => bytes.readUInt32LE(4 * place))
  }
  /** Where in the index a message stands, or would. */
  function placeOf(words: readonly number[]): number {
    let place = (words[0] ?? 0) % index.length
    for (let found = index[place] ?? 0; found !== 0; found = index[place] ?? 0) {
      if (words.every((value, at) => word(found - 1, at) === value)) return place
      place = (place + 1) % index.length
    }
    return place
  }
  function grow(): void {
    index = new Uint32Array(2 * index.length)
    for (let message = 0; message < size; message += 1)
      index[placeOf(HASH.map(place => word(message, place)))] = message + 1
  }

  return {
    get size() {
      return size
    },
    find(key) {
      const found = index[placeOf(wordsOf(key))] ?? 0
      return found === 0 ? undefined : found - 1
    },
    add(key) {
      if (2 * (size + 1) > index.length) grow()
      if (size % PIECE === 0) pieces.push(new Uint32Array(PIECE * WORDS).fill(NONE))
      const words = wordsOf(key)
      for (const [place, value] of words.entries()) put(size, place, value)
      index[placeOf(words)] = size + 1
      size += 1
      return size - 1
    },
    get: (message, field) => word(message, placeIn(field)),
    set(message, fields) {
      for (const field of FIELDS) {
        const value = fields[field]
        if (value !== undefined) put(message, placeIn(field), value)
      }
    },
  }
}
