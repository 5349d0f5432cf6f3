import { Button, Textarea, TextInput } from '@mantine/core'
import { useDeferredValue, useMemo, useState } from 'react'
import { findCostly } from '../../../../src/domain/characters.ts'
import { segmentText } from '../../../../src/domain/segments.ts'
import { PageTitle } from '../../components/page-title.tsx'
import classes from './cost.module.css'
import { CostSummary } from './cost-summary.tsx'
import { CostlyCharacters } from './costly-characters.tsx'
import { useDestination } from './destination.ts'
import { RemainingUnits } from './remaining-units.tsx'
import { Segments } from './segments.tsx'

/** Shows everything on this page: extension characters of GSM-7, characters outside it, and several segments. */
const EXAMPLE = {
  to: '+4915112345678',
  text: 'Hi Zoë, your order #4711 is on its way – it’s due tomorrow between 9 and 12… You pay 24,90 € [incl. shipping]. Track it here: https://shop.example/t/4711. Thank you for buying with us!',
}

/** Calculates the cost of a message in the browser: number and text are not sent. */
export default function Cost() {
  const [to, setTo] = useState('')
  const [text, setText] = useState('')
  const destination = useDestination(to.trim())
  // Deferred, so that typing stays responsive with long texts.
  const counted = useDeferredValue(text)
  const segmentation = useMemo(() => segmentText(counted), [counted])
  const costly = useMemo(() => findCostly(counted), [counted])
  const units = segmentation.segments.length

  return (
    <>
      <PageTitle title="Message cost" about="Check what a message costs. Number and text stay in your browser.">
        <Button
          variant="default"
          size="xs"
          onClick={() => {
            setTo(EXAMPLE.to)
            setText(EXAMPLE.text)
          }}
        >
          Try an example
        </Button>
      </PageTitle>
      <div className={classes.columns}>
        <div className={classes.message}>
          <TextInput
            label="Number"
            description="Optional. Shows the country."
            placeholder="+49 151 12345678"
            type="tel"
            inputMode="tel"
            autoComplete="off"
            value={to}
            onChange={event => setTo(event.currentTarget.value)}
            error={destination.error}
            errorProps={{ role: 'alert' }}
          />
          <Textarea
            label="Text"
            autosize
            minRows={5}
            maxRows={16}
            dir="auto"
            value={text}
            onChange={event => setText(event.currentTarget.value)}
            classNames={{ input: classes.text ?? '' }}
          />
        </div>
        <aside className={classes.result} aria-label="Cost" aria-busy={counted !== text}>
          <CostSummary segmentation={segmentation} hasText={counted !== ''} destination={destination} />
          <RemainingUnits units={units} />
        </aside>
        <div className={classes.details}>
          <CostlyCharacters text={counted} segmentation={segmentation} costly={costly} onReplace={setText} />
          <Segments segmentation={segmentation} costly={costly} />
        </div>
      </div>
    </>
  )
}
