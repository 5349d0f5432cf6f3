import { namedValues } from '../../../src/domain/basics/named-values.ts'
import {
  defaultsFor,
  QUOTA_DEFAULTS,
  SETTING_NAMES,
  type SettingName,
  TEXT_NAMES,
  type TextName,
} from '../../../src/domain/quotas/quota-settings.ts'
import { canHaveAnchor } from '../../../src/domain/time/anchor.ts'
import { PERIODS } from '../../../src/domain/time/period.ts'
import type { Api } from '../api/types.ts'
import { toFieldText, toTimestamp } from './local-time.ts'
import { wholeNumber } from './typed.ts'
import { matching, oneOf, type StateOf, uint } from './url-parameters.ts'

type Quota = Api['SmsQuota']

/** The settings that define the effect of a quota. */
export interface Terms
  extends Pick<
    Quota,
    | 'kind'
    | 'limit'
    | 'period'
    | 'anchor'
    | 'time_zone'
    | 'per'
    | 'counts'
    | 'rollover_limit'
    | 'overage_limit'
    | 'expires_at'
    | 'countries'
    | 'message_types'
  > {
  /** null if the quota has started or starts when it is created. */
  starts_at: string | null
}

/** Values of the form fields as typed. Every setting that is a text has a field of its own. */
export interface FormValues extends Record<TextName, string> {
  user_id: string
  kind: Quota['kind']
  limit: string
  /** Only for grants. `limit` keeps its value while it is set. */
  is_unlimited: boolean
  period: Quota['period']
  /** Of the period that is chosen; empty for the calendar's own. */
  anchor: string
  time_zone: string
  /** Only for caps. */
  per: Quota['per']
  counts: Quota['counts']
  rollover_limit: string
  overage_limit: string
  /** A `datetime-local` value in the user's time zone; empty for now. */
  starts_at: string
  /** A `datetime-local` value in the user's time zone; empty for never. */
  expires_at: string
  countries: string[]
  message_types: string[]
  /** Percentages, separated by commas. */
  alert_at: string
  priority: string
  metadata: readonly MetadataRow[]
  opening_used: string
}

export interface MetadataRow {
  /** The React key of the row. */
  id: number
  key: string
  value: string
}

/** Settings that the form changes: all but whether the quota is suspended, which has a button of its own. */
export type Editable = Exclude<SettingName, 'enabled'>
export const EDITABLE = SETTING_NAMES.filter((name): name is Editable => name !== 'enabled')

/** A number can be a string: invalid input is sent unchanged, and the service rejects it with a message. */
type OrText<T> = T extends number ? number | string : T extends (infer Item)[] ? OrText<Item>[] : T
type Settings = { [Name in Editable]: OrText<Quota[Name]> }

const textsOf = (textFor: (name: TextName) => string) => namedValues<Record<TextName, string>>(TEXT_NAMES, textFor)

/** Values of the form of a new quota. @param userId the user in the URL, if any */
export function emptyFormValues(userId: number | null): FormValues {
  const { kind, period, time_zone, per, counts, rollover_limit, overage_limit, priority, alert_at } = QUOTA_DEFAULTS
  return {
    user_id: userId === null ? '' : String(userId),
    kind,
    ...textsOf(() => ''),
    limit: '',
    is_unlimited: false,
    period,
    anchor: '',
    time_zone,
    per,
    counts,
    rollover_limit: String(rollover_limit),
    overage_limit: String(overage_limit),
    starts_at: '',
    expires_at: '',
    countries: [],
    message_types: [],
    alert_at: alert_at.join(', '),
    priority: String(priority),
    metadata: [],
    opening_used: '0',
  }
}

/** What links fill in of the form of a new quota. */
export const NEW_QUOTA_STATE = {
  user_id: uint,
  copy: uint,
  kind: oneOf(['grant', 'cap'], 'grant'),
  limit: uint,
  period: oneOf(PERIODS, null),
  /** Separated by commas. */
  countries: matching(/^(?:[A-Z]{2}|001)(?:,(?:[A-Z]{2}|001))*$/),
  message_types: matching(/^[a-z0-9][a-z0-9_,-]*$/),
}

/** Values of the form of a new quota that a link leads to. */
export function linkedFormValues(state: StateOf<typeof NEW_QUOTA_STATE>): FormValues {
  const { user_id, kind, limit, period, countries, message_types } = state
  return {
    ...emptyFormValues(user_id),
    kind,
    limit: limit === null ? '' : String(limit),
    period,
    countries: countries?.split(',') ?? [],
    message_types: message_types?.split(',') ?? [],
  }
}

/** What the form shows of a quota. One of a plan has no start of its own. */
type Shown = Omit<
  Pick<Quota, Editable | 'user_id' | 'kind' | 'period' | 'anchor' | 'time_zone' | 'per' | 'counts'>,
  'starts_at'
> & {
  starts_at: string | null
}

/** Values of the form of an existing quota. */
export function formValuesOf(quota: Shown): FormValues {
  const { user_id, kind, period, time_zone, per, counts, limit, rollover_limit, overage_limit, priority } = quota
  return {
    user_id: String(user_id),
    kind,
    ...textsOf(name => quota[name] ?? ''),
    limit: limit === null ? '' : String(limit),
    is_unlimited: limit === null,
    period,
    anchor: quota.anchor ?? '',
    time_zone,
    per,
    counts,
    rollover_limit: String(rollover_limit),
    overage_limit: String(overage_limit),
    starts_at: toFieldText(quota.starts_at),
    expires_at: toFieldText(quota.expires_at),
    countries: quota.countries ?? [],
    message_types: quota.message_types ?? [],
    alert_at: quota.alert_at.join(', '),
    priority: String(priority),
    metadata: Object.entries(quota.metadata).map(([key, value], id) => ({ id, key, value })),
    opening_used: '0',
  }
}

/** Values of the form of a copy. Left out are the reference, which is unique, a start, and an end that has passed. @param now epoch milliseconds */
export function copiedFormValues(quota: Quota, now: number): FormValues {
  const isOver = quota.expires_at !== null && Date.parse(quota.expires_at) <= now
  return { ...formValuesOf(quota), external_ref: '', starts_at: '', ...(isOver ? { expires_at: '' } : {}) }
}

/* Fields that do not apply to the other values are neither shown nor sent, but keep their values. */

/** The values that a cap counts each by itself; null: it counts all together, as each grant does. */
export const perOf = ({ kind, per }: Pick<FormValues, 'kind' | 'per'>) => (kind === 'cap' ? per : null)
export const countsOf = ({ kind, counts }: FormValues) => (kind === 'cap' ? counts : QUOTA_DEFAULTS.counts)

/** What else changes if the kind does, or what a cap counts by itself: such a cap counts messages, and always resets; only it does so by the minute. */
export function changedCounting(
  values: FormValues,
  change: Partial<Pick<FormValues, 'kind' | 'per'>>,
): Partial<FormValues> {
  const per = perOf({ ...values, ...change })
  const counts = per === null ? QUOTA_DEFAULTS.counts : 'messages'
  const { period } = values
  const isOther = per === null ? period === 'minute' : period === null
  return {
    ...change,
    ...((per === null) === (perOf(values) === null) ? {} : { counts }),
    ...(isOther ? { period: 'hour' } : {}),
  }
}

/** A cap that lets nothing pass. */
export const isBlocking = (values: FormValues) =>
  values.kind === 'cap' && perOf(values) === null && wholeNumber(values.limit) === 0
export const isUnlimited = ({ kind, is_unlimited }: FormValues) => kind === 'grant' && is_unlimited
export const canHaveOverage = (values: FormValues) => values.kind === 'grant' && !isUnlimited(values)
export const canRollOver = (values: FormValues) => canHaveOverage(values) && values.period !== null

/** Where months or years begin. */
const anchorOf = ({ period, anchor }: FormValues) => (canHaveAnchor(period) ? orNull(anchor) : null)

/** The settings of the form. @param original the edited quota; null for a new one */
export function settingsOf(values: FormValues, original: Quota | null): Settings {
  return {
    limit: isUnlimited(values) ? null : wholeNumber(values.limit),
    ...namedValues<Pick<Settings, TextName>>(TEXT_NAMES, name => orNull(values[name])),
    rollover_limit: canRollOver(values) ? wholeNumber(values.rollover_limit, 0) : 0,
    overage_limit: canHaveOverage(values) ? wholeNumber(values.overage_limit, 0) : 0,
    starts_at: timestampOf(values.starts_at, original?.starts_at ?? null) ?? original?.starts_at ?? '',
    expires_at: timestampOf(values.expires_at, original?.expires_at ?? null),
    countries: values.countries.length === 0 ? null : values.countries.toSorted(),
    message_types: values.message_types.length === 0 ? null : values.message_types.toSorted(),
    alert_at: perOf(values) === null ? percents(values.alert_at) : [],
    priority: wholeNumber(values.priority, QUOTA_DEFAULTS.priority),
    metadata: Object.fromEntries(
      values.metadata.filter(({ key, value }) => key !== '' || value !== '').map(({ key, value }) => [key, value]),
    ),
  }
}

/** A metadata key that is used twice; null if all are distinct. */
export function duplicateMetadataKey({ metadata }: FormValues): string | null {
  const keys = metadata.map(({ key }) => key).filter(key => key !== '')
  return keys.find((key, index) => keys.indexOf(key) !== index) ?? null
}

/** The request body that creates the quota, without defaults. Missing required values are left out, for the service to reject. */
export function createBodyOf(values: FormValues, reason: string) {
  const { kind, period, time_zone, user_id } = values
  const { limit, starts_at, ...settings } = settingsOf(values, null)
  const others =
    isBlocking(values) && reason !== '' ? { ...settings, metadata: { ...settings.metadata, reason } } : settings
  const [per, counts] = [perOf(values), countsOf(values)]
  const opening_used = per === null ? wholeNumber(values.opening_used, 0) : 0
  const counted = { per, counts, anchor: anchorOf(values), ...(period === null ? {} : { time_zone }) }
  const optional = { kind, period, ...counted, ...others }
  return {
    ...(user_id === '' ? {} : { user_id: wholeNumber(user_id) }),
    ...(limit === '' ? {} : { limit }),
    ...entriesThatDiffer(optional, defaultsFor({ per })),
    ...(starts_at === '' ? {} : { starts_at }),
    ...entriesThatDiffer({ opening_used }, { opening_used: 0 }),
  }
}

/** The settings of the form that differ from the quota. */
export function changedSettings(values: FormValues, original: Quota): Partial<Settings> {
  return entriesThatDiffer(settingsOf(values, original), original)
}

function entriesThatDiffer<T extends object>(settings: T, from: object): Partial<T> {
  const others = new Map(Object.entries(from))
  const entries = Object.entries(settings).filter(([name, value]) => !isSame(value, others.get(name)))
  return Object.fromEntries(entries) as Partial<T>
}

/** Compares JSON values: primitives, flat arrays and flat maps, whose keys have no order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
}

function ordered(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)) : value
}

/** The terms of the form for the preview; null while the limit is missing or invalid. */
export function termsOf(values: FormValues, original: Quota | null, now: number): Terms | null {
  const { kind, period, time_zone } = values
  const { limit, rollover_limit, overage_limit, starts_at, expires_at, countries, message_types } = settingsOf(
    values,
    original,
  )
  if (typeof limit === 'string') return null
  return {
    kind,
    limit,
    period,
    anchor: anchorOf(values),
    time_zone,
    per: perOf(values),
    counts: countsOf(values),
    rollover_limit: Number(rollover_limit) || 0,
    overage_limit: Number(overage_limit) || 0,
    starts_at: starts_at === '' || (original !== null && hasStarted(original, now)) ? null : starts_at,
    expires_at,
    countries,
    message_types,
  }
}

/** Whether the start is in the past and can no longer be changed. */
export function hasStarted({ starts_at }: Pick<Quota, 'starts_at'>, now: number): boolean {
  return Date.parse(starts_at) <= now
}

function percents(text: string): (number | string)[] {
  return text
    .split(/[\s,;%]+/)
    .filter(part => part !== '')
    .map(part => wholeNumber(part))
    .toSorted((one, other) => Number(one) - Number(other))
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text
}

/** An unchanged timestamp keeps its original precision, which the field cannot show. */
function timestampOf(fieldText: string, original: string | null): string | null {
  if (fieldText === toFieldText(original)) return original
  return fieldText === '' ? null : toTimestamp(fieldText)
}
