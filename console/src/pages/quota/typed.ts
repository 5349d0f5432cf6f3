import { QUOTA_DEFAULTS } from '../../../../src/domain/bounds.ts'
import type { Api } from '../../api/types.ts'
import type { Terms } from './effect.ts'
import { fieldTextOf, momentOf } from './local-time.ts'

type Quota = Api['SmsQuota']

/** What stands in the fields of the form, as it was typed. */
export interface Typed {
  user_id: string
  kind: Quota['kind']
  name: string
  limit: string
  /** Only a grant can be. The number in `limit` waits meanwhile. */
  is_unlimited: boolean
  period: Quota['period']
  time_zone: string
  rollover_limit: string
  overage_limit: string
  /** On the clock of the reader's zone, as `datetime-local` has it. Empty: now. */
  starts_at: string
  /** The same. Empty: never. */
  expires_at: string
  countries: string[]
  message_types: string[]
  /** Percents with commas between them. */
  alert_at: string
  priority: string
  external_ref: string
  metadata: readonly MetadataRow[]
  opening_used: string
}

export interface MetadataRow {
  /** Tells the row from the others while it is written. */
  id: number
  key: string
  value: string
}

/** What can be changed of a quota that is there, in the order of the form. */
export const EDITABLE = [
  'limit',
  'name',
  'rollover_limit',
  'overage_limit',
  'starts_at',
  'expires_at',
  'countries',
  'message_types',
  'alert_at',
  'priority',
  'external_ref',
  'metadata',
] as const
export type Editable = (typeof EDITABLE)[number]

/** Where a number belongs may stand what was typed instead: the service finds the words for it. */
type AsTyped<T> = T extends number ? number | string : T extends (infer Item)[] ? AsTyped<Item>[] : T
type Settings = { [Name in Editable]: AsTyped<Quota[Name]> }

/** The form of a quota that is to be made. @param userId whose, if the address tells it */
export function blank(userId: number | null): Typed {
  const { kind, period, time_zone, rollover_limit, overage_limit, priority, alert_at } = QUOTA_DEFAULTS
  return {
    user_id: userId === null ? '' : String(userId),
    kind,
    name: '',
    limit: '',
    is_unlimited: false,
    period,
    time_zone,
    rollover_limit: String(rollover_limit),
    overage_limit: String(overage_limit),
    starts_at: '',
    expires_at: '',
    countries: [],
    message_types: [],
    alert_at: alert_at.join(', '),
    priority: String(priority),
    external_ref: '',
    metadata: [],
    opening_used: '0',
  }
}

/** The form of a quota as it is. */
export function typedOf(quota: Quota): Typed {
  const { user_id, kind, period, time_zone, limit, rollover_limit, overage_limit, priority } = quota
  return {
    user_id: String(user_id),
    kind,
    name: quota.name ?? '',
    limit: limit === null ? '' : String(limit),
    is_unlimited: limit === null,
    period,
    time_zone,
    rollover_limit: String(rollover_limit),
    overage_limit: String(overage_limit),
    starts_at: fieldTextOf(quota.starts_at),
    expires_at: fieldTextOf(quota.expires_at),
    countries: quota.countries ?? [],
    message_types: quota.message_types ?? [],
    alert_at: quota.alert_at.join(', '),
    priority: String(priority),
    external_ref: quota.external_ref ?? '',
    metadata: Object.entries(quota.metadata).map(([key, value], id) => ({ id, key, value })),
    opening_used: '0',
  }
}

/* What makes no sense beside the rest is neither shown nor sent; what was typed there waits. */

export const isUnlimited = ({ kind, is_unlimited }: Typed) => kind === 'grant' && is_unlimited
export const mayGoPast = (typed: Typed) => typed.kind === 'grant' && !isUnlimited(typed)
export const mayCarryOver = (typed: Typed) => mayGoPast(typed) && typed.period !== null

/** The settings that the form stands for. @param was the quota that it began with, if there is one */
export function settingsOf(typed: Typed, was: Quota | null): Settings {
  return {
    limit: isUnlimited(typed) ? null : wholeNumber(typed.limit),
    name: orNull(typed.name),
    rollover_limit: mayCarryOver(typed) ? wholeNumber(typed.rollover_limit, 0) : 0,
    overage_limit: mayGoPast(typed) ? wholeNumber(typed.overage_limit, 0) : 0,
    starts_at: momentTyped(typed.starts_at, was?.starts_at ?? null) ?? was?.starts_at ?? '',
    expires_at: momentTyped(typed.expires_at, was?.expires_at ?? null),
    countries: typed.countries.length === 0 ? null : typed.countries.toSorted(),
    message_types: typed.message_types.length === 0 ? null : typed.message_types.toSorted(),
    alert_at: percents(typed.alert_at),
    priority: wholeNumber(typed.priority, QUOTA_DEFAULTS.priority),
    external_ref: orNull(typed.external_ref),
    metadata: Object.fromEntries(
      typed.metadata.filter(({ key, value }) => key !== '' || value !== '').map(({ key, value }) => [key, value]),
    ),
  }
}

/** A key that two rows of metadata have; null if each has its own. */
export function keyTwice({ metadata }: Typed): string | null {
  const keys = metadata.map(({ key }) => key).filter(key => key !== '')
  return keys.find((key, index) => keys.indexOf(key) !== index) ?? null
}

/** What to ask the service for. What is as it would be anyway is left to it, and what is missing is for it to miss. */
export function draftOf(typed: Typed): Record<string, unknown> {
  const { kind, period, time_zone, opening_used, user_id } = typed
  const { limit, starts_at, ...others } = settingsOf(typed, null)
  const optional = { kind, period, ...others, ...(period === null ? {} : { time_zone }) }
  return {
    ...(user_id === '' ? {} : { user_id: wholeNumber(user_id) }),
    ...(limit === '' ? {} : { limit }),
    ...differing(optional, QUOTA_DEFAULTS),
    ...(starts_at === '' ? {} : { starts_at }),
    ...differing({ opening_used: wholeNumber(opening_used, 0) }, { opening_used: 0 }),
  }
}

/** Those settings that are others in the form than in a quota. */
export function changesOf(typed: Typed, was: Quota): Partial<Settings> {
  return differing(settingsOf(typed, was), was)
}

function differing<T extends object>(settings: T, from: object): Partial<T> {
  const others = new Map(Object.entries(from))
  const entries = Object.entries(settings).filter(([name, value]) => !isSame(value, others.get(name)))
  return Object.fromEntries(entries) as Partial<T>
}

/** Of values as JSON has them; the keys of an object have no order. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
}

function ordered(value: unknown): unknown {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMap ? Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)) : value
}

/** What the quota of the form would do; null while there is no telling, because it has no limit yet. */
export function termsOf(typed: Typed, was: Quota | null): Terms | null {
  const { kind, period, time_zone } = typed
  const { limit, rollover_limit, overage_limit, starts_at, expires_at, countries, message_types } = settingsOf(
    typed,
    was,
  )
  if (typeof limit === 'string') return null
  return {
    kind,
    limit,
    period,
    time_zone,
    rollover_limit: Number(rollover_limit) || 0,
    overage_limit: Number(overage_limit) || 0,
    starts_at: starts_at === '' || (was !== null && hasStarted(was)) ? null : starts_at,
    expires_at,
    countries,
    message_types,
  }
}

/** Then its start cannot be changed any more. */
export function hasStarted({ starts_at }: Pick<Quota, 'starts_at'>): boolean {
  return Date.parse(starts_at) <= Date.now()
}

/** People write 1 000, 1,000 and 1.000: three digits behind a mark are thousands, for units have no fractions. */
export function wholeNumber(text: string, empty: number | '' = ''): number | string {
  const trimmed = text.trim()
  if (trimmed === '') return empty
  const digits = /^\d{1,3}(?:[\s.,'’_]\d{3})+$/.test(trimmed) ? trimmed.replaceAll(/\D/g, '') : trimmed
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(value) ? value : trimmed
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

/** A moment that nobody touched keeps what the field cannot hold of it. */
function momentTyped(fieldText: string, was: string | null): string | null {
  if (fieldText === fieldTextOf(was)) return was
  return fieldText === '' ? null : momentOf(fieldText)
}
