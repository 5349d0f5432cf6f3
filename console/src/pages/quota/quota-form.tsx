import { Button } from '@mantine/core'
import { type FormEvent, type ReactNode, useRef } from 'react'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { focusFirstError, useFocusFirstError } from '../../components/focus-first-error.ts'
import { duplicateMetadataKey, EDITABLE, type FormValues, hasStarted, termsOf } from './form-values.ts'
import { QuotaFields } from './quota-fields.tsx'
import classes from './quota-form.module.css'
import { quotaFormErrors } from './quota-form-errors.tsx'
import { QuotaPreview } from './quota-preview.tsx'

interface QuotaFormProps {
  values: FormValues
  onChange: (values: FormValues) => void
  /** The edited quota; null for a new one. */
  original: Api['SmsQuota'] | null
  /** The error of the last request. */
  error: Error | null
  isBusy: boolean
  onSubmit: () => void
  submitLabel: string
  onCancel: () => void
  /** Explanation and actions for `error`. */
  remedy?: ReactNode
}

/** The quota form with a preview beside it. */
export function QuotaForm({
  values,
  onChange,
  original,
  error,
  isBusy,
  onSubmit,
  submitLabel,
  onCancel,
  remedy,
}: QuotaFormProps) {
  const element = useRef<HTMLFormElement>(null)
  useFocusFirstError(element, error)
  const shown =
    original === null ? Object.keys(values) : EDITABLE.filter(name => name !== 'starts_at' || !hasStarted(original))
  const duplicateKey = duplicateMetadataKey(values)
  const serviceErrors = quotaFormErrors(error, shown)
  const errors =
    duplicateKey === null
      ? serviceErrors
      : {
          ...serviceErrors,
          at: (name: string) =>
            name === 'metadata' ? `The key “${duplicateKey}” is used twice.` : serviceErrors.at(name),
        }

  function submit(event: FormEvent) {
    event.preventDefault()
    // Not sent, because one of the two values would be lost.
    if (duplicateKey !== null && element.current !== null) focusFirstError(element.current)
    else if (!isBusy) onSubmit()
  }
  return (
    <form ref={element} className={classes.layout} onSubmit={submit} noValidate aria-busy={isBusy}>
      <div className={classes.main}>
        {errors.rest !== null && (
          <ErrorNotice variant="form" error={errors.rest}>
            {remedy}
          </ErrorNotice>
        )}
        <QuotaFields form={{ values, change: part => onChange({ ...values, ...part }), errors }} original={original} />
      </div>
      <div className={classes.preview}>
        <QuotaPreview
          terms={termsOf(values, original)}
          from={original === null ? Date.now() : Date.parse(original.window_start)}
        />
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
