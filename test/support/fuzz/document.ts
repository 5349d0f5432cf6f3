/** The OpenAPI document as a fuzz reads it: the operations, and validators of another make for what they accept. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { withPartsInPlace } from '../../../src/http/platform/openapi-shared.ts'

/** The part of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  enum?: (string | number | boolean | null)[]
  const?: string | number | boolean | null
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  maxProperties?: number
  pattern?: string
  format?: string
}

interface Parameter {
  name: string
  in: 'query' | 'path' | 'header'
  required: boolean
  schema: Schema
}

interface DocumentedOperation {
  operationId: string
  security?: { bearer?: string[] }[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export interface Operation {
  id: string
  method: string
  /** Its path, with names in braces. */
  template: string
  /** Roles of which one is needed; `open`: no token is; `any`: any token will do. */
  roles: readonly string[] | 'open' | 'any'
  parameters: readonly Parameter[]
  body: { mediaType: string; schema: Schema } | undefined
}

export interface ApiDocument {
  operations: readonly Operation[]
  /** A schema without references at its top. */
  resolve(schema: Schema): Schema
  /** What another validator says of a value: null if it is valid, else why not. */
  refusal(schema: Schema, value: unknown): string | null
}

export function readDocument(document: object): ApiDocument {
  const { paths, components } = withPartsInPlace(document) as {
    paths: Record<string, Record<string, DocumentedOperation>>
    components: { schemas: Record<string, Schema> }
  }
  const ajv = new Ajv2020({ strict: false })
  for (const [name, check] of Object.entries(FORMATS)) ajv.addFormat(name, check)
  // Their bounds are in the schemas, too.
  for (const name of ['int32', 'int64']) ajv.addFormat(name, true)
  ajv.addSchema({ $id: 'openapi', components })
  const validators = new Map<string, ValidateFunction>()
  return {
    operations: Object.entries(paths).flatMap(([template, item]) =>
      Object.entries(item).map(([method, operation]) => operationOf(template, method.toUpperCase(), operation)),
    ),
    resolve(schema) {
      if (schema.$ref === undefined) return schema
      const found = components.schemas[schema.$ref.split('/').at(-1) ?? '']
      if (found === undefined) throw new Error(`${schema.$ref} leads nowhere`)
      return found
    },
    refusal(schema, value) {
      const text = JSON.stringify(schema)
      let validate = validators.get(text)
      if (validate === undefined) {
        validate = ajv.compile(JSON.parse(text.replaceAll('"#/components/', '"openapi#/components/')))
        validators.set(text, validate)
      }
      return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: 'value' })
    },
  }
}

function operationOf(
  template: string,
  method: string,
  { operationId: id, security, parameters = [], requestBody }: DocumentedOperation,
): Operation {
  const [body] = Object.entries(requestBody?.content ?? {})
  return {
    id,
    method,
    template,
    roles: security === undefined ? 'any' : security.length === 0 ? 'open' : security.flatMap(it => it.bearer ?? []),
    parameters,
    body: body === undefined ? undefined : { mediaType: body[0], schema: body[1].schema },
  }
}

/**
 * The formats as the documents describe them, written for this: that the service's own checks agree is what a fuzz shows.
 */
const FORMATS: Record<string, (text: string) => boolean> = {
  // An RFC 3339 time from 1970 to 9999.
  'date-time'(text) {
    const match =
      /^(\d{4})-(\d\d)-(\d\d)t([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?:z|[+-](\d\d):(\d\d))$/i.exec(text)
    if (match === null) return false
    const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number)
    const [offsetHours = 0, offsetMinutes = 0] = match.slice(7).map(part => Number(part ?? 0))
    const daysInMonth = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
    const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth
    if (!isDay || offsetHours > 23 || offsetMinutes > 59) return false
    const at = new Date(text.replace(/(\.\d{3})\d+/, '$1').toUpperCase()).getTime()
    return at >= 0 && at < Date.UTC(10_000, 0)
  },
  // A name of the IANA database; offsets are refused.
  'time-zone'(text) {
    if (!/^[a-z]/i.test(text)) return false
    try {
      new Intl.DateTimeFormat('en', { timeZone: text })
      return true
    } catch {
      return false
    }
  },
  // ISO 3166 alpha-2.
  country(text) {
    if (!/^[A-Z]{2}$/.test(text) || NO_COUNTRIES.has(text)) return false
    return REGIONS.of(text) !== undefined
  },
  'webhook-url'(text) {
    return /^https?:\/\/[^/?#@\s]+(?:[/?#].*)?$/iu.test(text) && URL.canParse(text)
  },
  // What PostgreSQL can store.
  text: text => !/\0|\p{Surrogate}/u.test(text),
  // Each character is one that a reader sees, or a blank between two.
  identifier: text => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]|^\s|\s$/u.test(text),
  'uri-reference': text => URL.canParse(text, 'http://localhost/'),
}

const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
/** Regions of CLDR without a code of ISO 3166. */
const NO_COUNTRIES = new Set('EA EU EZ IC QO UN XA XB ZZ CP CQ DG'.split(' '))
