import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Tests that a document names by file and title. */
const namedIn = (text: string) =>
  [...text.matchAll(/`(?<file>(?:test|python\/tests)\/[^`]+)`, "(?<title>[^"]+)"/g)].map(
    ({ groups }) => `${groups?.file}: ${groups?.title}`,
  )

/** Those that do not exist. */
const missingOf = (named: readonly string[]) =>
  named.filter(name => {
    const [file = '', ...title] = name.split(': ')
    return !existsSync(join(ROOT, file)) || !textOf(file).includes(title.join(': '))
  })

/** The rows of all tables, without their heads. */
const rowsOf = (text: string) =>
  text.split('\n').filter((line, n, lines) => /^\| /.test(line) && !/^\|-/.test(lines[n + 1] ?? ''))

describe('each test exists, and holds a test of that title,', () => {
  test('that the guarantees name, one for each promise', () => {
    const text = textOf('docs/guarantees.md')
    expect(missingOf(namedIn(text))).toEqual([])
    const rows = rowsOf(text.split('\n## Which test would fail\n')[1]?.split('\n## ')[0] ?? '')
    expect(rows.filter(row => namedIn(row).length !== 1)).toEqual([])
    expect(rows.length).toBeGreaterThan(100)
  })

  test('that the track record names, one or more for each fault', () => {
    // The faults that were planted are no entries.
    const text = textOf('docs/track-record.md').replace(/\n## The referee\n[\s\S]*?(?=\n## )/, '')
    expect(missingOf(namedIn(text))).toEqual([])
    const rows = rowsOf(text)
    expect(rows.filter(row => namedIn(row).length === 0)).toEqual([])
    expect(rows.length).toBeGreaterThan(60)
  })
})
