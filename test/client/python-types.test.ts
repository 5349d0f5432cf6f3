/** Values of the API that the client for Python takes from the document alone. Strict types see a comparison with another value. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'

const SOURCES = join(PROJECT, 'python/src/sms_quota')
/** What is the client's own, and no value of the API. */
const OWN = ['Outcome', 'OnRepeated', 'outcome', 'sent', 'operation']

test('a literal of the client in Python is generated, or no value of the API', () => {
  const byHand = readdirSync(SOURCES).filter(name => name.endsWith('.py') && name !== '_api.py')
  const literals = byHand.flatMap(name => [
    ...readFileSync(join(SOURCES, name), 'utf8').matchAll(/(\w+)(?:: [^=\n]*| = )\bLiteral\["/g),
  ])
  expect(new Set(literals.map(([, name]) => name))).toEqual(new Set(OWN))
})
