import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChosenBar } from '../../components/chosen-bar.ts'
import { formatTimestamp } from '../../formats.ts'
import { histogramPeriod, timeOfBars } from '../../model/message-histogram.ts'
import type { MessageFilters } from '../../model/messages.ts'
import { histogramQuery } from '../../queries/all-messages.ts'
import { texts } from '../../texts/texts.ts'
import classes from './histogram.module.css'

interface HistogramProps {
  filters: MessageFilters
  onTime: (time: Pick<MessageFilters, 'from' | 'to'>) => void
}

/**
 * Sent and denied messages by time, whose figures the pointer and the arrow keys choose. A drag over bars chooses their time; the fields
 * of the filters do the same by keyboard.
 */
export function Histogram({ filters, onTime }: HistogramProps) {
  const period = histogramPeriod(filters, new Date())
  const { data: bars } = useQuery(histogramQuery(filters, period))
  const [dragged, setDragged] = useState<readonly [number, number] | null>(null)
  const count = bars?.length ?? 0
  const { chosen, shown, barAt, choose, slider } = useChosenBar(count, count - 1)
  // Where usage cannot tell, as of too many rows, the list has no histogram.
  if (period === null || bars === undefined || bars.length === 0) return null
  const { histogram } = texts.messages
  const current = bars[shown]
  const said = current === undefined ? '' : histogram.bar(formatTimestamp(current.start), current.sent, current.denied)
  const totalOf = (kind: 'sent' | 'denied') => bars.reduce((total, bar) => total + bar[kind], 0)
  const counted = histogram.counted(totalOf('sent'), totalOf('denied'))
  const most = Math.max(1, ...bars.map(({ sent, denied }) => sent + denied))
  const isDragged = (index: number) =>
    dragged !== null && index >= Math.min(...dragged) && index <= Math.max(...dragged)

  const apply = () => {
    const time = dragged && timeOfBars(bars, dragged, filters)
    setDragged(null)
    if (time !== null) onTime(time)
  }
  return (
    <figure className={classes.figure}>
      <p className={classes.counted}>{filters.from === null ? histogram.ofDay(counted) : counted}</p>
      <div
        className={classes.bars}
        role="slider"
        tabIndex={0}
        aria-valuenow={shown}
        {...slider}
        aria-label={histogram.chart(counted)}
        aria-valuetext={said}
        onPointerDown={event => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setDragged([barAt(event), barAt(event)])
        }}
        onPointerMove={event => {
          choose(barAt(event))
          if (dragged !== null) setDragged([dragged[0], barAt(event)])
        }}
        onPointerUp={apply}
        onPointerCancel={() => setDragged(null)}
      >
        {bars.map((bar, index) => (
          <div
            key={bar.start}
            className={classes.bar}
            title={histogram.bar(formatTimestamp(bar.start), bar.sent, bar.denied)}
            data-dragged={isDragged(index) || index === chosen || undefined}
          >
            <span className={classes.denied} style={{ height: `${(bar.denied / most) * 100}%` }} />
            <span className={classes.sent} style={{ height: `${(bar.sent / most) * 100}%` }} />
          </div>
        ))}
      </div>
      <figcaption className={classes.axis}>
        <span>{formatTimestamp(period.from)}</span>
        <span>{chosen === null ? histogram.hint : said}</span>
        <span>{formatTimestamp(period.to)}</span>
      </figcaption>
    </figure>
  )
}
