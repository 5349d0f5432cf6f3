import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIST, filesOfPage, START_PAGES } from '../../scripts/console-files.ts'
import { ERRORS } from '../../src/errors.ts'
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
  'Slack',
  'Teams',
])

test('each error of the API has a text: else the page would show the words for programs', async () => {
  const { components } = await import(join(TEXTS, 'en', 'components.tsx'))
  expect(Object.keys(components.errors.problems)).toEqual(expect.arrayContaining(Object.keys(ERRORS)))
})

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
  const [inEnglish, inGerman] = [await sentencesOfPage(modules, 'en'), await sentencesOfPage(modules, 'de')]
  expect(inEnglish.english.length).toBeGreaterThan(20)
  expect(inEnglish.german).toEqual([])
  expect(inGerman.german.length).toBeGreaterThan(20)
  expect(inGerman.english).toEqual([])
})

test.each(Object.entries(START_PAGES))('the page “%s” comes in at most 40 files', async (_name, modules) => {
  expect((await filesOfPage(modules, 'en')).length).toBeLessThanOrEqual(40)
})

test.each([
  ['/quotas.tsx/quotas/columns/window_end', 'Resets'],
  ['/quota.tsx/quota/settings/labels/period', 'Resets'],
  ['/quota.tsx/quota/settings/oneTime', 'One-time (does not reset)'],
  ['/quota.tsx/quota/form/rolloverGroup', 'Rollover and overage'],
  ['/quota.tsx/quota/settings/labels/alert_at', 'Alerts'],
  ['/quota.tsx/quota/form/optional', 'Optional'],
  ['/quota.tsx/quota/form/cannotChange', 'Cannot be changed'],
  ['/user.tsx/user/giveUnits', 'Give units'],
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

test.each([
  ['/session.tsx/session/offer/title', 'Als „“ anmelden?'],
  ['/session.tsx/session/offer/decline', 'Nicht anmelden'],
  ['/session.tsx/session/offer/accept', 'Anmelden'],
])('%s says “%s” in German', (path, words) => {
  expect(textsIn(de).get(path)).toBe(words)
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

/** The sentences of each language that the other one does not have. */
const [ENGLISH, GERMAN] = [sentencesOf(en, de), sentencesOf(de, en)]

interface Sentences {
  english: string[]
  german: string[]
}
const SENTENCES = new Map<string, Promise<Sentences>>()

/** Texts that only one language has, long enough to be found in the files of a page. */
function sentencesOf(language: unknown, other: unknown): string[] {
  const others = [...textsIn(other).values()].join('\n')
  const texts = [...textsIn(language).values()].filter(text => /^[^'"`\\\n]{12,}$/.test(text) && text.includes(' '))
  return [...new Set(texts.filter(text => !others.includes(text) && !MESSAGES_OF_ERRORS.has(text)))]
}

/** The sentences that the scripts of a page have, as they are sent. */
async function sentencesOfPage(modules: readonly string[], language: 'en' | 'de'): Promise<Sentences> {
  const files = (await filesOfPage(modules, language)).filter(file => file.endsWith('.js'))
  const found = await Promise.all(files.map(sentencesOfFile))
  return { english: found.flatMap(({ english }) => english), german: found.flatMap(({ german }) => german) }
}

/** The sentences of each language in a file, which most pages share. */
function sentencesOfFile(file: string): Promise<Sentences> {
  const known = SENTENCES.get(file)
  if (known !== undefined) return known
  const found = readFile(join(DIST, file), 'utf8').then(source => ({
    english: ENGLISH.filter(text => source.includes(text)),
    german: GERMAN.filter(text => source.includes(text)),
  }))
  SENTENCES.set(file, found)
  return found
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
