import { Checkbox, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { TEXT_NAMES } from '../../../../src/domain/quotas/quota-settings.ts'
import type { Api } from '../../api/types.ts'
import { Kind } from '../../components/kind.tsx'
import { TextField } from '../../components/text-field.tsx'
import { formatTimestamp } from '../../formats.ts'
import { toTimestamp } from '../../model/local-time.ts'
import { canHaveOverage, canRollOver, countsOf, hasStarted, isUnlimited, perOf } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import { CountingFields, KindField } from './counting-fields.tsx'
import {
  CountriesField,
  fieldProps,
  MetadataField,
  type QuotaFormState,
  SlugsField,
  TimestampField,
  TimeZoneField,
} from './fields.tsx'
import { AnchorFields, PeriodField } from './period-fields.tsx'
import classes from './quota-form.module.css'
import { countriesText, SETTING_LABELS, type Setting, settingText } from './settings.ts'

type Quota = Api['SmsQuota']

const TEXTS = texts.quota.form
const NONE = texts.quota.settings.none

/** Settings that are a text, but for the name, which is in view. */
const OTHER_TEXTS = TEXT_NAMES.filter(name => name !== 'name')

interface QuotaFieldsProps {
  form: QuotaFormState
  /** The edited quota, whose fixed settings are shown as text; null for a new one. */
  original: Quota | null
  /** Whether it is a cap that lets nothing pass: what it is, when it resets and its alerts are left out, and what it blocks is in view. */
  isOnlyBlock: boolean
  /** Whether it is a quota of a plan, which has no user, times and reference of its own. */
  isOfPlan?: boolean
}

/** The fields of a quota: user, kind, limit and period in view, the others in collapsed groups. */
export function QuotaFields({ form, original, isOnlyBlock, isOfPlan = false }: QuotaFieldsProps) {
  const name = <TextField {...fieldProps(form, 'name')} />
  return (
    <div className={classes.fields}>
      {original === null ? (
        <>
          {!isOfPlan && <TextField {...fieldProps(form, 'user_id')} required isNumber />}
          {isOnlyBlock ? (
            <ScopeFields form={form} />
          ) : (
            <>
              <KindField form={form} />
              <CountingFields form={form} />
              <div className={classes.pair}>
                <LimitField form={form} />
                <PeriodField form={form} />
              </div>
            </>
          )}
          <div className={classes.pair}>
            {name}
            {form.values.period !== null && !isOnlyBlock && <TimeZoneField {...fieldProps(form, 'time_zone')} />}
            {!isOnlyBlock && <AnchorFields form={form} isOfPlan={isOfPlan} />}
          </div>
        </>
      ) : (
        <>
          <FixedSettings quota={original} />
          <div className={classes.pair}>
            <LimitField form={form} />
            {name}
          </div>
        </>
      )}
      <div>
        <p className={classes.optional}>{TEXTS.optional}</p>
        <RolloverGroup form={form} />
        {!isOfPlan && (
          <ScheduleGroup form={form} canEditStart={original === null || !hasStarted(original, Date.now())} />
        )}
        {!isOnlyBlock && (
          <>
            <ScopeGroup form={form} />
            {perOf(form.values) === null && <AlertsGroup form={form} />}
          </>
        )}
        <MoreGroup form={form} isNew={original === null} isOfPlan={isOfPlan} />
      </div>
    </div>
  )
}

/* ── In view ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Settings that cannot be changed after creation, as text. */
function FixedSettings({ quota }: { quota: Quota }) {
  const names: Setting[] = [
    'user_id',
    'kind',
    ...(quota.kind === 'cap' ? (['per', 'counts'] as const) : []),
    'period',
    ...(quota.period === null ? [] : ['time_zone' as const]),
    ...(hasStarted(quota, Date.now()) ? ['starts_at' as const] : []),
  ]
  return (
    <section className={classes.fixed} aria-label={TEXTS.cannotChange}>
      <Text size="xs" c="dimmed" mb="0.5rem">
        {TEXTS.cannotChange}
      </Text>
      <dl className={classes.fixedList}>
        {names.map(name => (
          <div key={name}>
            <dt>{SETTING_LABELS[name]}</dt>
            <dd>{name === 'kind' ? <Kind kind={quota.kind} /> : settingText(name, quota)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

interface GroupProps {
  form: QuotaFormState
}

function LimitField({ form }: GroupProps) {
  const { values, change } = form
  const isWithoutLimit = isUnlimited(values)
  const counts = countsOf(values)
  return (
    <div>
      <TextField
        {...fieldProps(form, 'limit')}
        about={values.period === null ? TEXTS.inTotal[counts] : TEXTS.eachPeriod[counts][values.period]}
        required={!isWithoutLimit}
        disabled={isWithoutLimit}
        isNumber
      />
      {values.kind === 'grant' && (
        <Checkbox
          className={classes.unlimited}
          label={TEXTS.unlimited}
          checked={values.is_unlimited}
          onChange={event => change({ is_unlimited: event.currentTarget.checked })}
        />
      )}
    </div>
  )
}

/* ── Collapsed groups ───────────────────────────────────────────────────────────────────────────────────────────── */

interface FieldGroupProps {
  title: string
  /** The current values, shown while the group is collapsed. */
  summary: string
  children: ReactNode
}

function FieldGroup({ title, summary, children }: FieldGroupProps) {
  return (
    <details className={classes.group}>
      <summary className={classes.summary}>
        <span className={classes.groupTitle}>{title}</span>
        <bdi className={classes.values}>{summary}</bdi>
      </summary>
      <div className={classes.fields}>{children}</div>
    </details>
  )
}

function RolloverGroup({ form }: GroupProps) {
  const { values } = form
  if (!canHaveOverage(values)) return null
  const summary = [
    ...(canRollOver(values) && values.rollover_limit !== '0' ? [TEXTS.rollOver(values.rollover_limit)] : []),
    ...(values.overage_limit === '0' ? [] : [TEXTS.overage(values.overage_limit)]),
  ]
  return (
    <FieldGroup title={TEXTS.rolloverGroup} summary={summary.join(', ') || NONE}>
      <div className={classes.pair}>
        <TextField
          {...fieldProps(form, 'rollover_limit')}
          isNumber
          {...(!canRollOver(values) && { about: TEXTS.rolloverNotHere, value: '0', disabled: true })}
        />
        <TextField {...fieldProps(form, 'overage_limit')} isNumber />
      </div>
    </FieldGroup>
  )
}

function ScheduleGroup({ form, canEditStart }: GroupProps & { canEditStart: boolean }) {
  const { starts_at, expires_at } = form.values
  const summary = [
    ...(canEditStart ? [starts_at === '' ? TEXTS.startsNow : TEXTS.from(readable(starts_at))] : []),
    ...(expires_at === '' ? (canEditStart ? [] : [TEXTS.neverExpires]) : [TEXTS.until(readable(expires_at))]),
  ]
  return (
    <FieldGroup title={TEXTS.scheduleGroup} summary={summary.join(', ')}>
      <div className={classes.pair}>
        {canEditStart && <TimestampField {...fieldProps(form, 'starts_at')} />}
        <TimestampField {...fieldProps(form, 'expires_at')} />
      </div>
    </FieldGroup>
  )
}

function readable(fieldText: string): string {
  const timestamp = toTimestamp(fieldText)
  return timestamp === fieldText ? fieldText : formatTimestamp(timestamp)
}

function ScopeGroup({ form }: GroupProps) {
  const { countries, message_types } = form.values
  const summary = [...(countries.length === 0 ? [] : [countriesText(countries)]), ...message_types]
  return (
    <FieldGroup title={TEXTS.scopeGroup} summary={summary.join(', ') || TEXTS.allMessages}>
      <ScopeFields form={form} />
    </FieldGroup>
  )
}

function ScopeFields({ form }: GroupProps) {
  return (
    <>
      <CountriesField {...fieldProps(form, 'countries')} />
      <SlugsField {...fieldProps(form, 'message_types')} />
    </>
  )
}

function AlertsGroup({ form }: GroupProps) {
  const { alert_at } = form.values
  return (
    <FieldGroup title={SETTING_LABELS.alert_at} summary={alert_at.trim() === '' ? NONE : TEXTS.alertsAt(alert_at)}>
      <TextField {...fieldProps(form, 'alert_at')} />
    </FieldGroup>
  )
}

function MoreGroup({ form, isNew, isOfPlan }: GroupProps & { isNew: boolean; isOfPlan: boolean }) {
  const { priority, external_ref, metadata } = form.values
  const summary = [TEXTS.priority(priority), ...(external_ref === '' ? [] : [external_ref])]
  return (
    <FieldGroup title={TEXTS.moreGroup} summary={summary.join(', ')}>
      <div className={classes.pair}>
        <TextField {...fieldProps(form, 'priority')} isNumber />
        {!isOfPlan && OTHER_TEXTS.map(name => <TextField key={name} {...fieldProps(form, name)} />)}
        {isNew && !isOfPlan && perOf(form.values) === null && (
          <TextField {...fieldProps(form, 'opening_used')} isNumber />
        )}
      </div>
      <MetadataField
        rows={metadata}
        onChange={rows => form.change({ metadata: rows })}
        error={form.errors.at('metadata')}
      />
    </FieldGroup>
  )
}
