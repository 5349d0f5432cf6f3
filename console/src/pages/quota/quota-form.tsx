import { Button } from '@mantine/core'
import { type FormEvent, type ReactNode, useRef } from 'react'
import type { Api } from '../../api/types.ts'
import { leadToFault, useLeadToFault } from '../../parts/lead-to-fault.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { EffectPreview } from './effect-preview.tsx'
import { quotaFaults } from './faults.tsx'
import { QuotaFields } from './quota-fields.tsx'
import classes from './quota-form.module.css'
import { EDITABLE, hasStarted, keyTwice, type Typed, termsOf } from './typed.ts'

interface QuotaFormProps {
  typed: Typed
  onChange: (typed: Typed) => void
  /** The quota that is changed; null for one that is made. */
  was: Api['SmsQuota'] | null
  /** Why the service did not do it. */
  error: Error | null
  isBusy: boolean
  onSubmit: () => void
  submitLabel: string
  onCancel: () => void
  /** What more there is to say about `error`, and to do. */
  remedy?: ReactNode
}

/** The form of a quota, and beside it in words what it does. */
export function QuotaForm({
  typed,
  onChange,
  was,
  error,
  isBusy,
  onSubmit,
  submitLabel,
  onCancel,
  remedy,
}: QuotaFormProps) {
  const element = useRef<HTMLFormElement>(null)
  useLeadToFault(element, error)
  const shown = was === null ? Object.keys(typed) : EDITABLE.filter(name => name !== 'starts_at' || !hasStarted(was))
  const twice = keyTwice(typed)
  const told = quotaFaults(error, shown)
  const faults =
    twice === null
      ? told
      : { ...told, at: (name: string) => (name === 'metadata' ? `The key “${twice}” is there twice.` : told.at(name)) }

  function submit(event: FormEvent) {
    event.preventDefault()
    // Of two values for a key one would be lost without a word: nothing is sent then.
    if (twice !== null && element.current !== null) leadToFault(element.current)
    else if (!isBusy) onSubmit()
  }
  return (
    <form ref={element} className={classes.layout} onSubmit={submit} noValidate aria-busy={isBusy}>
      <div className={classes.main}>
        {faults.rest !== null && <Refusal error={faults.rest}>{remedy}</Refusal>}
        <QuotaFields form={{ typed, change: part => onChange({ ...typed, ...part }), faults }} was={was} />
      </div>
      <div className={classes.effect}>
        <EffectPreview terms={termsOf(typed, was)} from={was === null ? Date.now() : Date.parse(was.window_start)} />
      </div>
      <div className={classes.foot}>
        <Button type="submit" loading={isBusy}>
          {submitLabel}
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
