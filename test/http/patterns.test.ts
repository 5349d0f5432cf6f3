import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { acceptedBy, PATTERNS } from '../../src/contract/patterns.ts'
import { compileCheck } from '../../src/http/platform/validation.ts'
import { PROJECT } from '../support/paths.ts'

test('each pattern of the API has words, and an error shows no pattern', async () => {
  const document = JSON.parse(await readFile(join(PROJECT, 'docs/openapi.json'), 'utf8'))
  const patterns = [...new Set(patternsIn(document))]
  expect(patterns.length).toBeGreaterThan(10)
  expect(patterns.filter(pattern => acceptedBy(pattern).includes(pattern))).toEqual([])
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
  expect(compileCheck(Type.String({ pattern }))('ü')).toEqual([{ path: '', message: `must be ${accepts}, not "ü"` }])
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
