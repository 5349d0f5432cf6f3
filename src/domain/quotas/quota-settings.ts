import { namedValues } from '../basics/named-values.ts'
import type { Period } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'

/**
 * A quota is a grant (a pool of units that pays for sends) or a cap (a ceiling that holds for all grants).
 *
 * Quotas and reservations have the same field names in the database, here and in the API. Timestamps are `EpochMs`
 * here and RFC 3339 in the API.
 */
export const QUOTA_KINDS = ['grant', 'cap'] as const
export type QuotaKind = (typeof QUOTA_KINDS)[number]

/** The values of a message that a cap can count each by itself. */
export const COUNTED_VALUES = ['recipient', 'country', 'tag'] as const
export type CountedValue = (typeof COUNTED_VALUES)[number]

/** What a quota counts of the reservations that it matches. */
export const COUNTS = ['units', 'messages'] as const
export type Counts = (typeof COUNTS)[number]

/** The fields that are fixed at creation. */
export interface QuotaIdentity {
  user_id: number
  kind: QuotaKind
  period: Period | null
  /** Where months or years begin: `15` or `04-01`; null is where the calendar's begin. */
  anchor: string | null
  time_zone: string
  /** The limit holds for each recipient, country or tag by itself; null: for all together. Only caps have it. */
  per: CountedValue | null
  /** Only caps count messages. */
  counts: Counts
}

/** The fields that an administrator may change. */
export interface QuotaSettings {
  name: string | null
  /** Units per window; null is unlimited. */
  limit: number | null
  /** The most unused units that a closing window carries into the next. */
  rollover_limit: number
  /** How many units past its limit a grant may be drawn. */
  overage_limit: number
  /** 0–255; lower burns first. */
  priority: number
  starts_at: EpochMs
  expires_at: EpochMs | null
  /** Destinations it covers (ISO 3166 alpha-2 or `001`, sorted); null is all. */
  countries: readonly string[] | null
  /** Message types it covers (sorted); null is all. */
  message_types: readonly string[] | null
  /** Percents of use at which an event is emitted (ascending). */
  alert_at: readonly number[]
  enabled: boolean
  external_ref: string | null
  metadata: Readonly<Record<string, string>>
}
export type SettingName = keyof QuotaSettings

/** The type of a setting's value: how its column is read, how the API shows it, and how a cell of a file is taken. */
export type ValueType = 'text' | 'number' | 'boolean' | 'time' | 'texts' | 'numbers' | 'map'

interface Setting<Value> {
  readonly type: ValueType
  readonly nullable: boolean
  /** What a new quota has if nothing else is asked for. Without it: `limit` is required, `starts_at` is the time of the creation. */
  readonly default?: Value
  /** Whether decisions about units depend on it. The engine keeps those in memory, and reads the others for events only. */
  readonly decides: boolean
  /** Whether it is the administrators' own: users read its default in its place. */
  readonly isOwn?: true
  /** Whether it is of one quota, so that a plan does not say it. */
  readonly isOfOne?: true
}
type Checked<Value> = Setting<Value> & { readonly nullable: null extends Value ? true : false }

/**
 * The table of the settings, in the order in which the API shows them. The columns, defaults, views, the console's form and its
 * files are made from it; the schemas (`src/contract/quotas.ts`) and the texts of the console have an entry for each.
 */
export const QUOTA_SETTINGS = {
  name: { type: 'text', nullable: true, default: null, decides: false },
  limit: { type: 'number', nullable: true, decides: true },
  rollover_limit: { type: 'number', nullable: false, default: 0, decides: true },
  overage_limit: { type: 'number', nullable: false, default: 0, decides: true },
  priority: { type: 'number', nullable: false, default: 100, decides: true },
  starts_at: { type: 'time', nullable: false, decides: true, isOfOne: true },
  expires_at: { type: 'time', nullable: true, default: null, decides: true, isOfOne: true },
  countries: { type: 'texts', nullable: true, default: null, decides: true },
  message_types: { type: 'texts', nullable: true, default: null, decides: true },
  alert_at: { type: 'numbers', nullable: false, default: [80, 100], decides: true },
  enabled: { type: 'boolean', nullable: false, default: true, decides: true, isOfOne: true },
  external_ref: { type: 'text', nullable: true, default: null, decides: false, isOfOne: true },
  metadata: { type: 'map', nullable: false, default: {}, decides: false, isOwn: true },
} as const satisfies { readonly [Name in SettingName]: Checked<QuotaSettings[Name]> }
type Table = typeof QUOTA_SETTINGS

/** The settings whose entry in the table has this part. */
type SettingWith<Part> = { [Name in SettingName]: Table[Name] extends Part ? Name : never }[SettingName]

const isSetting = (name: string): name is SettingName => Object.hasOwn(QUOTA_SETTINGS, name)
export const SETTING_NAMES: readonly SettingName[] = Object.keys(QUOTA_SETTINGS).filter(isSetting)

const settingOf = (name: SettingName): Setting<unknown> => QUOTA_SETTINGS[name]
const defaultOf = (name: SettingName) => settingOf(name).default

export type TimeName = SettingWith<{ type: 'time' }>
export const isTime = (name: SettingName): name is TimeName => settingOf(name).type === 'time'
export const TIME_NAMES = SETTING_NAMES.filter(isTime)

export type TextName = SettingWith<{ type: 'text' }>
const isText = (name: SettingName): name is TextName => settingOf(name).type === 'text'
export const TEXT_NAMES = SETTING_NAMES.filter(isText)

/** The settings that do not decide about units. */
export type DetailName = SettingWith<{ decides: false }>
const isDetail = (name: SettingName): name is DetailName => !settingOf(name).decides
export const DETAIL_NAMES = SETTING_NAMES.filter(isDetail)

/** The settings that a plan says for the quotas of all who have it. */
export type PlannedName = Exclude<SettingName, SettingWith<{ isOfOne: true }>>
const isPlanned = (name: SettingName): name is PlannedName => settingOf(name).isOfOne !== true
export const PLANNED_NAMES = SETTING_NAMES.filter(isPlanned)

type DefaultsOf<Name extends SettingName> = {
  readonly [N in Name]: Table[N] extends { readonly default: infer D } ? D : never
}

type DefaultedName = SettingWith<{ default: unknown }>
const isDefaulted = (name: SettingName): name is DefaultedName => defaultOf(name) !== undefined

/** Defaults of a new quota. `starts_at` defaults to now. */
export const QUOTA_DEFAULTS = {
  kind: 'grant',
  period: null,
  anchor: null,
  time_zone: 'UTC',
  per: null,
  counts: 'units',
  ...namedValues<DefaultsOf<DefaultedName>>(SETTING_NAMES.filter(isDefaulted), defaultOf),
} as const

/** The defaults of a cap that counts each value by itself: such a limit is one of messages, and no percent of all of them is used. */
const DEFAULTS_WITH_PER = { ...QUOTA_DEFAULTS, counts: 'messages', alert_at: [] } as const

/** The defaults of a new quota that is as asked for in `per`. */
export const defaultsFor = ({ per = null }: Partial<Pick<QuotaIdentity, 'per'>>) =>
  per === null ? QUOTA_DEFAULTS : DEFAULTS_WITH_PER

type OwnName = SettingWith<{ isOwn: true }>
const isOwn = (name: SettingName): name is OwnName => settingOf(name).isOwn === true

/** What users read in place of the administrators' own settings. */
export const OWN_AS_READ_BY_USERS = namedValues<DefaultsOf<OwnName>>(SETTING_NAMES.filter(isOwn), defaultOf)

/**
 * Whether two JSON values are equal: arrays item by item, objects by their own keys in any order. -0 equals 0. A pure
 * replacement of `isDeepStrictEqual` of `node:util`, which browsers lack.
 */
export function isDeepEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const entries = Object.entries(one)
  const others = new Map<string, unknown>(Object.entries(other))
  return (
    entries.length === others.size &&
    entries.every(([key, value]) => others.has(key) && isDeepEqual(value, others.get(key)))
  )
}
