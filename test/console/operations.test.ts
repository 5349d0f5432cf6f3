/** The operations that the console calls: their types are those of the document, and a wrong call does not compile. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Call, Change, Input, Operation, Read } from '../../console/src/api/operations.ts'
import { isStale } from '../../console/src/queries/stale.ts'
import { withPartsInPlace } from '../../src/http/platform/openapi-shared.ts'
import { PROJECT } from '../support/paths.ts'

interface Content {
  content?: Record<string, { schema: { $ref?: string; anyOf?: { $ref?: string }[] } }>
}
interface Described {
  parameters?: { in: string; name: string }[]
  requestBody?: Content
  responses: Record<string, Content>
}

const textOf = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const document = withPartsInPlace(JSON.parse(textOf('docs/openapi.json'))) as {
  paths: Record<string, Record<string, Described>>
}
const contract = new Map<string, unknown>()
for (const file of readdirSync(join(PROJECT, 'src/contract'))) {
  const exported: object = await import(join(PROJECT, 'src/contract', file))
  for (const [name, value] of Object.entries(exported)) contract.set(name, value)
}

const ROW = /^ {2}'(?<method>[A-Z]+) (?<path>\/\S*)': (?<kind>\w+)<(?<types>.*)>$/gm
const rows = [...textOf('console/src/api/operations.ts').matchAll(ROW)].map(({ groups = {} }) => {
  const { method = '', path = '', kind = '', types = '' } = groups
  const [answer = null, second = null, third = null] = types.split(', ').map(type => (type === 'null' ? null : type))
  const [query, body] = kind === 'Changes' ? [null, second] : [second, third]
  return { operation: `${method} ${path}`, method, path, kind, answer, query, body }
})

function describedAs(method: string, path: string): Described | undefined {
  return document.paths[`/api/sms${path}`]?.[method.toLowerCase()]
}

/** The names of the schemas of a request or a response, and whether it is lines. */
function contentOf(part: Content | undefined): { names: string | null; isLines: boolean } {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(part?.content ?? {})
  const names = (schema.anyOf ?? [schema]).flatMap(({ $ref }) =>
    $ref === undefined ? [] : [`'${$ref.split('/').at(-1)}'`],
  )
  return { names: names.join(' | ') || null, isLines: type.endsWith('ndjson') }
}

function answerOf(method: string, path: string) {
  const [, answer] =
    Object.entries(describedAs(method, path)?.responses ?? {}).find(([status]) => /^2/.test(status)) ?? []
  return contentOf(answer)
}

/** `user_ref` stands for `user_id` wherever that is, and the console has ids. */
function parametersOf(query: string | null): string[] {
  if (query === null) return []
  const schema = contract.get(query.replace(/^typeof (?:exports\.)?/, '')) as { properties: object }
  return Object.keys(schema.properties)
}

test('all operations of the file are read', () => {
  expect(rows.length).toBeGreaterThan(80)
  expect(rows).toHaveLength(textOf('console/src/api/operations.ts').match(/^ {2}'[A-Z]+ \//gm)?.length ?? 0)
})

test.each(rows)('$operation is as the document says', ({ method, path, kind, answer, query, body }) => {
  const described = describedAs(method, path)
  expect(described, 'the document has it').toBeDefined()
  expect(answerOf(method, path)).toEqual({ names: answer, isLines: kind === 'Streams' })
  const named = (described?.parameters ?? []).filter(({ in: place, name }) => place === 'query' && name !== 'user_ref')
  expect(parametersOf(query).toSorted()).toEqual(named.map(({ name }) => name).toSorted())
  const asked = contentOf(described?.requestBody)
  expect(body).toBe(asked.isLines ? null : asked.names)
})

describe('an answer of a PUT is shown as that of a GET:', () => {
  const otherwise = new Set(['/admin/plans/{id}', '/admin/rate-cards/{id}', '/admin/rate-cards/{id}/lines'])
  const puts = rows.filter(({ method, path }) => method === 'PUT' && !otherwise.has(path))
  test.each(puts)('$operation', ({ method, path }) => {
    expect(answerOf(method, path)).toEqual(answerOf('GET', path))
  })
})

test.each<[Change, Read, boolean]>([
  ['PUT /admin/quota/{id}', 'GET /admin/quota/list', true],
  ['PUT /admin/quota/{id}', 'GET /quota/list', true],
  ['PUT /admin/quota/{id}', 'GET /admin/quota/{id}/history', true],
  ['PUT /admin/quota/{id}', 'GET /admin/quota/usage', false],
  ['DELETE /admin/quota/{id}', 'GET /admin/users/{user_id}/plan', true],
  ['POST /admin/quota/{id}/transfer', 'GET /admin/quota/reservations', true],
  ['POST /admin/quota/{id}/adjust', 'GET /admin/quota/reservations', false],
  ['POST /admin/plans', 'GET /admin/audit', true],
  ['PUT /admin/plans/{id}', 'GET /admin/rate-cards/{id}', true],
  ['PUT /admin/rate-cards/{id}/lines', 'GET /admin/rate-cards/{id}', true],
  ['PUT /admin/webhooks/{id}', 'GET /admin/audit', true],
  ['PUT /admin/breaker', 'GET /admin/audit', true],
  ['POST /quota/requests', 'GET /admin/quota/summary', true],
  ['DELETE /admin/pauses/{id}', 'GET /quota/denials/{denial_id}', true],
  ['POST /admin/webhooks/{id}/redeliver', 'GET /admin/webhooks/{id}/deliveries/{delivery}', true],
  ['POST /admin/webhooks/{id}/redeliver', 'GET /admin/webhooks', false],
  ['PUT /admin/users/{user_id}/profile', 'GET /admin/customers', true],
])('%s makes %s stale: %s', (change, read, expected) => {
  expect(isStale(change, [read])).toBe(expected)
})

test('a wrong call does not compile', () => {
  // @ts-expect-error
  const path: Operation = 'GET /admin/webhook/{id}'
  // @ts-expect-error
  const method: Operation = 'POST /admin/webhooks/{id}'
  // @ts-expect-error
  const parameter: Input<'GET /admin/webhooks/{id}'> = {}
  // @ts-expect-error
  const name: Input<'GET /admin/pauses'> = { query: { contry: 'NG' } }
  // @ts-expect-error
  const value: Input<'GET /admin/pauses'> = { query: { origin: 'people' } }
  // @ts-expect-error
  const required: Input<'GET /admin/search'> = {}
  // @ts-expect-error
  const field: Input<'PUT /admin/webhooks/{id}'> = { id: 1, body: { enbled: true } }
  // @ts-expect-error
  const type: Input<'PUT /admin/webhooks/{id}'> = { id: 1, body: { enabled: 'yes' } }
  // @ts-expect-error
  const withoutBody: Input<'PUT /admin/webhooks/{id}'> = { id: 1 }
  // @ts-expect-error
  const body: Input<'DELETE /admin/pauses/{id}'> = { id: 1, body: {} }
  // @ts-expect-error
  const stream: Call = 'POST /admin/quota/bulk'
  // @ts-expect-error
  const change: Read = 'POST /admin/quota'
  expect([path, method, parameter, name, value, required, field, type, withoutBody, body, stream, change]).toHaveLength(
    12,
  )
})
