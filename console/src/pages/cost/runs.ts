import type { CostlyCharacter } from '../../../../src/domain/characters.ts'
import type { Segmentation } from '../../../../src/domain/segments.ts'

/** A stretch of a text: as it is (`why` is null), or of characters that cost more. Places are in UTF-16 units. */
interface Run {
  at: number
  text: string
  why: CostlyCharacter['why'] | null
}

/** Each segment's text, in runs. */
export function runsOf(segments: Segmentation['segments'], costly: readonly CostlyCharacter[]) {
  const stretches = stretchesOf(costly)
  let begin = 0
  return segments.map(({ text, filled }) => {
    const from = begin
    const end = from + text.length
    begin = end
    const runs: Run[] = []
    let at = from
    const add = (to: number, why: Run['why']) => {
      if (to > at) runs.push({ at, text: text.slice(at - from, to - from), why })
      at = Math.max(at, to)
    }
    for (const stretch of stretches.filter(({ from: first, to }) => to > from && first < end)) {
      add(stretch.from, null)
      // What is longer than a segment goes on in the next one.
      add(Math.min(stretch.to, end), stretch.why)
    }
    add(end, null)
    return { at: from, filled, runs }
  })
}

/** Neighbours of one kind are one stretch: a text in another script is one mark, not one a letter. */
function stretchesOf(costly: readonly CostlyCharacter[]) {
  const stretches: { from: number; to: number; why: CostlyCharacter['why'] }[] = []
  for (const { at, character, why } of costly) {
    const last = stretches.at(-1)
    if (last?.to === at && last.why === why) last.to += character.length
    else stretches.push({ from: at, to: at + character.length, why })
  }
  return stretches
}
