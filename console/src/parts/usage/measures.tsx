import { UnstyledButton } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { formatUnits, Units } from '../units.tsx'
import classes from './usage.module.css'
import { MEASURES, type Measure } from './usage-state.ts'
import { MEASURE_WORDS } from './usage-words.ts'

interface MeasuresProps {
  total: Api['Usage']['total']
  shown: Measure
  onShow: (measure: Measure) => void
}

/** The totals of the period. Pressed, one of them is what the chart draws. */
export function Measures({ total, shown, onShow }: MeasuresProps) {
  // Hardly anybody ever has units that no grant paid for.
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
          <span className={classes.label}>{MEASURE_WORDS[measure].label}</span>
          <span className={classes.total}>
            <Units value={total[measure].units} />
          </span>
          <span className={classes.label}>
            <span className={classes.meaning}>{MEASURE_WORDS[measure].about} · </span>
            {messageWords(total[measure].messages)}
          </span>
        </UnstyledButton>
      ))}
    </fieldset>
  )
}

function messageWords(messages: number): string {
  return `${formatUnits(messages)} ${messages === 1 ? 'message' : 'messages'}`
}
