import { Button } from '@mantine/core'
import { memo, useMemo, useState } from 'react'
import type { CostlyCharacter } from '../../../../src/domain/characters.ts'
import type { Segmentation } from '../../../../src/domain/segments.ts'
import { EmptyState } from '../../components/loaded.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './cost.module.css'

/** Segments shown at first; rendering more would slow down typing. */
const INITIAL_SEGMENTS = 12

interface SegmentsProps {
  segmentation: Segmentation
  costly: readonly CostlyCharacter[]
}

/** The segments of the text, with costly characters marked. */
export const Segments = memo(function Segments({ segmentation, costly }: SegmentsProps) {
  const [isExpanded, setExpanded] = useState(false)
  const { encoding, capacity, segments } = segmentation
  // In UCS-2 no character counts double.
  const marked = useMemo(
    () => (encoding === 'GSM-7' ? costly : costly.filter(({ why }) => why === 'foreign')),
    [encoding, costly],
  )
  const shown = useMemo(
    () => runsOf(isExpanded ? segments : segments.slice(0, INITIAL_SEGMENTS), marked),
    [isExpanded, segments, marked],
  )
  const isEmpty = segments.length === 1 && segments[0]?.text === ''
  return (
    <section aria-labelledby="segments" className={classes.section}>
      <h2 id="segments" className={classes.heading}>
        {texts.cost.segments.title}
      </h2>
      {isEmpty ? (
        <EmptyState title={texts.cost.segments.none}>{texts.cost.segments.noneAbout}</EmptyState>
      ) : (
        <ol className={classes.segments}>
          {shown.map(({ at, filled, runs }, place) => (
            <li key={at} className={classes.segment}>
              <div className={classes.about}>{texts.cost.segments.filled(place + 1, filled, capacity)}</div>
              <p dir="auto">
                {runs.map(({ at, text, why }) =>
                  why === null ? (
                    text
                  ) : (
                    <mark
                      key={at}
                      data-why={why}
                      title={texts.cost.segments[why === 'foreign' ? 'forcesUcs2' : 'countsDouble']}
                    >
                      {text}
                    </mark>
                  ),
                )}
              </p>
            </li>
          ))}
        </ol>
      )}
      {segments.length > shown.length && (
        <Button variant="subtle" size="compact-xs" onClick={() => setExpanded(true)}>
          {texts.cost.showMore(segments.length - shown.length)}
        </Button>
      )}
    </section>
  )
})

/** A part of a text whose characters have the same cost; `why` is null for normal ones. `at` counts UTF-16 units. */
interface Run {
  at: number
  text: string
  why: CostlyCharacter['why'] | null
}

/** Splits the text of each segment into runs. */
function runsOf(segments: Segmentation['segments'], costly: readonly CostlyCharacter[]) {
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
