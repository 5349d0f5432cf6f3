/** The faults of the rows of a file, by kind: a systematic one must not hide the others. */

/** Rows of a kind that are shown before the rest is counted. */
export const FIRST_OF_KIND = 3

/** A message without the value that was received. */
export const ruleOf = (message: string): string => message.replace(/, not (?:"(?:[^"\\]|\\.)*"|[^",]*)$/s, '')

/** The same for faults of a column that differ only in their values, which messages quote. */
export function kindOfFault(column: string, message: string): string {
  const rule = ruleOf(message)
    .replace(/"(?:[^"\\]|\\.)*"/gs, '""')
    .replace(/\d+/g, '0')
  return `${column} ${rule}`
}

interface Kind {
  count: number
  /** The first ones, in words. */
  first: string[]
  /** The line of the first one that is not among them. */
  next: number | null
}

/** Kinds that are kept apart: messages of a kind that is not known may all differ. */
const MAX_KINDS = 200

/** Counts faults, and remembers the first of each kind. */
export interface RowFaults {
  /** @param words what is shown of it */
  add(line: number, column: string, message: string, words: string): void
  /** The first faults of the first kinds, with the number of the others. */
  shown(maxKinds: number): { lines: readonly string[]; isWhole: boolean }
}

export function createRowFaults(): RowFaults {
  const kinds = new Map<string, Kind>()
  /** Faults of further kinds. */
  let others = 0
  return {
    add(line, column, message, words) {
      const key = kindOfFault(column, message)
      const kind = kinds.get(key) ?? { count: 0, first: [], next: null }
      if (kinds.size >= MAX_KINDS && kind.count === 0) {
        others += 1
        return
      }
      kinds.set(key, kind)
      kind.count += 1
      if (kind.first.length < FIRST_OF_KIND) kind.first.push(words)
      else kind.next ??= line
    },
    shown(maxKinds) {
      const known = [...kinds.values()]
      const hidden = known.slice(maxKinds).reduce((sum, { count }) => sum + count, others)
      const lines = known.slice(0, maxKinds).flatMap(({ count, first, next }) => {
        const more = count - first.length
        return next === null ? first : [...first, `and ${inWords(more)} more of this kind, the next in line ${next}`]
      })
      const last = hidden === 0 ? [] : [`and ${inWords(hidden)} more of other kinds`]
      return { lines: [...lines, ...last], isWhole: hidden === 0 && known.every(({ next }) => next === null) }
    },
  }
}

const inWords = (count: number) => count.toLocaleString('en')
