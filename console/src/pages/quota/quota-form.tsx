import { Anchor, Button, Text } from '@mantine/core'
import { type FormEvent, lazy, type ReactNode, Suspense, useRef } from 'react'
import { Link } from 'wouter'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { type FieldErrors, fieldErrors, focusFirstError, useFocusFirstError } from '../../components/form-errors.ts'
import { Loading } from '../../components/loaded.tsx'
import {
  duplicateMetadataKey,
  EDITABLE,
  type Editable,
  type FormValues,
  hasStarted,
  type Terms,
  termsOf,
} from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import { QuotaFields } from './field-groups.tsx'
import classes from './quota-form.module.css'
import { describe } from './settings.ts'

// Loads the calendar library, which the rest of the console does not need.
const WindowDates = lazy(() => import('./window-dates.tsx'))

type Quota = Api['SmsQuota']

const TEXTS = texts.quota.form

interface QuotaFormProps {
  values: FormValues
  onChange: (values: FormValues) => void
  /** The edited quota; null for a new one. */
  original: Quota | null
  /** The error of the last request. */
  error: Error | null
  isBusy: boolean
  onSubmit: () => void
  submitLabel: string
  onCancel: () => void
  /** Whether only the fields are shown that matter for a cap that lets nothing pass. */
  isOnlyBlock?: boolean
  /** Explanation and actions for `error`. */
  remedy?: ReactNode
}

/** The quota form with a preview beside it. */
export function QuotaForm({ values, onChange, original, error, isBusy, onSubmit, ...more }: QuotaFormProps) {
  const { submitLabel, onCancel, isOnlyBlock = false, remedy } = more
  const element = useRef<HTMLFormElement>(null)
  useFocusFirstError(element, error)
  const duplicateKey = duplicateMetadataKey(values)
  const errors = quotaFormErrors(error, values, original)

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
        <QuotaFields
          form={{ values, change: part => onChange({ ...values, ...part }), errors }}
          original={original}
          isOnlyBlock={isOnlyBlock}
        />
      </div>
      <div className={classes.aside}>
        <QuotaPreview
          terms={termsOf(values, original, Date.now())}
          from={original === null ? Date.now() : Date.parse(original.window_start)}
        />
      </div>
      <div className={classes.foot}>
        <Button type="submit" loading={isBusy}>
          {submitLabel}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {TEXTS.cancel}
        </Button>
      </div>
    </form>
  )
}

/** What the service, or the form itself, does not accept, by field. */
function quotaFormErrors(error: Error | null, values: FormValues, original: Quota | null): FieldErrors {
  const shown =
    original === null
      ? Object.keys(values)
      : EDITABLE.filter(name => name !== 'starts_at' || !hasStarted(original, Date.now()))
  const duplicateKey = duplicateMetadataKey(values)
  const isConflict = error instanceof ApiProblem && error.code === 'conflict'
  const { at, rest } = fieldErrors(error, shown, TEXTS.errors satisfies Record<Editable, string>)
  return {
    at(name) {
      if (name === 'metadata' && duplicateKey !== null) return TEXTS.keyTwice(duplicateKey)
      return name === 'external_ref' && isConflict ? <Conflict existingId={error.existingId} /> : at(name)
    },
    rest: isConflict ? null : rest,
  }
}

/** Another quota already has the external reference. */
function Conflict({ existingId }: { existingId: number | null }) {
  return (
    <>
      {texts.components.errors.problems.conflict.text}{' '}
      {existingId !== null && (
        <Anchor component={Link} href={`/quotas/${existingId}`} inherit underline="always">
          {TEXTS.openQuota(existingId)}
        </Anchor>
      )}
    </>
  )
}

interface PreviewProps {
  /** null while the limit is missing. */
  terms: Terms | null
  /** Start of the shown windows, in milliseconds since 1970. */
  from: number
}

/** Describes the quota that the form would save, and its next windows. */
function QuotaPreview({ terms, from }: PreviewProps) {
  const words = texts.quota.preview
  return (
    <section className={classes.preview} aria-label={words.title}>
      <Text component="h2" size="xs" c="dimmed" fw={500} mb="0.5rem">
        {words.title}
      </Text>
      <p className={classes.text} role="status">
        {terms === null ? words.empty : <bdi>{describe(terms)}</bdi>}
      </p>
      {terms !== null && (
        <Suspense fallback={<Loading rows={3} height={20} />}>
          <WindowDates terms={terms} from={from} />
        </Suspense>
      )}
    </section>
  )
}
