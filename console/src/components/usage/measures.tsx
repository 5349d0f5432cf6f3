import { UnstyledButton } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { formatUnits } from '../../formats.ts'
import { Units } from '../values.tsx'
import classes from './usage.module.css'
import { MEASURE_LABELS } from './usage-labels.ts'
import { MEASURES, type Measure } from './usage-state.ts'

interface MeasuresProps {
  total: Api['Usage']['total']
  shown: Measure
  onShow: (measure: Measure) => void
}

/** Totals of the period as buttons that select what the chart shows. */
export function Measures({ total, shown, onShow }: MeasuresProps) {
  // Most users have no unfunded units.
  const measures = MEASURES.filter(measure => measure !== 'unfunded' || total.unfunded.units > 0 || shown === measure)
  return (
    <fieldset className={classes.measures} aria-label="What the chart shows">
      {measures.map(measure => (
        <UnstyledButton
          key={measure}
          className={classes.measure ?? ''}
          aria-pressed={measure === shown}
          onClick={() => onShow(measure)}
        >
          <span className={classes.label}>{MEASURE_LABELS[measure].label}</span>
          <span className={classes.total}>
            <Units value={total[measure].units} />
          </span>
          <span className={classes.label}>
            <span className={classes.meaning}>{MEASURE_LABELS[measure].about} · </span>
            {formatMessageCount(total[measure].messages)}
          </span>
        </UnstyledButton>
      ))}
    </fieldset>
  )
}

function formatMessageCount(messages: number): string {
  return `${formatUnits(messages)} ${messages === 1 ? 'message' : 'messages'}`
}
