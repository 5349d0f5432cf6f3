/** What the tours say and leave out. `readme.long.test.ts` pastes them into a shell. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'
import { callOf, linesOf } from '../support/walk.ts'

const readme = await linesOf('README.md', 'A tour of a minute')
const tour = await linesOf('docs/tour.md')

test("the README's tour shows a default plan, a reserve, a commit, a denial and the summary", () => {
  expect(readme.flatMap(({ command }) => callOf(command) ?? [])).toEqual([
    'POST /api/sms/admin/plans',
    'POST /api/sms/sender/quota/reserve',
    'POST /api/sms/sender/quota/commit',
    'POST /api/sms/sender/quota/reserve',
    'GET /api/sms/admin/quota/summary',
  ])
  expect(readme.filter(line => line.expected !== null).length).toBe(5)
})

test('the README is at most 150 lines long', async () => {
  expect((await readFile(join(PROJECT, 'README.md'), 'utf8')).split('\n').length).toBeLessThanOrEqual(151)
})

test('the long tour calls every endpoint', async () => {
  const { paths } = JSON.parse(await readFile(join(PROJECT, 'docs/openapi.json'), 'utf8'))
  const calls = tour.flatMap(({ command }) => callOf(command) ?? [])
  const missing = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations as object)
      .map(method => `${method.toUpperCase()} ${path}`)
      .filter(() => path.startsWith('/api/'))
      .filter(call => !calls.some(made => new RegExp(`^${call.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(made))),
  )
  expect(calls.length).toBeGreaterThan(30)
  expect(tour.filter(line => line.expected !== null).length).toBeGreaterThan(12)
  expect(missing).toEqual([])
})
