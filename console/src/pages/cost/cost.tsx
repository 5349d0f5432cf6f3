import { Button, Textarea, TextInput } from '@mantine/core'
import { useDeferredValue, useMemo, useState } from 'react'
import { findCostly } from '../../../../src/domain/characters.ts'
import { segmentText } from '../../../../src/domain/segments.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import classes from './cost.module.css'
import { CostlyCharacters } from './costly-characters.tsx'
import { useDestination } from './destination.ts'
import { EXAMPLE } from './example.ts'
import { Facts } from './facts.tsx'
import { Left } from './left.tsx'
import { Segments } from './segments.tsx'

/** What a message would cost. It is counted here: neither its number nor its text leaves the page. */
export default function Cost() {
  const [to, setTo] = useState('')
  const [text, setText] = useState('')
  const destination = useDestination(to.trim())
  // Typing comes first: a long text is counted when there is time.
  const counted = useDeferredValue(text)
  const cut = useMemo(() => segmentText(counted), [counted])
  const costly = useMemo(() => findCostly(counted), [counted])
  const units = cut.segments.length

  return (
    <>
      <PageTitle
        title="Message cost"
        about="What would this message cost? It is counted on this page, and sent to nobody."
      >
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
            description="Optional: tells the country."
            placeholder="+49 151 12345678"
            type="tel"
            inputMode="tel"
            autoComplete="off"
            value={to}
            onChange={event => setTo(event.currentTarget.value)}
            error={destination.fault}
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
          <Facts cut={cut} hasText={counted !== ''} destination={destination} />
          <Left units={units} />
        </aside>
        <div className={classes.details}>
          <CostlyCharacters text={counted} cut={cut} costly={costly} onReplace={setText} />
          <Segments cut={cut} costly={costly} />
        </div>
      </div>
    </>
  )
}
