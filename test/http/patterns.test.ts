import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { acceptedBy, isReference, PATTERNS } from '../../src/contract/patterns.ts'
import { userRef } from '../../src/contract/schemas.ts'
import { compileCheck } from '../../src/http/platform/validation.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { PROJECT } from '../support/paths.ts'

test('each pattern of the API has words, and an error shows no pattern', async () => {
  const document = JSON.parse(await readFile(join(PROJECT, 'docs/openapi.json'), 'utf8'))
  const patterns = [...new Set(patternsIn(document))]
  expect(patterns.length).toBeGreaterThan(10)
  expect(patterns.filter(pattern => acceptedBy(pattern).includes(pattern))).toEqual([])
})

test('a cursor can hold the longest filters of its list', async () => {
  const { operations } = readDocument(JSON.parse(await readFile(join(PROJECT, 'docs/openapi.json'), 'utf8')))
  const queries = operations
    .map(({ template: path, parameters }) => ({ path, query: parameters.filter(one => one.in === 'query') }))
    .filter(({ query }) => query.some(({ name }) => name === 'cursor'))
  expect(queries.length).toBeGreaterThan(10)
  for (const { path, query } of queries) {
    const { pattern = '' } = query.find(({ name }) => name === 'cursor')?.schema ?? {}
    // A character of a text has up to 4 bytes. What has no `maxLength` has at most 128 of them. The rest is the last row of a page.
    const bytesOf = ({ name, schema }: (typeof operations)[number]['parameters'][number]) =>
      name.length + 6 + (schema.maxLength ?? 32) * 4
    const bytes = query.reduce((sum, parameter) => sum + bytesOf(parameter), 500)
    const message = `${path}: the bound of "cursor" in src/contract/patterns.ts`
    expect(Number(/\{1,(\d+)\}/.exec(pattern)?.[1]), message).toBeGreaterThan((bytes * 4) / 3)
  }
})

function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'pattern' && typeof inner === 'string') return [inner]
    if (key === 'patternProperties') return [...Object.keys(inner), ...patternsIn(Object.values(inner))]
    return patternsIn(inner)
  })
}

test.each(Object.entries(PATTERNS))('%s: an error says what is accepted', (_name, { pattern, accepts }) => {
  expect(compileCheck(Type.String({ pattern }))('ü\n')).toEqual([
    { path: '', message: `must be ${accepts}, not "ü\\n"; it has the invisible U+000A at position 2` },
  ])
})

test('an error shows the value that it names with its invisible characters escaped: a mark of direction would turn the sentence', () => {
  const check = compileCheck(Type.String({ pattern: '^a$' }))
  for (const [text, shown] of [
    ['\u202eevil', '\\u202eevil'],
    ['a\u200bb\u2066', 'a\\u200bb\\u2066'],
    ['\u{e0001}', '\\udb40\\udc01'],
  ] as const)
    expect(check(text)?.[0]?.message).toContain(`, not "${shown}"; it has the invisible U+`)
  const closed = compileCheck(Type.Object({}, { additionalProperties: false }))
  expect(closed({ 'a\u202eb': 1 })?.[0]?.path).toBe('/a\\u202eb')
})

test.each([
  ['phoneNumber', '+1234567', true],
  ['phoneNumber', '+123456789012345', true],
  ['phoneNumber', '+123456', false],
  ['phoneNumber', '+1234567890123456', false],
  ['phoneNumber', '004915112345678', false],
  ['phoneNumber', '+49 1511234567', false],
  ['phoneNumber', '+0123456789', false],
  ['phoneNumber', '+٤٩١٥١١٢٣٤٥٦٧', false],
  ['phoneNumber', '+4915112345678\n', false],
] as const)('%s: %j is accepted: %s', (name, text, isAccepted) => {
  expect(compileCheck(Type.String({ pattern: PATTERNS[name].pattern }))(text) === null).toBe(isAccepted)
})

test.each([
  ['A-7', true],
  ['x'.repeat(128), true],
  ['😀'.repeat(128), true],
  ['😀'.repeat(129), false],
  ['\ud83d', false],
  ['a\u00a0b', false],
  ['', false],
])('%j is a reference for the schema and for what looks it up: %s', (text, isAccepted) => {
  expect(compileCheck(userRef())(text) === null).toBe(isAccepted)
  expect(isReference(text)).toBe(isAccepted)
})
