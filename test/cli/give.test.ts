/** The command `quota give`, against a service that listens. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota give '))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true })
})
const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.adminToken }

/** Runs `quota give` with these words. The id of the bulk change is random, so it is left out. */
async function give(words: readonly string[], options: Partial<Terminal> = {}) {
  const { code, stdout, stderr } = await run(['quota', 'give', ...words], { env, ...options })
  return { code, stdout, stderr: stderr.replace(/bulk-[0-9a-f-]{36}/g, 'BULK') }
}

let lastUser = 100
async function create(more: object = { period: 'month' }): Promise<number> {
  lastUser += 1
  const body = { user_id: lastUser, limit: 100, name: 'Monthly', ...more }
  expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  return lastUser
}
async function limitsOf(user: number) {
  const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=id`)
  return body.items.map(({ limit }: { limit: number }) => limit)
}

let lastFile = 0
async function fileOf(text: string | Uint8Array): Promise<string> {
  lastFile += 1
  const file = join(folder, `users-${lastFile}.csv`)
  await writeFile(file, text)
  return file
}
const TERMS = ['--period', 'month', '--units', '500', '--reason', 'Outage']
const AUDIT = 'The audit shows the changes under the request BULK.\n'

test('shows who would get units and who not, asks, gives, and reports each line', async () => {
  const [one, pack, two] = [await create(), await create({}), await create()]
  const file = await fileOf(`customer,note\n${one},x\n${pack},\nada,\n${two},\n${one},\n999,\n`)
  const left = [
    `line 3: user ${pack}: has only a one-time grant: --period null gives units to it (Monthly)`,
    'line 4: user ada: is no user id',
    `line 6: user ${one}: is there twice, first in line 2`,
    'line 7: user 999: has no quota, or is unknown to the service',
    '',
  ].join('\n')
  const end = '2026-04-01T00:00:00.000Z'
  const preview = [
    'user  grant    units  units_end                 note',
    `${one}   Monthly    500  ${end}`,
    `${two}   Monthly    500  ${end}`,
    'given 2, left out 4, refused 0 (dry run: nothing was changed)\n',
  ].join('\n')
  expect(await give([file, ...TERMS, '--dry-run'])).toEqual({ code: 1, stdout: preview, stderr: left })
  const questions: string[] = []
  const answering = (answer: string) => ({
    async ask(question: string) {
      questions.push(question)
      return answer
    },
  })
  expect((await give([file, ...TERMS], answering('n'))).stderr).toBe(`${left}Nothing was changed.\n`)
  expect(await limitsOf(one)).toEqual([100])
  const report = join(folder, 'report.csv')
  const given = await give([file, ...TERMS, '--report', report], answering('y'))
  expect(given).toMatchObject({ code: 1, stdout: expect.stringMatching(/\ngiven 2, left out 4, refused 0\n$/) })
  expect(given.stderr).toBe(`${left}${left}${AUDIT}`)
  expect(questions).toEqual(['Give 1,000 units to 2 users? [y/N] ', 'Give 1,000 units to 2 users? [y/N] '])
  expect((await readFile(report, 'utf8')).split('\n')).toEqual([
    'line,user,result,why,quota_id,grant,units,units_end,time_zone,reference',
    expect.stringMatching(new RegExp(`^2,${one},given,,\\d+,Monthly,500,${end},UTC,top-up-`)),
    expect.stringMatching(new RegExp(`^3,${pack},left out,has only a one-time grant`)),
    '4,ada,left out,is no user id,,,,,,',
    expect.stringMatching(new RegExp(`^5,${two},given,`)),
    `6,${one},left out,"is there twice, first in line 2",,,,,,`,
    expect.stringMatching(/^7,999,left out,"has no quota, or/),
    '',
  ])
  expect(await limitsOf(two)).toEqual([100, 500])
  // The same again is given already, which is no failure.
  const again = await give([await fileOf(`${one}\n${two}\n`), ...TERMS, '--yes'])
  expect(again).toMatchObject({ code: 0, stdout: 'given 0, left out 2, refused 0\n' })
  expect(again.stderr).toContain(`user ${one}: got these units for this reason before (Extra units for Monthly)`)
})

test('finds users by their references, and says of each line which is none', async () => {
  const [one, two] = [await create(), await create()]
  for (const [user, ref] of [
    [one, 'Ref/1'],
    [two, '7,5'],
  ])
    await service.call('PUT', `/api/sms/admin/users/${user}/profile`, { body: { ref } })
  const report = join(folder, 'by-reference.csv')
  for (const [content, lines] of [
    [`user_ref,units\nRef/1,5\nref/1,5\n"7,5",5\n,5\n`, ['3,ref:ref/1', '5,']],
    [`ref:Ref/1\n${one}\nref:\nref:a b\n"ref:7,5"\n`, [`2,${one}`, '3,ref:', '4,ref:a b']],
    [`User_id;User_Ref\n${one};x\nref:7,5;x\nref:x;Ref/1`, ['4,ref:x']],
  ] as const) {
    const given = await give([await fileOf(content), ...TERMS, '--dry-run', '--report', report])
    expect(given.stdout, content).toMatch(/^user +grant .*\n.*\n.*\ngiven 2, left out \d, refused 0 /)
    const rows = (await readFile(report, 'utf8')).split('\n')
    const left = rows.filter(row => row.includes(',left out,')).map(row => row.split(',left out,')[0])
    expect(left, content).toEqual(lines)
  }
  const refs = await give([await fileOf('user_ref\nRef/1\nnone\n'), ...TERMS, '--dry-run'])
  expect(refs.stderr).toBe('line 3: user ref:none: is the reference of no user\n')
  expect(refs.stdout).toContain('\nref:Ref/1  Monthly ')
})

test('goes on under the same key, also in several calls', async () => {
  const [one, two] = [await create(), await create()]
  const unknown = Array.from({ length: 10_000 }, (_, n) => `${1_000_000 + n},1`)
  const file = await fileOf(`user,units\n${one},7\n${unknown.join('\n')}\n${two},8\n`)
  const report = join(folder, 'again.csv')
  const words = [
    file,
    '--period',
    'month',
    '--until',
    'for_good',
    '--reason',
    'More',
    '--yes',
    '--idempotency-key',
    'more',
  ]
  const first = await give([...words, '--json'])
  expect(first.code).toBe(1)
  const records = first.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(records.filter(({ record }) => record === 'end').map(({ given }) => given)).toEqual([1, 1])
  expect(first.stderr).toContain(`line 5: user 1000002: has no quota, or is unknown to the service
and 9,997 more of this kind, the next in line 6
--report FILE lists all
`)
  const again = await give([...words, '--report', report])
  expect(again.stdout).toBe('given 0, given before 2, left out 10,000, refused 0\n')
  const [, row] = (await readFile(report, 'utf8')).split('\n')
  expect(row).toMatch(new RegExp(`^2,${one},given before,,\\d+,,7,`))
  expect(await Promise.all([one, two].map(limitsOf))).toEqual([[107], [108]])
  const other = await give([...words, '--again'])
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('already used for a different request')])
})

test.each([
  [
    'Windows-1252',
    (user: number) => Buffer.from(`name;USER_ID;Units;;\nM\xfcller;${user};7;;\n`, 'latin1'),
    ['--encoding', 'windows-1252'],
  ],
  [
    'UTF-16',
    (user: number) => Buffer.from(`\uFEFFname\tuser_id\tunits\r\n"Mü\r\nller"\t${user}\t7\r\n`, 'utf16le'),
    [],
  ],
])('reads a file in %s', async (_, contentFor, more) => {
  const user = await create()
  const file = await fileOf(contentFor(user))
  const words = [file, '--period', 'month', '--reason', 'Encoding', '--yes', ...more]
  expect(await give(words)).toEqual({ code: 0, stdout: 'given 1, left out 0, refused 0\n', stderr: AUDIT })
  expect(await limitsOf(user)).toEqual([100, 7])
})

test('many lines that are left out for one reason do not hide the others', async () => {
  const [one, other, pack] = [await create(), await create({ period: 'day', name: 'Daily' }), await create({})]
  const unknown = Array.from({ length: 60 }, (_, n) => `${2_000_000 + n};1`)
  const bad = Array.from({ length: 30 }, (_, n) => `${3_000_000 + n};1.${n + 100}`)
  const rest = [`${other};1`, `${pack};1`, 'ada;1', `${one};1`, `${one};1`, '7;1;000']
  const file = await fileOf(`user_id;units\n${[...unknown, ...bad, ...rest].join('\n')}\n`)
  const { stderr } = await give([file, '--period', 'month', '--reason', 'x', '--dry-run'])
  expect(stderr.split('\n')).toEqual([
    ...[2, 3, 4].map(line => `line ${line}: user ${1_999_998 + line}: has no quota, or is unknown to the service`),
    'and 57 more of this kind, the next in line 5',
    ...[62, 63, 64].map(
      line => `line ${line}: user ${2_999_938 + line}: "1.${line + 38}" is no number of units from 1`,
    ),
    'and 27 more of this kind, the next in line 65',
    `line 92: user ${other}: has a grant for another period (Daily, day)`,
    `line 93: user ${pack}: has only a one-time grant: --period null gives units to it (Monthly)`,
    'line 94: user ada: is no user id',
    `line 96: user ${one}: is there twice, first in line 95`,
    'line 97: user 7: has 3 cells, more than the header',
    '--report FILE lists all',
    '',
  ])
})

test('an interruption says how to go on', async () => {
  const interruption = () => AbortSignal.abort()
  const { code, stderr } = await give([await fileOf(`${await create()}\n`), ...TERMS, '--yes'], { interruption })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Interrupted\. To go on: the same command with --idempotency-key \S+\n$/)
})

test('says what is wrong, and where', async () => {
  const expectUsage = async (words: readonly string[], message: string) => {
    const { code, stderr } = await give(words)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`sms-quota: ${message}`) })
  }
  const file = await fileOf('7\n8\n')
  await expectUsage([file, ...TERMS], 'give --yes: there is no terminal to ask on')
  await expectUsage([join(folder, 'none'), ...TERMS, '--yes'], `FILE: ${folder}/none cannot be read (ENOENT)`)
  await expectUsage([await fileOf('name\nAda\n'), ...TERMS, '--yes'], 'FILE needs a column of users: user_id, user,')
  await expectUsage([await fileOf('user_id\n'), ...TERMS, '--yes'], 'FILE has no users')
  await expectUsage([await fileOf('user,"b\n'), ...TERMS, '--yes'], 'FILE: line 1: a quotation mark is not closed')
  const twice = await fileOf('user,units,User\n7,1,8\n')
  await expectUsage([twice, ...TERMS, '--yes'], 'FILE has two columns with the name user')
  const latin = await fileOf(Buffer.from('user,name\n7,Ada\n8,M\xfcller\n', 'latin1'))
  await expectUsage(
    [latin, ...TERMS, '--yes'],
    'FILE: line 3 has bytes that are not UTF-8: save the file as "CSV UTF-8"',
  )
  const unknown = [latin, ...TERMS, '--yes', '--encoding', 'latin-17']
  await expectUsage(unknown, '--encoding is a name such as utf-8, windows-1252')
  const refused = await give([file, '--period', 'month', '--reason', 'x', '--yes'])
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('--units is required without units for all'),
  ])
  const contradiction = await give([file, ...TERMS, '--until', 'month_end', '--yes'])
  expect([contradiction.code, contradiction.stderr]).toEqual([
    2,
    expect.stringContaining('--until month_end is for one-time'),
  ])
  // Nothing is given that cannot be reported.
  const user = await create()
  const content = `${user}\n`
  const own = await fileOf(content)
  await expectUsage([own, ...TERMS, '--yes', '--report', own], `--report: ${own} is the file that is read`)
  expect(await readFile(own, 'utf8')).toBe(content)
  const nowhere = join(folder, 'none', 'report.csv')
  await expectUsage([own, ...TERMS, '--yes', '--report', nowhere], `--report: ${nowhere} cannot be written (ENOENT)`)
  expect(await limitsOf(user)).toEqual([100])
  const asUser = await give([file, ...TERMS, '--yes', '--token', await service.userToken(7)])
  expect(asUser.code).toBe(5)
})
