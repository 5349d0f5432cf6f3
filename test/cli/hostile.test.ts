/** An attacker with the service, its answers or a file cannot steer the terminal of a person who runs a command. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { safeJson } from '../../src/cli/safe.ts'
import { serve } from '../support/listening.ts'
import { run } from '../support/terminal.ts'

/** Sets the title of a terminal, clears it, and begins a sequence with one character. */
const ESCAPES = '\u001b]0;title\u0007\u001b[2J\u009b31m\u202e'

const folder = await mkdtemp(join(tmpdir(), 'sms-quota-hostile-'))
afterAll(() => rm(folder, { recursive: true }))

const serving = (type: string, body: string) =>
  serve((_request, response) => response.writeHead(200, { 'content-type': type }).end(body))

/** Runs a command on a terminal. */
const runOn = (url: string, ...words: string[]) =>
  run(words, { columns: 200, env: { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: 'token' } })

const rawIn = (text: string) => text.match(/[[\p{Cc}\u202e]--\n]/gv) ?? []

test.each([['whoami'], ['check', '7'], ['quota', 'list'], ['quota', 'list', '--json']])(
  'an answer of names and values with escapes: %s %s %s',
  async (...words) => {
    const item = { [`c${ESCAPES}`]: ESCAPES, id: ESCAPES, name: ESCAPES }
    const known = { subject: ESCAPES, granted: true, items: [item], next_cursor: null }
    const answer = { [`a${ESCAPES}`]: 1, reason: ESCAPES, [`b${ESCAPES}`]: [item], ...known }
    const { stdout, stderr } = await runOn(await serving('application/json', JSON.stringify(answer)), ...words)
    expect(stdout).toContain('title')
    expect(rawIn(stdout + stderr)).toEqual([])
  },
)

test('a cursor with escapes', async () => {
  const body = JSON.stringify({ items: [{}], next_cursor: ESCAPES })
  const { stderr } = await runOn(await serving('application/json', body), 'quota', 'list', '--limit', '1')
  expect(stderr).toContain('more: --after=')
  expect(rawIn(stderr)).toEqual([])
})

test('lines of an export with escapes are escaped as JSON, and not shown raw as CSV', async () => {
  const at = await serving('application/x-ndjson', `${JSON.stringify({ id: 1, name: ESCAPES })}\n`)
  const json = await runOn(at, 'export', 'quotas')
  expect(rawIn(json.stdout)).toEqual([])
  expect(JSON.parse(json.stdout)).toEqual({ id: 1, name: ESCAPES })
  const csv = ['export', 'quotas', '--format', 'csv', '--fields', 'id,name']
  expect((await runOn(at, ...csv)).stdout).toBe('id,name\n1,�]0;title��[2J�31m�\n')
  const piped = await run(csv, { env: { SMS_QUOTA_URL: at, SMS_QUOTA_TOKEN: 'token' } })
  expect(piped.stdout).toBe(`id,name\n1,${ESCAPES}\n`)
})

test.each([['--format', 'csv'], []])('lines of an export that are not JSON: %s %s', async (...options) => {
  const at = await serving('application/x-ndjson', `${ESCAPES}\n`)
  const { stdout, stderr } = await runOn(at, 'export', 'quotas', ...options)
  expect(rawIn(stdout + stderr)).toEqual([])
})

test.each([['--yes'], ['--dry-run']])('the report of a bulk change with escapes: %s', async option => {
  const records = [
    { record: 'begin', bulk_id: ESCAPES },
    { record: 'failed', quota_id: ESCAPES, user_id: ESCAPES, code: ESCAPES, detail: ESCAPES },
    { record: 'end', changed: ESCAPES, changed_before: ESCAPES, unchanged: ESCAPES, failed: ESCAPES },
  ]
  const at = await serving('application/x-ndjson', records.map(record => `${JSON.stringify(record)}\n`).join(''))
  const { stdout, stderr } = await runOn(at, 'quota', 'bulk', 'suspend', '--user-id', '7', option)
  expect(stdout).toContain('title')
  expect(rawIn(stdout + stderr)).toEqual([])
})

test('the report of a gift with escapes', async () => {
  const quota = { id: ESCAPES, name: ESCAPES, status: ESCAPES, period: ESCAPES }
  const gift = { quota, units: 1, until: ESCAPES, time_zone: ESCAPES, reference: ESCAPES, earlier: [], usable: null }
  const records = [
    { record: 'begin', bulk_id: ESCAPES },
    { record: 'given', user_id: 7, gift },
    { record: 'left_out', user_id: 8, reason: 'not_live', quota },
    { record: 'failed', user_id: 9, code: ESCAPES, detail: ESCAPES },
    { record: 'end' },
  ]
  const at = await serving('application/x-ndjson', records.map(record => `${JSON.stringify(record)}\n`).join(''))
  const file = join(folder, 'users')
  await writeFile(file, `user\n7\n8\n9\n${ESCAPES}\n`)
  const words = ['quota', 'give', file, '--period', 'month', '--units', '5', '--reason', 'x']
  for (const option of ['--yes', '--dry-run']) {
    const { stdout, stderr } = await runOn(at, ...words, option)
    expect(stdout).toContain('given 1, left out 2, refused 1')
    expect(stderr).toContain('title')
    expect(rawIn(stdout + stderr)).toEqual([])
  }
})

test.each([
  ['a column of CSV', `user_id,external_ref,li${ESCAPES}mit\n1,a,5\n`],
  ['a field of JSON', `${safeJson(JSON.stringify({ user_id: 1, external_ref: 'a', limit: 5, [`x${ESCAPES}`]: 1 }))}\n`],
  ['a value', `user_id,external_ref,limit\n1,a,${ESCAPES}\n`],
])('a file to import, with escapes in %s', async (_, content) => {
  const file = join(folder, 'rows')
  await writeFile(file, content)
  const { stderr } = await runOn('http://127.0.0.1:1', 'import', file)
  expect(stderr).toMatch(/^line \d: .*/)
  expect(rawIn(stderr)).toEqual([])
})

test.each([
  [['whoami'], 'is not sms-quota: The address redirects to '],
  [
    ['reserve', '7', 'x', '--to', '+4915112345678', '--text', 'Your code is 4711'],
    'is not sms-quota: The address redirects to ',
  ],
  [['export', 'quotas'], 'is not sms-quota'],
  [['import', 'FILE'], 'is not sms-quota'],
])('a redirect is not followed: %j', async ([...words], message) => {
  const reached: (string | undefined)[] = []
  const other = await serve((request, response) => {
    reached.push(request.url)
    response.end()
  })
  const at = await serve((request, response) => response.writeHead(307, { location: `${other}${request.url}` }).end())
  const file = join(folder, 'good')
  await writeFile(file, 'user_id,external_ref,limit\n1,a,5\n')
  const { code, stderr } = await runOn(at, ...words.map(word => (word === 'FILE' ? file : word)))
  expect(reached).toEqual([])
  expect(code).not.toBe(0)
  expect(stderr).toContain(message)
})

test.each([
  ['whoami', 200],
  ['export quotas', 500],
  ['import FILE', 200],
  ['quota bulk suspend --user-id 7 --yes', 200],
  ['quota give FILE --period month --reason x --yes', 200],
])('an answer without an end is not read on: %s', async (words, status) => {
  const at = await serve((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/x-ndjson' })
    const part = Buffer.alloc(1024 * 1024, 'x')
    const go = () => {
      while (response.write(part));
    }
    response.on('drain', go)
    go()
  })
  const file = join(folder, 'good')
  await writeFile(file, 'user_id,external_ref,limit\n1,a,5\n')
  const { code, stderr } = await runOn(at, ...words.split(' ').map(word => (word === 'FILE' ? file : word)))
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/^sms-quota: http.* longer than \d+ bytes/)
})

test('a disk that is full is named, without the inside of the program', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  const print = () => Promise.reject(full)
  const outcome = { code: 1, stdout: '', stderr: `sms-quota: ${full.message}\n` }
  expect(await run(['--version'], { print })).toEqual(outcome)
})
