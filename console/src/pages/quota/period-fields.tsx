import { NativeSelect } from '@mantine/core'
import { canHaveAnchor, JOINED } from '../../../../src/domain/time/anchor.ts'
import { COMMON_PERIODS, PERIODS } from '../../../../src/domain/time/period.ts'
import { monthName } from '../../formats.ts'
import { perOf } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import { fieldProps, type QuotaFormState } from './fields.tsx'
import { PERIOD_LABELS, SETTING_LABELS } from './settings.ts'

const TEXTS = texts.quota.form

interface Props {
  form: QuotaFormState
}

/** When a quota resets. Another period has other days on which it can begin. A cap that counts each value by itself always resets. */
export function PeriodField({ form }: Props) {
  const { value, error } = fieldProps(form, 'period')
  const isPerValue = perOf(form.values) !== null
  const periods = isPerValue ? PERIODS : COMMON_PERIODS
  const change = (text: string) => form.change({ period: periods.find(name => name === text) ?? null, anchor: '' })
  return (
    <NativeSelect
      label={SETTING_LABELS.period}
      description={TEXTS.periodAbout}
      data={[
        ...(isPerValue ? [] : [{ value: '', label: texts.quota.settings.oneTime }]),
        ...periods.map(name => ({ value: name, label: PERIOD_LABELS[name] })),
      ]}
      value={value ?? ''}
      onChange={event => change(event.currentTarget.value)}
      error={error}
    />
  )
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const twoDigits = (n: number) => String(n).padStart(2, '0')
/** In a leap year: 29 February can be chosen. */
const daysIn = (month: number) => new Date(Date.UTC(2000, month, 0)).getUTCDate()

/** Where months or years begin, of a quota that resets with them. In a plan it can be the day on which the user gets it. */
export function AnchorFields({ form, isOfPlan }: Props & { isOfPlan: boolean }) {
  const { period } = form.values
  const { value, onChange, error } = fieldProps(form, 'anchor')
  if (!canHaveAnchor(period)) return null
  const [day = 1, month = 1] = value === '' || value === JOINED ? [] : value.split('-').map(Number).reverse()
  const isYear = period === 'year'
  function change(newMonth: number, newDay: number) {
    const first = Math.min(newDay, daysIn(newMonth))
    if (newMonth === 1 && first === 1) onChange('')
    else onChange(isYear ? `${twoDigits(newMonth)}-${twoDigits(first)}` : String(first))
  }
  return (
    <>
      {isYear && value !== JOINED && (
        <NativeSelect
          label={TEXTS.firstMonth}
          data={upTo(12).map(n => ({ value: String(n), label: monthName(n) }))}
          value={String(month)}
          onChange={event => change(Number(event.currentTarget.value), day)}
        />
      )}
      <NativeSelect
        label={SETTING_LABELS.anchor}
        description={TEXTS.firstDayAbout}
        data={[
          ...upTo(isYear ? daysIn(month) : 31).map(String),
          ...(isOfPlan ? [{ value: JOINED, label: TEXTS.joined }] : []),
        ]}
        value={value === JOINED ? JOINED : String(day)}
        onChange={({ currentTarget: { value: chosen } }) =>
          chosen === JOINED ? onChange(JOINED) : change(month, Number(chosen))
        }
        error={error}
      />
    </>
  )
}
