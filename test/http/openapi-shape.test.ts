/** The document has the form that generators of clients understand: what scripts/generated-clients.ts tries with real ones. */
import { expect, test } from 'vitest'
import { withUsualShapes } from '../../src/http/platform/openapi-shape.ts'
import { withPartsInPlace, withSharedParts } from '../../src/http/platform/openapi-shared.ts'
import { startService } from '../support/service.ts'

const { app } = await startService()
const document: Json = JSON.parse(JSON.stringify(app.swagger()))

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** All objects of the document that are no data, with their places. */
function objectsIn(value: unknown, place = ''): [place: string, object: Json][] {
  if (Array.isArray(value)) return value.flatMap((one, index) => objectsIn(one, `${place}/${index}`))
  if (!isObject(value)) return []
  const inner = Object.entries(value)
    .filter(([name]) => !['example', 'examples', 'default'].includes(name) || place.endsWith('/responses'))
    .flatMap(([name, one]) => objectsIn(one, `${place}/${name}`))
  return [[place, value], ...inner]
}
const objects = objectsIn(document)
const schemas = objects.filter(([place]) => !/\/(?:properties|schemas|parameters|headers)$/.test(place))
const placesOf = (isWrong: (schema: Json, place: string) => boolean) =>
  schemas.filter(([place, schema]) => isWrong(schema, place)).map(([place]) => place)

test('null is no type of its own, except beside a reference', () => {
  const ofReference = new Set(
    schemas.flatMap(([place, { anyOf }]) =>
      Array.isArray(anyOf) && anyOf.length === 2 && isObject(anyOf[0]) && '$ref' in anyOf[0]
        ? [`${place}/anyOf/1`]
        : [],
    ),
  )
  expect(schemas.length).toBeGreaterThan(1_000)
  expect(placesOf(({ type }, place) => type === 'null' && !ofReference.has(place))).toEqual([])
  // The generators that were tried know these, so there is no reason for many others.
  expect(ofReference.size).toBeLessThan(20)
})

test('an integer says how wide it is, and holds its bounds', () => {
  const isInteger = (type: unknown) => type === 'integer' || (Array.isArray(type) && type.includes('integer'))
  const wrong = placesOf(({ type, format, minimum, maximum }) => {
    if (!isInteger(type)) return false
    const fits32 = Number(minimum) >= -(2 ** 31) && Number(maximum) < 2 ** 31
    return format !== (fits32 ? 'int32' : 'int64')
  })
  expect(wrong).toEqual([])
})

test('an enum has a type, a boolean has no enum and no const, and null is in it if the type has it', () => {
  expect(placesOf(schema => Array.isArray(schema.enum) && schema.type === undefined)).toEqual([])
  expect(placesOf(schema => schema.type === 'boolean' && ('enum' in schema || 'const' in schema))).toEqual([])
  const isMixed = ({ type, enum: values }: Json) =>
    Array.isArray(values) && (Array.isArray(type) && type.includes('null')) !== values.includes(null)
  expect(placesOf(isMixed)).toEqual([])
})

test('a union is of objects or references', () => {
  const isOfOthers = ({ anyOf }: Json) =>
    Array.isArray(anyOf) &&
    anyOf.some(one => isObject(one) && !['object', 'null', undefined].includes(String(one.type ?? 'object')))
  expect(placesOf(isOfOthers)).toEqual([])
  expect(placesOf(schema => 'oneOf' in schema)).toEqual([])
})

test('a boolean with a single value has it in a second part, and nothing else has parts', () => {
  const parts = schemas.flatMap(([, { type, allOf }]) => (allOf === undefined ? [] : [{ type, allOf }]))
  const of = (value: boolean) => ({ type: 'boolean', allOf: [{ type: 'boolean' }, { const: value }] })
  expect(new Set(parts.map(part => JSON.stringify(part)))).toEqual(
    new Set([of(true), of(false)].map(part => JSON.stringify(part))),
  )
})

/** What a reference leads to. */
function resolved(schema: unknown): Json {
  if (!isObject(schema)) return {}
  const name = String(schema.$ref ?? '').replace('#/components/', '/components/')
  return '$ref' in schema ? (schemas.find(([place]) => place === name)?.[1] ?? {}) : schema
}

/** The values that a field of an object may have, if they are named. */
function namedValues(schema: Json, field: string): unknown[] | undefined {
  const property = isObject(schema.properties) ? resolved(schema.properties[field]) : {}
  const [, always] = Array.isArray(property.allOf) ? property.allOf : []
  return isObject(always) ? [always.const] : Array.isArray(property.enum) ? property.enum : undefined
}

test('a required field tells the objects of each union apart', () => {
  const unions = schemas.flatMap(([place, { anyOf }]) =>
    Array.isArray(anyOf) ? [{ place, members: anyOf.filter(one => one.type !== 'null').map(resolved) }] : [],
  )
  const several = unions.filter(({ members }) => members.length > 1)
  const isTold = ({ members }: { members: Json[] }) =>
    (Array.isArray(members[0]?.required) ? members[0].required : []).some(field => {
      const values = members.flatMap(one =>
        Array.isArray(one.required) && one.required.includes(field)
          ? (namedValues(one, field) ?? [null, null])
          : [null, null],
      )
      return new Set(values).size === values.length
    })
  expect(several.filter(union => !isTold(union)).map(({ place }) => place)).toEqual([])
  expect(several.length).toBeGreaterThan(10)
})

test('a set of named values is a list', () => {
  expect(placesOf(({ items, uniqueItems }) => uniqueItems === true && isObject(items) && 'enum' in items)).toEqual([])
})

test('each operation has a name, and what webhooks receive is in a class of its own', () => {
  const operations = objects.filter(([place]) => /^\/(?:paths|webhooks)\/[^ ]*\/(?:get|put|post|delete)$/.test(place))
  const names = operations.map(([, { operationId }]) => operationId)
  expect(new Set(names).size).toBe(operations.length)
  expect(names.every(name => /^[a-z][A-Za-z]+$/.test(String(name)))).toBe(true)
  const tagsBelow = (start: string) =>
    new Set(operations.flatMap(([place, { tags }]) => (place.startsWith(start) ? [String(tags)] : [])))
  expect(tagsBelow('/webhooks/')).toEqual(new Set(['Deliveries']))
  expect(tagsBelow('/paths/').has('Deliveries')).toBe(false)
})

test('what operations share stands once, and is the same in its place', () => {
  const written = withPartsInPlace(document)
  expect(withSharedParts(written)).toEqual(document)
  const references = (start: string) =>
    objectsIn(written.paths).filter(([, { $ref }]) => String($ref).startsWith(`#/components/${start}/`))
  expect([...references('responses'), ...references('parameters')]).toEqual([])
  const problems = objectsIn(document.paths).filter(([, one]) => 'application/problem+json' in one)
  expect(problems).toEqual([])
  expect(JSON.stringify(document).length).toBeLessThan(0.6 * JSON.stringify(written).length)
})

test('names of fields are no keywords, and data is left as it is', () => {
  const schema = {
    type: 'object',
    properties: {
      enum: { enum: ['a'] },
      type: { anyOf: [{ type: 'integer', minimum: 1, maximum: 2 }, { type: 'null' }], description: 'd' },
      default: { anyOf: [{ enum: ['a'] }, { type: 'null' }] },
      anyOf: { anyOf: [{ $ref: '#/x' }, { type: 'null' }] },
      properties: { type: 'boolean', enum: [false] },
      delta: {
        anyOf: [
          { type: 'integer', minimum: 1, maximum: 2 ** 40 },
          { type: 'integer', minimum: -2, maximum: -1 },
        ],
      },
      set: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } },
    },
    examples: [{ type: 'integer', anyOf: [1] }],
    default: { type: 'null' },
  }
  expect(withUsualShapes(schema)).toEqual({
    ...schema,
    properties: {
      enum: { type: 'string', enum: ['a'] },
      type: { type: ['integer', 'null'], format: 'int32', minimum: 1, maximum: 2, description: 'd' },
      default: { type: ['string', 'null'], enum: ['a', null] },
      anyOf: { anyOf: [{ $ref: '#/x' }, { type: 'null' }] },
      properties: { type: 'boolean', allOf: [{ type: 'boolean' }, { const: false }] },
      delta: { type: 'integer', format: 'int64', minimum: -2, maximum: 2 ** 40 },
      set: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    },
  })
})
