import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const FOLDER = new URL('../../migrations/', import.meta.url)

test('a migration that has landed never changes, and a new one is listed', async () => {
  const names = (await readdir(FOLDER)).filter(name => name.endsWith('.sql')).sort()
  const actual = await Promise.all(
    names.map(async name => {
      const sql = await readFile(new URL(name, FOLDER))
      return `${createHash('sha256').update(sql).digest('hex')}  ${name}`
    }),
  )
  const listed = (await readFile(new URL('checksums.txt', FOLDER), 'utf8')).trim().split('\n')
  expect(
    actual,
    `migrations/checksums.txt does not list the migrations as they are.
If you changed or removed a file that has landed: restore it. Databases have it already, and the service refuses to
start on a database whose migrations differ from its own. Put your change into a new file with the next number.
If you added a file: append its line from "cd migrations && sha256sum *.sql" to checksums.txt, in the same commit.`,
  ).toEqual(listed)
})
