/** The most similar word: at most a quarter of its letters, at least one, may differ. Undefined if there is none. */
export function nearest<W extends string>(typed: string, words: readonly W[]): W | undefined {
  const byDistance = words
    .map(word => ({ word, distance: distance(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 4)))
    .sort((a, b) => a.distance - b.distance)
  return byDistance[0]?.word
}

/** Fewer letters begin too many words. */
const MIN_BEGINNING = 3

/** The only word that begins with the letters typed. Undefined if there is none, or if there are several. */
export function completed<W extends string>(typed: string, words: readonly W[]): W | undefined {
  const [word, ...others] = words.filter(word => word.startsWith(typed))
  return others.length === 0 && typed.replace(/^-+/, '').length >= MIN_BEGINNING ? word : undefined
}

/** How many letters must be inserted, removed, changed or swapped with the next one to turn `a` into `b`. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    rows.push(current)
    for (let j = 1; j <= b.length; j++) {
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped))
    }
  }
  return at(a.length, b.length)
}
