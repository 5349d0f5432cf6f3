import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'src')

/** Rooms from the inside out: a file imports from its own room and from those before it. */
const ROOMS = [
  { name: 'leaves', holds: /^errors\.ts$|^config\// },
  { name: 'domain', holds: /^domain\// },
  { name: 'contract', holds: /^contract\// },
  { name: 'db', holds: /^db\// },
  { name: 'engine', holds: /^engine\// },
  { name: 'admin', holds: /^admin\// },
  { name: 'events', holds: /^events\// },
  { name: 'jobs', holds: /^jobs\// },
  { name: 'metrics', holds: /^metrics\.ts$/ },
  { name: 'http', holds: /^http\// },
  { name: 'app', holds: /^(app|clock)\.ts$/ },
  { name: 'process', holds: /^main\.ts$|^cli\// },
]

/** What the domain may import beside itself: it does no I/O and has no clock. */
const PURE_PACKAGES = new Set(['temporal-polyfill', 'node:util', 'sms-segments-calculator', 'libphonenumber-js/min'])

const files = filesIn(SOURCE)
const CONSOLE = join(ROOT, 'console/src')
const consoleFiles = filesIn(CONSOLE)

function filesIn(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => /\.tsx?$/.test(path))
    .map(path => ({ path, text: readFileSync(join(folder, path), 'utf8') }))
}

const DOMAIN = ROOMS.findIndex(room => room.name === 'domain')

function roomOf(path: string): number {
  return ROOMS.findIndex(room => room.holds.test(path))
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1] ?? '')
}

test('every file has its room', () => {
  expect(files.length).toBeGreaterThan(20)
  expect(files.filter(({ path }) => roomOf(path) < 0).map(({ path }) => path)).toEqual([])
})

test('imports run one way', () => {
  const wrong = files.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(name => name.startsWith('.'))
      .map(name => relative(SOURCE, resolve(SOURCE, dirname(path), name)))
      .filter(target => roomOf(target) > roomOf(path))
      .map(target => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('the domain imports nothing that does I/O and reads no clock', () => {
  const domain = files.filter(({ path }) => path.startsWith('domain/'))
  const outside = domain.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(name => !name.startsWith('.') && !PURE_PACKAGES.has(name))
      .map(name => `${path} imports ${name}`),
  )
  const clocks = domain.filter(({ text }) =>
    /\bDate\.now\(|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\b/.test(text),
  )
  const waits = domain.filter(({ text }) => /\basync\b|\bawait\b|\bPromise\b/.test(text))
  expect([outside, clocks, waits]).toEqual([[], [], []])
})

test('SQL stays in db/', () => {
  const statement = /\b(?:select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s/is
  const texts = files
    .filter(({ path }) => !path.startsWith('db/'))
    .filter(({ text }) => [...text.matchAll(/`[^`]*`|'[^'\n]*'/g)].some(([literal]) => statement.test(literal)))
  expect(texts.map(({ path }) => path)).toEqual([])
})

test("the console knows of the service only the contract's types and the pure domain", () => {
  expect(consoleFiles.length).toBeGreaterThan(20)
  const wrong = consoleFiles.flatMap(({ path, text }) =>
    [...text.matchAll(/(import type|import|from)\b([^;\n]*?)'(\.[^']+)'/g)]
      .map(([statement, , , name = '']) => ({ statement, target: resolve(CONSOLE, dirname(path), name) }))
      .filter(({ target }) => !target.startsWith(`${CONSOLE}/`))
      .filter(({ statement, target }) => {
        const isContract = relative(SOURCE, target).startsWith('contract/')
        return !(isContract && statement.startsWith('import type')) && roomOf(relative(SOURCE, target)) !== DOMAIN
      })
      .map(({ statement }) => `${path}: ${statement}`),
  )
  expect(wrong).toEqual([])
})

test('the console renders no text as HTML', () => {
  const markup =
    /dangerouslySetInnerHTML|\.(?:inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function/
  expect(consoleFiles.filter(({ text }) => markup.test(text)).map(({ path }) => path)).toEqual([])
})

test('a file is no longer than a person can hold', () => {
  const long = [...files, ...consoleFiles].filter(({ text }) => text.split('\n').length > 350).map(({ path }) => path)
  expect(long).toEqual([])
})
