import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/process.ts'

/** The catalogs, imported dynamically, because their types need the DOM. */
const catalog = (language: string) => import(join(PROJECT, `console/src/texts/${language}/${language}.ts`))
const { en } = await catalog('en')
const { de } = await catalog('de')

/** Words that are the same in English and German. */
const SAME = new Set(['Administrator', 'Status', 'Support', 'Token', 'URL', 'Webhook', 'Webhooks'])

test('every German text differs from the English one, except for words that are the same', () => {
  const german = textsIn(de)
  const same = [...textsIn(en)].filter(([path, text]) => german.get(path) === text && !SAME.has(text))
  expect(same).toEqual([])
})

test('both languages have the same texts', () => {
  expect([...textsIn(de).keys()].sort()).toEqual([...textsIn(en).keys()].sort())
})

/** The texts of a catalog by their path. A function counts by its source, in which its texts are. */
function textsIn(value: unknown, path = ''): Map<string, string> {
  if (typeof value === 'string' || typeof value === 'function') return new Map([[path, String(value)]])
  if (typeof value !== 'object' || value === null) return new Map()
  if ('props' in value) return new Map([[path, wordsOf(value)]])
  return new Map(Object.entries(value).flatMap(([key, part]) => [...textsIn(part, `${path}/${key}`)]))
}

/** The words in a React node: a text, a list of nodes, or an element. */
function wordsOf(node: unknown): string {
  if (typeof node === 'string') return node
  if (Array.isArray(node)) return node.map(wordsOf).join('')
  if (typeof node !== 'object' || node === null || !('props' in node)) return ''
  const { props } = node
  return typeof props === 'object' && props !== null && 'children' in props ? wordsOf(props.children) : ''
}
