import { Button } from '@mantine/core'
import { memo, useMemo, useState } from 'react'
import type { CostlyCharacter } from '../../../../src/domain/characters.ts'
import type { Segmentation } from '../../../../src/domain/segments.ts'
import { Empty } from '../../parts/empty.tsx'
import { formatUnits } from '../../parts/units.tsx'
import classes from './cost.module.css'
import { runsOf } from './runs.ts'

/** Segments before somebody asks for all: more would cost time at each key. */
const FEW = 12

interface SegmentsProps {
  cut: Segmentation
  costly: readonly CostlyCharacter[]
}

/** The text as it travels, with what costs more marked in it. */
export const Segments = memo(function Segments({ cut, costly }: SegmentsProps) {
  const [isWhole, setWhole] = useState(false)
  const { encoding, capacity, segments } = cut
  // In UCS-2 nothing counts double.
  const marked = useMemo(
    () => (encoding === 'GSM-7' ? costly : costly.filter(({ why }) => why === 'foreign')),
    [encoding, costly],
  )
  const shown = useMemo(() => runsOf(isWhole ? segments : segments.slice(0, FEW), marked), [isWhole, segments, marked])
  const isEmpty = segments.length === 1 && segments[0]?.text === ''
  return (
    <section aria-labelledby="segments" className={classes.section}>
      <h2 id="segments" className={classes.heading}>
        Segments
      </h2>
      {isEmpty ? (
        <Empty title="Nothing typed yet">Even an empty message is sent as one segment.</Empty>
      ) : (
        <ol className={classes.segments}>
          {shown.map(({ at, filled, runs }, place) => (
            <li key={at} className={classes.segment}>
              <div className={classes.about}>
                {formatUnits(place + 1)} · {filled} of {capacity}
              </div>
              <p dir="auto">
                {runs.map(({ at, text, why }) =>
                  why === null ? (
                    text
                  ) : (
                    <mark key={at} data-why={why} title={why === 'foreign' ? 'Forces UCS-2' : 'Counts double'}>
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
        <Button variant="subtle" size="compact-xs" onClick={() => setWhole(true)}>
          Show {formatUnits(segments.length - shown.length)} more
        </Button>
      )}
    </section>
  )
})
