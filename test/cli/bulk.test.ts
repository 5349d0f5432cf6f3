/** The command `quota bulk`, against a service that listens. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota bulk '))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true })
})
const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.adminToken }

/** Runs `quota bulk` with these words. The id of the bulk change is random, so it is left out. */
async function bulk(words: readonly string[], options: Partial<Terminal> = {}) {
  const { code, stdout, stderr } = await run(['quota', 'bulk', ...words], { env, ...options })
  return { code, stdout, stderr: stderr.replace(/bulk-[0-9a-f-]{36}/g, 'BULK') }
}

let lastUser = 100
async function create(more: object = {}): Promise<{ user: number; id: number }> {
  lastUser += 1
  const { body } = await service.call('POST', '/api/sms/admin/quota', {
    body: { user_id: lastUser, limit: 100, ...more },
  })
  return { user: lastUser, id: body.id }
}
async function limitOf(id: number) {
  return (await service.call('GET', `/api/sms/admin/quota/${id}`)).body.limit
}
const MORE = ['--delta', '500', '--reason', 'More for March']
const AUDIT = 'The audit shows the changes under the request BULK.\n'

test('shows what would change, asks, and changes', async () => {
  const [one, two] = [await create({ name: 'Monthly' }), await create({ name: 'Monthly' })]
  const words = ['adjust', '--user-ids', `${one.user},${two.user}`, ...MORE]
  const questions: string[] = []
  const answering = (answer: string) => ({
    async ask(question: string) {
      questions.push(question)
      return answer
    },
  })
  const width = String(two.id).length
  const preview = [
    `${'id'.padStart(width)}  user_id  name     change`,
    `${String(one.id).padStart(width)}  ${String(one.user).padStart(7)}  Monthly  limit 100 → 600`,
    `${String(two.id).padStart(width)}  ${String(two.user).padStart(7)}  Monthly  limit 100 → 600`,
    'changed 2, unchanged 0, refused 0 (dry run: nothing was changed)\n',
  ].join('\n')
  expect(await bulk([...words, '--dry-run'])).toEqual({ code: 0, stdout: preview, stderr: '' })
  expect(await bulk(words, answering('n'))).toEqual({ code: 1, stdout: preview, stderr: 'Nothing was changed.\n' })
  expect(await limitOf(one.id)).toBe(100)
  const done = { code: 0, stdout: `${preview}changed 2, unchanged 0, refused 0\n`, stderr: AUDIT }
  expect(await bulk(words, answering('y'))).toEqual(done)
  expect(questions).toEqual(['Change 2 quotas? [y/N] ', 'Change 2 quotas? [y/N] '])
  expect(await limitOf(two.id)).toBe(600)
})

test('with --yes it does not ask, and a repeated key changes nothing twice', async () => {
  const { id } = await create()
  const words = ['adjust', '--ids', String(id), ...MORE, '--yes', '--idempotency-key', 'march']
  expect(await bulk(words)).toEqual({ code: 0, stdout: 'changed 1, unchanged 0, refused 0\n', stderr: AUDIT })
  expect((await bulk(words)).stdout).toBe('changed 0, changed before 1, unchanged 0, refused 0\n')
  expect(await limitOf(id)).toBe(600)
  const other = await bulk([...words, '--allow-below-usage'])
  expect(other.code).toBe(1)
  expect(other.stderr).toContain('already used for a different request')
  const json = await bulk(['suspend', '--ids', String(id), '--yes', '--json'])
  expect(
    json.stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line)),
  ).toEqual([
    { record: 'begin', bulk_id: expect.any(String) },
    { record: 'end', changed: 1, changed_before: 0, unchanged: 0, failed: 0 },
  ])
})

test('finds users by their references, in options and files, and names all that are unknown', async () => {
  const [one, two] = [await create(), await create()]
  const refOf = async ({ user }: { user: number }, ref: string) => {
    await service.call('PUT', `/api/sms/admin/users/${user}/profile`, { body: { ref } })
  }
  await refOf(one, 'a,1')
  await refOf(two, 'b')
  const file = join(folder, 'refs')
  const suspend = (...words: string[]) => bulk(['suspend', ...words, '--dry-run'])
  const both = { code: 0, stdout: expect.stringContaining('\nchanged 2, unchanged 0, refused 0 ') }
  for (const content of [`ref:b\n${one.user}`, `user_ref\n"a,1"\nb\n`, `USER_REF;\r\na,1;\r\nb;\r\n`]) {
    await writeFile(file, content)
    expect(await suspend('--user-ids-from', file), content).toMatchObject(both)
  }
  expect(await suspend('--user-ids', `ref:b,${one.user},ref:b`)).toMatchObject(both)
  expect((await suspend('--user-id', 'ref:b')).stdout).toContain('\nchanged 1, ')
  const refs = Array.from({ length: 40 }, (_, n) => `unknown-${n}`)
  await writeFile(file, `user_ref\nb\n${refs.join('\n')}\n`)
  expect(await suspend('--user-ids-from', file)).toEqual({
    code: 1,
    stdout: '',
    stderr: `sms-quota: no user has one of these references:\n${refs.map(ref => `  ${ref}\n`).join('')}`,
  })
  for (const [content, line] of [
    ['user_ref\na,1\n', 2],
    ['ref:b c', 1],
    ['ref:', 1],
  ] as const) {
    await writeFile(file, content)
    const refused = await suspend('--user-ids-from', file)
    expect(refused, content).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--user-ids-from: line ${line} `),
    })
  }
  await writeFile(file, 'ref:b')
  expect((await suspend('--ids-from', file)).stderr).toContain('--ids-from: line 1 is a list of ids, not "ref:b"')
})

test('reads ids from a file, and divides what is too long for a call', async () => {
  const { user, id } = await create({ expires_at: '2026-12-01T00:00:00Z' })
  const file = join(folder, 'users.csv')
  const many = Array.from({ length: 10_000 }, (_, n) => 1_000_000 + n)
  await writeFile(file, `\uFEFFuser_id\r\n${many.join('\r\n')}\n${user}\n"${user}",\n`)
  const words = ['extend', '--user-ids-from', file, '--by', 'P1M', '--yes', '--name', 'no such name']
  expect((await bulk(words)).stdout).toBe('changed 0, unchanged 0, refused 0\n')
  const ids = join(folder, 'ids')
  await writeFile(ids, `${many.join(' ')} ${id}`)
  const outcome = await bulk(['extend', '--ids-from', ids, '--by', 'P1M', '--yes'])
  expect(outcome).toMatchObject({ code: 1, stdout: 'changed 1, unchanged 0, refused 10,000\n' })
  expect(outcome.stderr.split('\n').slice(0, -1)).toEqual([
    ...many.slice(0, 20).map(missing => `quota ${missing}: Quota ${missing} does not exist.`),
    'and 9,980 quotas more',
    'The audit shows the changes under the request BULK, BULK.',
  ])
})

test('says what is wrong, and with which option', async () => {
  const { id } = await create()
  const expectUsage = async (words: string[], message: string) => {
    const { code, stderr } = await bulk(words)
    expect({ code, line: stderr.split('\n')[0] }).toEqual({ code: 2, line: `sms-quota: ${message}` })
  }
  const file = join(folder, 'bad')
  await writeFile(file, '7\neight\n')
  await expectUsage(
    ['explode', '--ids', '1'],
    'ACTION is one of suspend, resume, extend, adjust, delete, not "explode"',
  )
  await expectUsage(['suspend', '--ids', '1'], 'give --yes: there is no terminal to ask on')
  await expectUsage(['suspend', '--ids-from', file, '--yes'], '--ids-from: line 2 is a list of ids, not "eight"')
  await expectUsage(
    ['suspend', '--ids-from', join(folder, 'none')],
    `--ids-from: ${folder}/none cannot be read (ENOENT)`,
  )
  // Numbers of other columns, and parts of numbers, are no ids.
  const oneColumn = '--ids-from is a list of ids, or CSV with one column of them, not with 2 columns'
  for (const [content, message] of [
    [`id,limit\n${id},7\n`, oneColumn],
    [`id;name;\n${id};x;\n`, oneColumn],
    [`#TYPE Row\n"id","limit"\n"${id}","7"\n`, oneColumn],
    ['id\n1,234\n', '--ids-from: line 2 is a list of ids, not "1,234"'],
    ['id\n1 234\n', '--ids-from: line 2 is a list of ids, not "1 234"'],
    ['id\n"1\n', '--ids-from: line 2: a quotation mark is not closed'],
    ['id\n', '--ids-from has no ids'],
    ['\n \n', '--ids-from has no ids'],
  ] as const) {
    await writeFile(file, content)
    await expectUsage(['suspend', '--ids-from', file, '--yes'], message)
  }
  await expectUsage(['suspend', '--ids', '1', '--ids-from', file], 'give --ids or --ids-from, not both')
  const nothing = await bulk(['suspend', '--yes'])
  expect(nothing.stderr).toMatch(/^sms-quota: which quotas\? Give at least one of --ids-from, --user-ids-from, --ids, /)
  const refused = await bulk(['adjust', '--ids', String(id), '--delta', '5', '--yes'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('--reason is required')
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await promisify(closed.close.bind(closed))()
  const away = await bulk(['suspend', '--ids', '1', '--yes', '--url', `http://127.0.0.1:${port}`])
  expect(away.code).toBe(4)
  expect(away.stderr).toContain('nothing listens there')
  const asUser = await bulk(['suspend', '--ids', '1', '--yes', '--token', await service.userToken(7)])
  expect(asUser.code).toBe(5)
})
