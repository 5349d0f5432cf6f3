/**
 * Whether a value is valid is decided by its schema alone. Every schema that a request is checked against is tried: those of
 * the routes come from the service, all others from the modules of the contract, so that none is missing.
 */
import { readdirSync } from 'node:fs'
import type { FastifySchemaCompiler } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { DEFAULT_SEGMENT_RULES } from '../../src/domain/messages/segment-rules.ts'
import { Problem } from '../../src/errors.ts'
import { compileCheck, compileValidator } from '../../src/http/platform/validation.ts'
import { createRowReader } from '../../src/http/quotas/import.ts'
import { commandOf, createOperationCheck } from '../../src/http/sender/requests.ts'
import { watchRoutes } from '../support/routes.ts'
import { startService } from '../support/service.ts'

interface Case {
  name: string
  schema: Type.TObject
}

interface RouteCase extends Case {
  validate: (value: unknown) => unknown
  /** Whether the route refuses values that its schema accepts. */
  hasFurtherRules: boolean
}

type Properties = Record<string, TSchema>

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && '~kind' in value
const isObject = (schema: TSchema): schema is Type.TObject => 'properties' in schema
/** Requests are closed; answers are not, or refer to others. */
const isOfRequest = (schema: Type.TObject) =>
  'additionalProperties' in schema && !JSON.stringify(schema).includes('"$ref"')

/** The schemas of requests in a module, also those in its tables. */
function schemasIn(name: string, value: unknown): Case[] {
  if (typeof value !== 'object' || value === null) return []
  if (!isSchema(value)) return Object.entries(value).flatMap(([key, inner]) => schemasIn(`${name}.${key}`, inner))
  return isObject(value) && isOfRequest(value) ? [{ name, schema: value }] : []
}

async function schemasOfContract(): Promise<Case[]> {
  const files = readdirSync(new URL('../../src/contract/', import.meta.url))
  const modules = await Promise.all(files.map(file => import(`../../src/contract/${file}`)))
  const cases = modules.flatMap((module, index) => schemasIn(files[index] ?? '', { ...module }))
  return [...new Map(cases.map(each => [each.schema, each])).values()]
}

/** The schemas of the routes of a service, with the validators that the routes themselves use. */
async function schemasOfRoutes() {
  const cases: RouteCase[] = []
  const service = await watchRoutes(({ method, url, schema, validatorCompiler }) => {
    const compile: FastifySchemaCompiler<TSchema> = validatorCompiler ?? compileValidator
    for (const httpPart of ['body', 'querystring', 'params', 'headers'] as const) {
      const given: unknown = schema?.[httpPart]
      if (!isSchema(given) || !isObject(given) || method === 'HEAD') continue
      cases.push({
        name: `${method} ${url} ${httpPart}`,
        schema: given,
        validate: compile({ schema: given, method: String(method), url, httpPart }),
        hasFurtherRules: httpPart === 'body' && validatorCompiler !== undefined,
      })
    }
  }, startService)
  return { cases, service }
}

const { cases: ROUTES, service } = await schemasOfRoutes()
/** Those that no route has. */
const CONTRACT = (await schemasOfContract()).filter(({ schema }) => !ROUTES.some(route => route.schema === schema))

test('the schemas are those of all routes, operations, rows and parts of bulk changes', () => {
  const names = [...ROUTES, ...CONTRACT].map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining([
      'GET /api/sms/quota/denials querystring',
      'POST /api/sms/admin/quota body',
      'POST /api/sms/sender/quota/reserve body',
      'sender.ts.OPERATIONS.reserve',
      expect.stringMatching(/ImportRow$/),
      'bulk.ts.BULK_CHANGES.adjust',
    ]),
  )
  expect(ROUTES.length).toBeGreaterThan(60)
})

/** A value that a schema accepts, as far as its keywords tell. */
function sampleOf(schema: TSchema): unknown {
  const {
    type,
    anyOf,
    enum: choices,
    const: constant,
    examples,
    format,
    minimum = 0,
    items,
    minItems = 0,
    pattern,
  } = schema as Keywords
  if (anyOf !== undefined) return sampleOf(anyOf[0] ?? {})
  if (choices !== undefined) return choices[0]
  if (constant !== undefined) return constant
  if (examples !== undefined) return examples[0]
  if (type === 'integer') return minimum
  if (type === 'boolean') return true
  if (type === 'array') return Array.from({ length: minItems }, () => sampleOf(items ?? {}))
  if (type === 'object') return isObject(schema) ? objectOf(schema) : {}
  if (type === 'null') return null
  if (type !== 'string') return 'anything'
  const samples = [
    'a',
    'DE',
    '2026-03-01T00:00:00Z',
    'UTC',
    'https://receiver.example/',
    '7',
    '+4915112345678',
    'P1M',
    'evt_1_1',
    `7.1.${'a'.repeat(43)}`,
  ]
  return (
    samples.find(sample => Value.Check(pattern === undefined ? { type, format } : { type, pattern }, sample)) ?? 'a'
  )
}

interface Keywords {
  type?: string
  anyOf?: TSchema[]
  enum?: unknown[]
  const?: unknown
  examples?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  items?: TSchema
  minItems?: number
}

function objectOf(schema: Type.TObject): Record<string, unknown> {
  const { required = [], properties } = schema as { required?: string[]; properties: Properties }
  return Object.fromEntries(required.map(name => [name, sampleOf(properties[name] ?? {})]))
}

const WRONG: readonly unknown[] = [null, true, -1, 1.5, '5', 'x'.repeat(70), [], {}, [{}], 1e20]
const NUMBERS_OF_NAMES = [0, 1, 100, 101, 499, 500, 501, 1_000]
const NAMES = Object.entries(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`~${index}`, index])))

const unknownNames = (count: number): Record<string, unknown> => Object.fromEntries(NAMES.slice(0, count))

/** Values of a schema: each known field with values of other types, and with this many unknown names, which alone are an error. */
function* valuesFor(schema: Type.TObject): Generator<Record<string, unknown>, void> {
  const valid = objectOf(schema)
  const fields = Object.keys(schema.properties)
  for (const name of fields) for (const wrong of WRONG) yield { ...valid, [name]: wrong }
  for (const count of NUMBERS_OF_NAMES) {
    const names = unknownNames(count)
    yield { ...valid, ...names }
    yield names
    for (const name of fields.slice(0, 1)) yield { ...valid, ...names, [name]: null }
  }
  // Within each field that holds an object, too.
  for (const [name, field] of Object.entries(schema.properties as Properties)) {
    const inner = sampleOf(field)
    if (typeof inner !== 'object') continue
    for (const count of [1, 501]) yield { ...valid, [name]: { ...inner, ...unknownNames(count) } }
  }
}

/** The values that are wrongly accepted or refused, cut short. */
function wrongVerdicts(schema: Type.TObject, isWrong: (value: Record<string, unknown>, isValid: boolean) => boolean) {
  return [...valuesFor(schema)]
    .filter(value => isWrong(value, Value.Check(schema, value)))
    .map(value => `${Object.keys(value).length} names: ${JSON.stringify(value).slice(0, 100)}`)
}

describe('a value is accepted exactly if its schema accepts it', () => {
  test.each(CONTRACT)('$name', ({ schema }) => {
    const check = compileCheck(schema)
    const wrong = wrongVerdicts(schema, (value, isValid) => {
      const issues = check(value)
      return isValid ? issues !== null : issues === null || issues.length === 0
    })
    expect(wrong).toEqual([])
  })

  test.each(ROUTES)('$name', ({ schema, validate, hasFurtherRules }) => {
    const wrong = wrongVerdicts(schema, (value, isValid) => {
      const read = validate(value)
      if (typeof read === 'object' && read !== null && 'value' in read) return !Value.Check(schema, read.value)
      const isRefused = typeof read === 'object' && read !== null && 'error' in read && read.error instanceof Problem
      return !isRefused || (isValid && !hasFurtherRules)
    })
    expect(wrong).toEqual([])
  })
})

test('a valid sample is known of every schema, so that acceptance is tried, too', () => {
  const unknown = [...CONTRACT, ...ROUTES].filter(({ schema }) => !Value.Check(schema, objectOf(schema)))
  expect(unknown.map(({ name }) => name)).toEqual([])
})

test('an object with more than 100 unknown names is refused before they are listed, at any depth', () => {
  const inner = Type.Object({ to: Type.Optional(Type.String()) }, { additionalProperties: false })
  const check = compileCheck(
    Type.Object(
      { message: Type.Optional(inner), list: Type.Optional(Type.Array(inner)) },
      { additionalProperties: false },
    ),
  )
  expect(check(unknownNames(100))).toHaveLength(100)
  expect(check(unknownNames(101))).toEqual([{ path: '', message: 'has 101 unknown names; accepted are message, list' }])
  expect(check({ message: unknownNames(5_000), list: [{}, unknownNames(500)] })).toEqual([
    { path: '/message', message: 'has 5000 unknown names; accepted are to' },
    { path: '/list/1', message: 'has 500 unknown names; accepted are to' },
  ])
})

test('an operation of a batch and a row of an import with 500 unknown names are refused', () => {
  const operation = { op: 'consume', user_id: 7, id: 'm', units: -5, force: 1, ...unknownNames(500) }
  expect(createOperationCheck(() => DEFAULT_SEGMENT_RULES)(operation)).toEqual({
    issues: [{ path: '', message: expect.stringMatching(/^has 500 unknown names; accepted are op, user_id, /) }],
  })
  const row = JSON.stringify({ user_id: 'all', external_ref: 'K-1', limit: '5', used: 0, ...unknownNames(500) })
  expect(createRowReader()(row)).toMatchObject({ issues: [{ path: '' }] })
})

test('what is behind the schemas takes only what they promise', () => {
  const origin = { principal: 'gateway', requestId: 'r' }
  const command = (op: 'reserve' | 'consume' | 'commit', request: { user_id: unknown; [field: string]: unknown }) =>
    commandOf(op, request.user_id as never, request as never, origin, {
      requireCountry: false,
      requireRecipient: false,
      segments: DEFAULT_SEGMENT_RULES,
    }).command
  expect(command('consume', { user_id: 7, id: 'm', units: 1, force: 1 })).toMatchObject({ force: false })
  expect(command('commit', { user_id: 7, id: 'm', force: 'true' })).toMatchObject({ force: false })
  for (const wrong of ['5', 1.5, -1, [5], { valueOf: () => 5 }]) {
    expect(() => command('reserve', { user_id: 7, id: 'm', units: wrong })).toThrow(TypeError)
    expect(() => command('reserve', { user_id: wrong, id: 'm', units: 1 })).toThrow(TypeError)
    expect(() => command('commit', { user_id: 7, id: 'm', total_units: wrong })).toThrow(TypeError)
  }
  expect(() => command('reserve', { user_id: 7, id: ['m'], units: 1 })).toThrow(TypeError)
})

test('a list of values that are nested thousands of levels deep is refused', async () => {
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  const body = `{"user_id":7,"limit":5,"countries":[${deep}]}`
  const headers = { 'content-type': 'application/json' }
  expect(await service.call('POST', '/api/sms/admin/quota', { body, headers })).toMatchObject({ status: 400 })
})

test('no call gets past its schema with 500 unknown names', async () => {
  const { call, adminToken, token, userToken } = service
  const { body: quota } = await call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 100_000 } })
  const names = unknownNames(500)
  const query = Object.keys(names).join('&')
  const support = await token({ sub: 'sue', roles: ['sms-quota:support'] })
  const refused = [
    await call('GET', `/api/sms/quota/denials?without=id&${query}`, { token: await userToken(7) }),
    await call('POST', `/api/sms/admin/quota/${quota.id}/adjust`, { token: support, body: { delta: '500', ...names } }),
    await call('PUT', `/api/sms/admin/quota/${quota.id}`, {
      token: adminToken,
      body: { limit: '7', used: 9, ...names },
    }),
    await call('POST', '/api/sms/sender/quota/consume', {
      token: await token({ sub: 'gateway', roles: ['sms-quota:sender'] }),
      body: { user_id: 7, id: 'm', units: 1_000_000, force: 1, ...names },
    }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  expect(refused[0]?.body.errors).toEqual([
    { path: '', message: expect.stringMatching(/^has 500 unknown names; accepted/) },
  ])
  const { body: after } = await call('GET', `/api/sms/admin/quota/${quota.id}`)
  expect(after).toEqual(quota)
})

test.each([
  ['too long a list', { countries: Array.from({ length: 30_000 }, () => 1) }, '/countries', 'not a list of 30000'],
  ['a list that repeats', { countries: Array.from({ length: 200 }, () => 'DE') }, '/countries', 'not a list of 200'],
])('%s is one issue, however many errors it has', async (_name, body, path, message) => {
  const { body: problem } = await service.call('POST', '/api/sms/admin/quota', {
    body: { user_id: 1, limit: 1, ...body },
  })
  expect(problem.errors).toEqual([{ path, message: expect.stringContaining(message) }])
})

test('a number that is none for JSON is not called null', () => {
  const check = compileCheck(
    Type.Object({ limit: Type.Union([Type.Integer({ minimum: 0, maximum: 9 }), Type.Null()]) }),
  )
  const accepted = 'must be a whole number from 0 to 9, or null'
  expect(check(JSON.parse('{"limit":1e400}'))).toEqual([
    { path: '/limit', message: `${accepted}, not a number past 1.8e308` },
  ])
  expect(check(JSON.parse('{"limit":-1e400}'))).toEqual([
    { path: '/limit', message: `${accepted}, not a number below -1.8e308` },
  ])
})
