/** Valid values of a schema. What names something is mostly what exists, so that calls come as far as the database. */
import fc from 'fast-check'
import type { ApiDocument, Schema } from './document.ts'
import { isObject, type Json, type JsonObject, objectOf } from './json.ts'
import type { Knowledge } from './knowledge.ts'
import type { Random } from './random.ts'

export type Values = ReturnType<typeof createValues>

const TEXTS: Record<string, readonly string[]> = {
  text: [
    'Monthly package',
    'K-1',
    '7',
    'Ünïcödé 🇩🇪',
    "O'Brien; drop table quota; --",
    '%_\\',
    '=1+1',
    '__proto__',
    ' ',
  ],
  'time-zone': ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia', 'Africa/Casablanca'],
  country: ['DE', 'AT', 'US', 'FR', 'XK'],
  'webhook-url': ['http://127.0.0.1:1/', 'http://[::1]:1/hook?a=b', 'http://localhost:1/ü'],
}
const EARLY = [
  '1970-01-01T00:00:00Z',
  '2026-01-01T00:00:00Z',
  '2026-03-01T00:00:00.123456789+14:00',
  '2026-03-14t00:00:00z',
]
const LATE = ['2026-03-15T00:00:00Z', '2026-03-20T12:34:56-23:59', '2026-06-01T00:00:00Z', '9999-12-31T23:59:59.999Z']
/** The beginning of an interval comes before its end, mostly. */
const IS_LATE = /before|^to$|expires_at/

/** @param hookUrl of a webhook whose receiver answers */
export function createValues({ resolve }: ApiDocument, random: Random, known: Knowledge, hookUrl: string) {
  const matching = new Map<string, readonly string[]>()

  /** Texts that match a pattern. */
  function textsOf(pattern: string): readonly string[] {
    let texts = matching.get(pattern)
    if (texts === undefined) {
      texts = sampleOf(pattern, random)
      matching.set(pattern, texts)
    }
    return texts
  }

  function textFor({ format, pattern, minLength = 0, maxLength = 40 }: Schema, name: string): string {
    if (pattern !== undefined) return random.pick(textsOf(pattern))
    if (format === 'date-time') return random.pick(random.percent(80) === IS_LATE.test(name) ? LATE : EARLY)
    if (format === 'webhook-url' && random.percent(60)) return hookUrl
    const isText = format === 'text' || format === 'identifier'
    if (isText && random.percent(80)) return random.pick(TEXTS.text ?? [''])
    if (format !== undefined && !isText) return random.pick(TEXTS[format] ?? [''])
    // The longest, in characters that count twice elsewhere.
    if (random.percent(5)) return '😀'.repeat(maxLength)
    return 'x'.repeat(minLength + random.integer(Math.min(maxLength, 40) - minLength + 1))
  }

  function integerFor({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): number {
    if (random.percent(5)) return random.pick([minimum, maximum])
    if (minimum < 0) return random.percent(70) ? random.integer(200) - 50 : maximum - random.integer(1_000)
    const most = Math.min(maximum, minimum + 10 ** (1 + random.integer(6)))
    return minimum + random.integer(most - minimum + 1)
  }

  /** A schema of several types, null among them, with one of these. */
  function ofOneType(schema: Schema): Schema & { type?: string } {
    const { type, enum: values, ...others } = schema
    if (type === undefined) return { ...others, ...(values && { enum: values }) }
    if (typeof type === 'string') return { ...others, type, ...(values && { enum: values }) }
    const chosen = random.pick(type)
    if (chosen === 'null') return { type: chosen }
    return { ...others, type: chosen, ...(values && { enum: values.filter(value => value !== null) }) }
  }

  function objectFor(schema: Schema, context: string): JsonObject {
    const { properties = {}, required = [], additionalProperties } = schema
    const share = random.pick([0, 20, 40, 90])
    const given = Object.entries(properties).filter(([name]) => required.includes(name) || random.percent(share))
    const members = given.map(([name, member]) => [name, valid(member, name, context)] as const)
    const others = typeof additionalProperties === 'object' ? additionalProperties : undefined
    const count = others === undefined ? 0 : random.integer(4)
    const free = Array.from({ length: count }, (_, place) => [`key${place}`, valid(others ?? {}, '', context)] as const)
    return coherent(objectOf([...members, ...free]), properties, random)
  }

  /** @param context the template of the operation's path, which says what an `id` is of */
  function valid(given: Schema, name: string, context: string): Json {
    const schema = ofOneType(resolve(given))
    const isScalar = schema.type === 'integer' || schema.type === 'string'
    const found = isScalar && random.percent(85) ? known.valueFor(name, context) : undefined
    if (found !== undefined) return found
    if (schema.anyOf !== undefined) return valid(random.pick(schema.anyOf), name, context)
    if (schema.enum !== undefined) return random.pick(schema.enum)
    switch (schema.type) {
      case 'null':
        return null
      case 'boolean':
        return random.percent(50)
      case 'integer':
        return integerFor(schema)
      case 'number': {
        const { minimum = 0, maximum = 100 } = schema
        return minimum + (random.integer(101) / 100) * (maximum - minimum)
      }
      case 'string':
        return textFor(schema, name)
      case 'array': {
        const { items = {}, minItems = 0, maxItems = 10 } = schema
        const values = Array.from({ length: Math.max(minItems, random.integer(Math.min(maxItems, 5) + 1)) }, () =>
          valid(items, name.replace(/s$/, ''), context),
        )
        return [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
      }
      case 'object':
        return objectFor(schema, context)
      // Of several types, which its description says: a plan in the row of an import.
      case undefined:
        return random.pick([null, null, 1 + random.integer(20), textFor({ format: 'text' }, name), { id: 1 }])
      default:
        throw new Error(`no value is known for ${JSON.stringify(schema)}`)
    }
  }
  return { valid, textsOf }
}

/** What the documents say and a schema does not: fields that exclude each other, and those of which one is needed. */
function coherent(value: JsonObject, properties: Record<string, Schema>, random: Random): JsonObject {
  if (random.percent(10)) return value
  const without = (...names: string[]) => objectOf(Object.entries(value).filter(([name]) => !names.includes(name)))
  if ('message' in properties && 'units' in properties) {
    if (isObject(value.message) && random.percent(50)) return without('units', 'country')
    return { ...without('message'), units: value.units ?? 1 + random.integer(20) }
  }
  if ('by' in properties)
    return 'by' in value ? without('expires_at') : { ...value, expires_at: '2026-09-01T00:00:00Z' }
  if ('ids' in properties) {
    if ('ids' in value) return objectOf(Object.entries(value).filter(([name]) => name === 'ids'))
    return 'user_ids' in value ? without('user_id') : { ...value, user_id: 7 }
  }
  return value
}

/** What cannot be made of the pattern: it looks ahead. */
const DURATIONS = ['P1M', 'P30D', 'P1Y2M3W4D', 'P0D', 'P999Y9999M9999W99999D']

function sampleOf(pattern: string, random: Random): readonly string[] {
  if (pattern.includes('(?=')) return DURATIONS
  const matching = fc.stringMatching(new RegExp(pattern), { size: '+1' })
  return fc.sample(matching, { seed: random.integer(2 ** 31), numRuns: 20 })
}
