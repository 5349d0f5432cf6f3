/** The options of a command over the API, made from the schemas of its request, and the request made from the options. */
import { Temporal } from 'temporal-polyfill'
import type { Static, TObject, TProperties } from 'typebox'
import { isReference, PATTERNS } from '../../contract/patterns.ts'
import { REFERENCE } from '../../domain/quotas/user-file.ts'
import { isLocalTime, localTimestamp } from '../../domain/time/window.ts'
import { type Arguments, didYouMean, type Options, UsageError } from '../arguments.ts'

/** The part of JSON Schema that requests use. */
interface Schema {
  type?: string
  anyOf?: readonly Schema[]
  enum?: readonly string[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  patternProperties?: object
  format?: string
  minimum?: number
  maximum?: number
  default?: unknown
  const?: unknown
  description?: string
}

/** A field that a command takes. */
export interface Field {
  /** Where it is in the request: `['message', 'to']`. */
  path: readonly string[]
  /** The name of its option, without the dashes. */
  option: string
  /** Without null. */
  schema: Schema
  isNullable: boolean
  isRequired: boolean
  /**
   * What may stand in place of an id: the reference of a user, which the API takes as `user_ref`, or else the command finds the id; or
   * the name of a plan or a rate card, whose id the command finds.
   */
  alternative?: 'user_ref' | 'reference' | Named
}

/** A thing that may be named in place of its id. */
export type Named = 'plan' | 'rate_card'
const NAMED_FIELDS: Readonly<Record<string, Named>> = {
  plan_id: 'plan',
  from_plan: 'plan',
  rate_card_id: 'rate_card',
}

/** A request: the parameters of path, query and body in one object, with the names of the API. */
export type Request = Record<string, unknown>

/** The names of the fields of requests. */
export type FieldOf<Requests extends readonly TObject[]> = Requests[number] extends infer R
  ? R extends TObject<infer Properties extends TProperties>
    ? keyof Static<TObject<Properties>> & string
    : never
  : never

/** All fields of requests: of an object in an object, its fields instead. */
export function fieldsOf(requests: readonly TObject[]): Field[] {
  return requests.flatMap(request => fieldsIn(request as Schema, []))
}

function fieldsIn({ properties = {}, required = [] }: Schema, parents: readonly string[]): Field[] {
  return Object.entries(properties).flatMap(([name, declared]) => {
    const path = [...parents, name]
    const choices = declared.anyOf?.filter(({ type }) => type !== 'null')
    const schema = { ...declared, ...choices?.[0] }
    if (schema.properties !== undefined) return fieldsIn(schema, path)
    const isNullable = choices !== undefined && choices.length < (declared.anyOf?.length ?? 0)
    const isRequired = parents.length === 0 && required.includes(name)
    const alternative = alternativeOf(path)
    const field = { path, option: name.replaceAll('_', '-'), schema, isNullable, isRequired }
    return [alternative === undefined ? field : { ...field, alternative }]
  })
}

/** The API has these names for ids of users, plans and rate cards only. */
function alternativeOf(path: readonly string[]): Field['alternative'] {
  const name = path.join('.')
  if (/^(?:(?:to_)?user_ids?|users)$/.test(name)) return 'reference'
  return NAMED_FIELDS[name]
}

/** The fields of an operation: `ref:` and a reference may stand in place of `user_id`, so `user_ref` needs no field of its own. */
export function fieldsOfOperation(requests: readonly TObject[]): Field[] {
  const fields = fieldsOf(requests)
  if (!fields.some(isUser)) return fields
  return fields
    .filter(({ path }) => path.join() !== 'user_ref')
    .map(field => (isUser(field) ? { ...field, alternative: 'user_ref' } : field))
}

const isUser = ({ path }: Field) => path.join() === 'user_id'

/** Whether a request has a field, or the reference in its place. */
export const isGiven = (request: Request, { path: [name = ''], alternative }: Field): boolean =>
  name in request || (alternative === 'user_ref' && 'user_ref' in request)

/* ── Options ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The options for fields. A field that is false by default, or can only be true, is a switch. */
export function optionsOf(fields: readonly Field[]): Options {
  return Object.fromEntries(
    fields.map(field => {
      const values = valuesOf(field)
      const option = {
        means: meaningOf(field),
        ...(isSwitch(field) ? {} : { value: placeholderOf(field) }),
        ...(values === undefined ? {} : { values }),
        ...(isRecord(field) ? { multiple: true } : {}),
        // A descending order is "-id".
        ...(placeholderOf(field) === 'NUMBER' || field.option === 'sort' ? { dashed: true } : {}),
      }
      return [field.option, option]
    }),
  )
}

const ALTERNATIVES: Record<NonNullable<Field['alternative']>, string> = {
  user_ref: `${REFERENCE} and the reference`,
  reference: `${REFERENCE} and the reference`,
  plan: 'the name',
  rate_card: 'the name',
}

const isSwitch = ({ schema }: Field) => schema.type === 'boolean' && (schema.default === false || schema.const === true)
const isRecord = ({ schema }: Field) => schema.patternProperties !== undefined

function valuesOf({ schema, isNullable }: Field): readonly string[] | undefined {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum
  return values === undefined || !isNullable ? values : [...values, 'null']
}

function placeholderOf(field: Field): string {
  const { schema, option } = field
  if (valuesOf(field) !== undefined) return option.replace(/^.*-/, '').toUpperCase()
  if (isRecord(field)) return 'KEY=VALUE'
  if (schema.type === 'integer' || schema.type === 'number') return 'NUMBER'
  if (schema.type === 'array') return 'LIST'
  return schema.format === 'date-time' ? 'TIME' : 'TEXT'
}

/** The beginning of the description, what is accepted, and the default. */
function meaningOf(field: Field): string {
  const { schema, isNullable } = field
  const sentence = beginningOf((schema.description ?? '').replaceAll('`', ''))
  const values = valuesOf(field)
  const needsNull = isNullable && !/\bnull\b/.test(sentence)
  const accepted = [
    ...(field.isRequired ? ['required'] : []),
    ...(values !== undefined && !isSwitch(field) ? [values.join(', ')] : needsNull ? ['or null'] : []),
    ...(schema.type === 'array' ? ['separated by commas'] : []),
    ...(field.alternative === undefined ? [] : [`or ${ALTERNATIVES[field.alternative]}`]),
    ...(isRecord(field) ? ['can be repeated'] : []),
    ...(isPlain(schema.default) && !isSwitch(field) ? [`default ${schema.default}`] : []),
  ]
  return [sentence, ...accepted].filter(part => part !== '').join('; ')
}

/** The first sentence, and the next one if it says little, such as "Exclusive". */
function beginningOf(description: string): string {
  const [first = '', second] = description.split(/\.(?:\s|$)/)
  return first.length < 15 && second !== undefined && second !== '' ? `${first}. ${second}` : first
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

/* ── Values ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** @throws UsageError */
export function checkTimeZone(name: string): string {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return name
  } catch {
    throw new UsageError(`--time-zone is the name of an IANA time zone, such as Europe/Berlin, not "${name}"`)
  }
}

/**
 * The values that were given for fields.
 *
 * @param timeZone of times without an offset
 * @throws UsageError
 */
export function readFields(fields: readonly Field[], args: Arguments, timeZone: string): Request {
  const request: Request = {}
  for (const field of fields) {
    const { option, path } = field
    if (!args.has(option)) continue
    if (isSwitch(field)) put(request, path, true)
    else if (isRecord(field)) put(request, path, readRecord(args.all(option), option))
    else putValue(request, args.one(option) ?? '', field, `--${option}`, timeZone)
  }
  return request
}

/** Puts the value of a field into a request. @throws UsageError */
export function putValue(request: Request, text: string, field: Field, shown: string, timeZone: string): void {
  if (field.alternative === 'user_ref' && text.startsWith(REFERENCE)) request.user_ref = text.slice(REFERENCE.length)
  else put(request, field.path, readValue(text, field, shown, timeZone))
}

function put(request: Request, [name = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length === 0) {
    request[name] = value
    return
  }
  const object = (request[name] ?? {}) as Request
  request[name] = object
  put(object, inner, value)
}

/**
 * The value of a field from its text. Bounds and patterns are the service's to check.
 *
 * @param shown how the command line names the field
 * @throws UsageError
 */
function readValue(text: string, field: Field, shown: string, timeZone: string): unknown {
  const { schema, isNullable } = field
  if (isNullable && text === 'null') return null
  const refuse = (accepted: string, meant = '') => new UsageError(`${shown} is ${accepted}, not "${text}"${meant}`)
  const orNull = isNullable ? ', or null' : ''
  if (schema.enum !== undefined || schema.type === 'boolean') {
    const values = valuesOf(field) ?? []
    if (!values.includes(text)) throw refuse(`one of ${values.join(', ')}`, didYouMean(text, values))
    return schema.type === 'boolean' ? text === 'true' : text
  }
  if (schema.type === 'integer') {
    const orOther = field.alternative === undefined ? '' : `, or ${ALTERNATIVES[field.alternative]}`
    return readInteger(text) ?? readAlternative(text, field, shown) ?? fail(refuse(`a whole number${orOther}${orNull}`))
  }
  if (schema.type === 'number') return readDecimal(text) ?? fail(refuse(`a number such as 0.3${orNull}`))
  if (schema.type === 'array') {
    const item = { ...field, schema: schema.items ?? {}, isNullable: false }
    return text === '' ? [] : text.split(',').map(part => readValue(part.trim(), item, shown, timeZone))
  }
  if (schema.format !== 'date-time') return text
  const examples = 'a time such as 2026-03-01T12:00:00Z, a day such as 2026-03-01'
  return readTime(text, timeZone) ?? fail(refuse(`${examples}${orNull}`))
}

/** What stands in place of an id until the command has found that, as it was given. @throws UsageError */
export function readAlternative(text: string, { alternative }: Field, shown: string): string | undefined {
  if (alternative === 'plan' || alternative === 'rate_card') return text === '' ? undefined : text
  if (alternative !== 'reference' || !text.startsWith(REFERENCE)) return undefined
  if (isReference(text.slice(REFERENCE.length))) return text
  throw new UsageError(`${shown} must have, after ${REFERENCE}, ${PATTERNS.userRef.accepts}, not "${text}"`)
}

function fail(error: Error): never {
  throw error
}

function readInteger(text: string): number | undefined {
  const number = /^(?:0|-?[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

function readDecimal(text: string): number | undefined {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** A time with an offset as it is; one without, and a day, which begins at midnight, in the time zone. */
function readTime(text: string, timeZone: string): string | undefined {
  try {
    if (isLocalTime(text)) return new Date(localTimestamp(text, timeZone)).toISOString()
    // A leap second would be read as the second before.
    if (text.includes(':60')) return undefined
    return Temporal.Instant.from(text).toString()
  } catch {
    return undefined
  }
}

function readRecord(pairs: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map(pair => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--${option} is a key and a value, as in contract=K-1042, not "${pair}"`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** How times are written, for the help of a command. */
export const timesIn = (zone: string) => () =>
  `A TIME has an offset, as in 2026-03-01T12:00:00Z, or is ${zone}, as in 2026-03-01T12:00. A day is its midnight.`
export const LOCAL_TIMES = timesIn('local')
export const TIMES = timesIn('in --time-zone, which is local unless given')
