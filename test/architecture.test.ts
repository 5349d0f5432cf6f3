import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'src')

/** Rooms from the inside out: a file imports from its own room and from those before it. */
const ROOMS = [
  { name: 'leaves', holds: /^(errors|config)\.ts$|^config\// },
  { name: 'domain', holds: /^domain\// },
  { name: 'db', holds: /^db\// },
  { name: 'engine', holds: /^engine\// },
  { name: 'events', holds: /^events\// },
  { name: 'metrics', holds: /^metrics\.ts$/ },
  { name: 'http', holds: /^http\// },
  { name: 'app', holds: /^(app|clock)\.ts$/ },
  { name: 'process', holds: /^(main|cli)\.ts$|^cli\// },
]

/** What the domain may import beside itself: it does no I/O and has no clock. */
const PURE_PACKAGES = new Set(['temporal-polyfill', 'node:util', 'sms-segments-calculator', 'libphonenumber-js/min'])

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts'))
  .map(path => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }))

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

test('a file is no longer than a person can hold', () => {
  const long = files.filter(({ text }) => text.split('\n').length > 350).map(({ path }) => path)
  expect(long).toEqual([])
})
