import type { CostlyCharacter } from '../../../../src/domain/characters.ts'
import type { Segmentation } from '../../../../src/domain/segments.ts'

/** A part of a text whose characters have the same cost; `why` is null for normal ones. `at` counts UTF-16 units. */
interface Run {
  at: number
  text: string
  why: CostlyCharacter['why'] | null
}

/** Splits the text of each segment into runs. */
export function runsOf(segments: Segmentation['segments'], costly: readonly CostlyCharacter[]) {
  const ranges = costlyRanges(costly)
  let start = 0
  return segments.map(({ text, filled }) => {
    const from = start
    const end = from + text.length
    start = end
    const runs: Run[] = []
    let at = from
    const add = (to: number, why: Run['why']) => {
      if (to > at) runs.push({ at, text: text.slice(at - from, to - from), why })
      at = Math.max(at, to)
    }
    for (const range of ranges.filter(({ from: first, to }) => to > from && first < end)) {
      add(range.from, null)
      // A range longer than a segment continues in the next one.
      add(Math.min(range.to, end), range.why)
    }
    add(end, null)
    return { at: from, filled, runs }
  })
}

/** Merges adjacent characters of the same kind, so that a text in another script is one mark and not one per letter. */
function costlyRanges(costly: readonly CostlyCharacter[]) {
  const ranges: { from: number; to: number; why: CostlyCharacter['why'] }[] = []
  for (const { at, character, why } of costly) {
    const last = ranges.at(-1)
    if (last?.to === at && last.why === why) last.to += character.length
    else ranges.push({ from: at, to: at + character.length, why })
  }
  return ranges
}
