import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIST, filesOfPage, START_PAGES } from '../../scripts/console-files.ts'
import { PROJECT } from '../support/paths.ts'

const TEXTS = join(PROJECT, 'console/src/texts')

/** Every file of a language, also those that come with a page. Imported dynamically, because their types need the DOM. */
async function catalog(language: string): Promise<Record<string, unknown>> {
  const files = await readdir(join(TEXTS, language))
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

test.each(Object.entries(START_PAGES))('the page “%s” loads the texts of its language only', async (_name, modules) => {
  const [english, german] = [sentencesOf(en, de), sentencesOf(de, en)]
  const [inEnglish, inGerman] = [await sourceOfPage(modules, 'en'), await sourceOfPage(modules, 'de')]
  expect([...english].filter(text => inEnglish.includes(text)).length).toBeGreaterThan(20)
  expect([...german].filter(text => inEnglish.includes(text))).toEqual([])
  expect([...german].filter(text => inGerman.includes(text)).length).toBeGreaterThan(20)
  expect([...english].filter(text => inGerman.includes(text))).toEqual([])
})

test.each([
  ['/quotas.tsx/quotas/columns/window_end', 'Resets'],
  ['/quota.tsx/quota/settings/labels/period', 'Resets'],
  ['/quota.tsx/quota/settings/oneTime', 'One-time (does not reset)'],
  ['/quota.tsx/quota/form/rolloverGroup', 'Rollover and overage'],
  ['/quota.tsx/quota/settings/labels/alert_at', 'Alerts'],
  ['/quota.tsx/quota/form/optional', 'Optional'],
  ['/quota.tsx/quota/form/cannotChange', 'Cannot be changed'],
  ['/user.tsx/user/summary/restored', ' restored'],
  ['/user.tsx/user/reservations/columns/chargedTo', 'Charged to'],
  ['/denials.tsx/denials/message/charged', 'Charged to'],
  ['/usage.tsx/usage/measures/refunded/label', 'Refunded'],
  ['/usage.tsx/usage/measures/denied/label', 'Denied'],
  ['/overview-parts.tsx/overviewParts/events/ended', 'ended'],
  ['/overview-parts.tsx/overviewParts/events/expiredReleased', 'expired,  released'],
  ['/webhooks.tsx/webhooks/status/aboutEnabled', 'Failed deliveries are retried for 3 days with increasing delays.'],
])('%s says “%s”', (path, words) => {
  expect(textsIn(en).get(path)).toBe(words)
})

test('no text has an unusual word for what has a usual one', () => {
  const unusual =
    /in vain|\bcomes? back\b|ran out of time|\btelling\b|counted in\b|settled when|for people|less often|carries over|one window|\bstarts? anew\b/i
  expect([...textsIn(en)].filter(([, text]) => unusual.test(text))).toEqual([])
  const unusualGerman = /\bNeubeginn\b|beginnt neu|neu beginnt|Neuer Zeitraum/i
  expect([...textsIn(de)].filter(([, text]) => unusualGerman.test(text))).toEqual([])
})

/** The messages of errors are English in both languages. */
const MESSAGES_OF_ERRORS = new Set(['The service is not responding.'])

/** Texts that only one language has, long enough to be found in the files of a page. */
function sentencesOf(language: unknown, other: unknown): Set<string> {
  const others = [...textsIn(other).values()].join('\n')
  const texts = [...textsIn(language).values()].filter(text => /^[^'"`\\\n]{12,}$/.test(text) && text.includes(' '))
  return new Set(texts.filter(text => !others.includes(text) && !MESSAGES_OF_ERRORS.has(text)))
}

/** The scripts of a page as they are sent. */
async function sourceOfPage(modules: readonly string[], language: 'en' | 'de'): Promise<string> {
  const files = (await filesOfPage(modules, language)).filter(file => file.endsWith('.js'))
  return (await Promise.all(files.map(file => readFile(join(DIST, file), 'utf8')))).join('\n')
}

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
