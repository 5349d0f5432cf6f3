import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { MAX_SLOTS } from '../../../../src/domain/basics/bounds.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { type FieldErrors, fieldErrors, focusFirstError, useFocusFirstError } from '../../components/form-errors.ts'
import { Icon } from '../../components/icon.tsx'
import { Kind } from '../../components/kind.tsx'
import { RateCardField } from '../../components/rate-card.tsx'
import { TextField } from '../../components/text-field.tsx'
import { type PlanValues, SLOT_PRESETS, type SlotPreset, type SlotValues, withSlot } from '../../model/plan-form.ts'
import { duplicateMetadataKey, type FormValues, termsOf } from '../../model/quota-form.ts'
import { wholeNumber } from '../../model/typed.ts'
import { texts } from '../../texts/texts.ts'
import { QuotaFields } from '../quota/field-groups.tsx'
import quotaForm from '../quota/quota-form.module.css'
import { describe } from '../quota/settings.ts'
import classes from './plan.module.css'
import { lastsText } from './slot-text.ts'
import { HERE } from './surroundings.ts'

const words = texts.plans.form
const { field } = texts.rates

interface PlanFormProps {
  values: PlanValues
  onChange: (values: PlanValues) => void
  /** The error of the last request. */
  error: Error | null
  isBusy: boolean
  onSubmit: () => void
  submitLabel: string
  onCancel: () => void
  /** Explanation and actions for `error`. */
  remedy?: ReactNode
}

/** The form of a plan: its name, whether it is the default, and the form of a quota for each of its quotas. */
export function PlanForm({ values, onChange, error, isBusy, onSubmit, submitLabel, onCancel, remedy }: PlanFormProps) {
  const element = useRef<HTMLFormElement>(null)
  useFocusFirstError(element, error)
  const { slots } = values
  const ofPlan = fieldErrors(error, ['name', 'slots', 'rate_card_id'], words.errors)
  const ofSlots = slots.map((slot, index) => slotErrors(error, index, slot))
  // An issue of a slot is one of `slots` as well; it is shown only if it belongs to a field.
  const isShown =
    ofPlan.at('name') !== undefined ||
    ofPlan.at('rate_card_id') !== undefined ||
    ofSlots.some(({ rest }) => rest === null)
  const rest = isShown ? ofPlan.rest : error
  const hasTwice = slots.some(({ quota }) => duplicateMetadataKey(quota) !== null)

  function submit(event: FormEvent) {
    event.preventDefault()
    // Not sent, because one of the two values would be lost.
    if (hasTwice && element.current !== null) focusFirstError(element.current)
    else if (!isBusy) onSubmit()
  }
  const changeSlot = (changed: SlotValues) =>
    onChange({ ...values, slots: slots.map(slot => (slot.key === changed.key ? changed : slot)) })
  return (
    <form ref={element} className={classes.form} onSubmit={submit} noValidate aria-busy={isBusy}>
      {rest !== null && (
        <ErrorNotice variant="form" error={rest}>
          {remedy}
        </ErrorNotice>
      )}
      <FieldsOfPlan values={values} onChange={onChange} errors={ofPlan} />
      <fieldset className={classes.slots}>
        <legend>{words.quotas}</legend>
        {slots.map((slot, index) => (
          <SlotFields
            key={slot.key}
            values={slot}
            errors={ofSlots[index] ?? ofPlan}
            onChange={changeSlot}
            onRemove={
              slots.length === 1
                ? undefined
                : () => onChange({ ...values, slots: slots.filter(({ key }) => key !== slot.key) })
            }
          />
        ))}
      </fieldset>
      {slots.length < MAX_SLOTS && <AddSlot onAdd={preset => onChange(withSlot(values, preset, HERE))} />}
      <Group gap="sm">
        <Button type="submit" loading={isBusy}>
          {submitLabel}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {words.cancel}
        </Button>
      </Group>
    </form>
  )
}

/** The fields of the plan as a whole. */
function FieldsOfPlan({
  values,
  onChange,
  errors,
}: Pick<PlanFormProps, 'values' | 'onChange'> & { errors: FieldErrors }) {
  const { name, is_default, rate_card_id } = values
  return (
    <>
      <TextInput
        label={words.name}
        description={words.aboutName}
        required
        autoComplete="off"
        dir="auto"
        value={name}
        error={errors.at('name')}
        onChange={event => onChange({ ...values, name: event.currentTarget.value })}
      />
      <Checkbox
        label={words.isDefault}
        description={words.aboutIsDefault}
        checked={is_default}
        onChange={event => onChange({ ...values, is_default: event.currentTarget.checked })}
      />
      <RateCardField
        label={field.label}
        about={field.ofPlan}
        none={field.asDefault}
        value={String(rate_card_id ?? '')}
        onChange={id => onChange({ ...values, rate_card_id: id === '' ? null : Number(id) })}
        error={errors.at('rate_card_id')}
      />
    </>
  )
}

/** What the service, or the form itself, does not accept of a slot, by field. */
function slotErrors(error: Error | null, index: number, { quota }: SlotValues): FieldErrors {
  const shown = [...Object.keys(quota), 'slot', 'lasts_days']
  const accepted = { ...texts.quota.form.errors, ...words.errors, name: texts.quota.form.errors.name }
  const { at, rest } = fieldErrors(error, shown, accepted, `/slots/${index}`)
  const twice = duplicateMetadataKey(quota)
  return { at: name => (name === 'metadata' && twice !== null ? texts.quota.form.keyTwice(twice) : at(name)), rest }
}

interface SlotFieldsProps {
  values: SlotValues
  errors: FieldErrors
  onChange: (values: SlotValues) => void
  /** undefined for the only one. */
  onRemove: (() => void) | undefined
}

/** A quota of the plan: what it is in one line, and its fields below. */
function SlotFields({ values, errors, onChange, onRemove }: SlotFieldsProps) {
  const { slot, lasts_days, quota } = values
  const terms = termsOf(quota, null, Date.now())
  const days = wholeNumber(lasts_days)
  const lasts = typeof days === 'number' ? lastsText({ lasts_days: days }) : []
  // As of the first render: it does not close while the limit is typed.
  const [isIncomplete] = useState(terms === null)
  return (
    <details className={classes.slot} open={isIncomplete}>
      <summary className={quotaForm.summary}>
        <span className={classes.slotHead}>
          <Kind kind={quota.kind}>
            <bdi>{quota.name === '' ? slot : quota.name}</bdi>
          </Kind>
          <bdi className={classes.slotText}>
            {terms === null ? words.incomplete : [describe(terms), ...lasts].join('; ')}
          </bdi>
        </span>
      </summary>
      <fieldset aria-label={slot} className={classes.slotBody}>
        <div className={quotaForm.pair}>
          <TextField
            label={words.slot}
            about={words.aboutSlot}
            value={slot}
            error={errors.at('slot')}
            onChange={next => onChange({ ...values, slot: next })}
          />
          <TextField
            label={words.lasts}
            about={words.aboutLasts}
            value={lasts_days}
            error={errors.at('lasts_days')}
            onChange={next => onChange({ ...values, lasts_days: next })}
            isNumber
          />
        </div>
        <QuotaFields
          form={{
            values: quota,
            change: (part: Partial<FormValues>) => onChange({ ...values, quota: { ...quota, ...part } }),
            errors,
          }}
          original={null}
          isOnlyBlock={false}
          isOfPlan
        />
        {onRemove !== undefined && (
          <Button variant="outline" color="red" size="xs" aria-label={words.removeOf(slot)} onClick={onRemove}>
            {words.remove}
          </Button>
        )}
      </fieldset>
    </details>
  )
}

/** One click adds a common quota, filled in. */
function AddSlot({ onAdd }: { onAdd: (preset: SlotPreset) => void }) {
  return (
    <Group gap="xs" role="group" aria-label={words.add} className={quotaForm.presets}>
      <span>{words.add}</span>
      {SLOT_PRESETS.map(preset => (
        <Button
          key={preset}
          variant="default"
          size="xs"
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => onAdd(preset)}
        >
          {texts.plans.presets[preset]}
        </Button>
      ))}
    </Group>
  )
}
