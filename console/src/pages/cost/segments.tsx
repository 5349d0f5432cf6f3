import { Button, Text } from '@mantine/core'
import { memo, useMemo, useState } from 'react'
import type { CostlyCharacter } from '../../../../src/domain/messages/characters.ts'
import type { Segmentation } from '../../../../src/domain/messages/segments.ts'
import { EmptyState } from '../../components/loaded.tsx'
import { runsOf } from '../../model/costly-characters.ts'
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
      <Text component="h2" id="segments" size="sm" fw={600}>
        {texts.cost.segments.title}
      </Text>
      {isEmpty ? (
        <EmptyState title={texts.cost.segments.none}>{texts.cost.segments.noneAbout}</EmptyState>
      ) : (
        <ol data-plain className={classes.segments}>
          {shown.map(({ at, filled, runs }, place) => (
            <li key={at} className={classes.segment}>
              <Text component="div" size="xs" c="dimmed">
                {texts.cost.segments.filled(place + 1, filled, capacity)}
              </Text>
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
