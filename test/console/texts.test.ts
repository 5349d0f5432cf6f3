import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/process.ts'

const TEXTS = join(PROJECT, 'console/src/texts')

/** Every file of a language, also those that come with a page. Imported dynamically, because their types need the DOM. */
async function catalog(language: string): Promise<Record<string, unknown>> {
  const files = (await readdir(join(TEXTS, language))).filter(file => file !== `${language}.ts`)
  return Object.fromEntries(
    await Promise.all(files.map(async file => [file, { ...(await import(join(TEXTS, language, file))) }])),
  )
}
const en = await catalog('en')
const de = await catalog('de')

/** Words that are the same in English and German. */
const SAME = new Set([
  'Administrator',
  'Emoji',
  'Limit',
  'Live',
  'Name',
  'Optional',
  'Status',
  'Support',
  'Text',
  'Tilde',
  'Token',
  'URL',
  'Version',
  'Webhook',
  'Webhooks',
])

test('every German text differs from the English one, except for words that are the same', () => {
  const german = textsIn(de)
  const same = [...textsIn(en)].filter(
    ([path, text]) => german.get(path) === text && /\p{L}/u.test(text) && !SAME.has(text.trim()),
  )
  expect(same).toEqual([])
})

test('both languages have the same texts', () => {
  expect([...textsIn(de).keys()].sort()).toEqual([...textsIn(en).keys()].sort())
})

/** The texts of a catalog by their path. */
function textsIn(value: unknown, path = ''): Map<string, string> {
  if (typeof value === 'string') return new Map([[path, value]])
  if (typeof value === 'function') return new Map([[path, literalsOf(String(value))]])
  if (typeof value !== 'object' || value === null) return new Map()
  if ('props' in value) return new Map([[path, wordsOf(value)]])
  return new Map(Object.entries(value).flatMap(([key, part]) => [...textsIn(part, `${path}/${key}`)]))
}

/** The literal parts of the texts in the source of a function. */
function literalsOf(source: string): string {
  const literals = source.replaceAll(/\$\{[^{}]*\}/g, '').matchAll(/'([^']*)'|"([^"]*)"|`([^`]*)`/g)
  return [...literals].map(([, ...parts]) => parts.join('')).join(' ')
}

/** The words in a React node: a text, a list of nodes, or an element. */
function wordsOf(node: unknown): string {
  if (typeof node === 'string') return node
  if (Array.isArray(node)) return node.map(wordsOf).join('')
  if (typeof node !== 'object' || node === null || !('props' in node)) return ''
  const { props } = node
  return typeof props === 'object' && props !== null && 'children' in props ? wordsOf(props.children) : ''
}
