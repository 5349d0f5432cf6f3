import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

test('each test that the guarantees name exists, and holds a test of that title', () => {
  const text = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8')
  const rows = [...text.matchAll(/^\| .* \| `(?<file>test\/[^`]+)`, "(?<title>[^"]+)" \|$/gm)].map(row => row.groups)
  const missing = rows.filter(row => {
    const path = join(ROOT, row?.file ?? '')
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(row?.title ?? '')
  })
  expect(missing).toEqual([])
  const lines = text.split('\n## Which test would fail\n')[1]?.split('\n## ')[0]?.match(/^\| /gm) ?? []
  // But for the head.
  expect(rows.length).toBe(lines.length - 1)
  expect(rows.length).toBeGreaterThan(60)
})
