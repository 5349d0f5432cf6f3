/** The command `import`, against a service that listens. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { importFile } from '../../src/cli/remote/import/import.ts'
import { whenDone } from '../support/cleanup.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const url = await service.app.listen({ port: 0 })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota import '))
afterAll(() => rm(folder, { recursive: true }))

let files = 0
async function fileOf(content: string): Promise<string> {
  files += 1
  const file = join(folder, `rows ${files}`)
  await writeFile(file, content)
  return file
}

interface Options {
  dryRun?: boolean
  at?: string
  token?: string
}

/** Imports a file with this content; the file is named FILE in messages. */
async function run(content: string, { dryRun = false, at = url, token = service.adminToken }: Options = {}) {
  const file = await fileOf(content)
  const [printed, complaints]: string[][] = [[], []]
  const request = { file, service: { url: at, token }, dryRun, patience: { totalMs: 10_000, firstMs: 1 } }
  const code = await importFile(request, {
    print: line => printed?.push(line),
    complain: line => complaints?.push(line.replace(file, 'FILE')),
  })
  return {
    code,
    printed: printed?.join(''),
    complaints: complaints?.filter(line => !line.startsWith('The audit shows')),
  }
}

const done = (created: number, updated: number, unchanged: number) => ({
  code: 0,
  printed: `created ${created}, updated ${updated}, unchanged ${unchanged}, refused 0\n`,
  complaints: [],
})

let lastUser = 100
const someone = () => ++lastUser

async function quotasOf(user: number) {
  const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=id`)
  return body.items
}

test('imports CSV; the same file again changes nothing', async () => {
  const user = someone()
  const csv = [
    '\uFEFFuser_id,external_ref,limit,period,time_zone,countries,alert_at,metadata,name,enabled,expires_at',
    `${user},A,1000,month,Europe/Berlin,DE AT,50 100,"{""contract"":""K-1""}","Two\nlines, ""quoted""",false,`,
    '',
    `${user},B,null,,,,,,,,2027-01-01T00:00:00Z`,
  ].join('\r\n')
  expect(await run(csv, { dryRun: true })).toEqual({
    ...done(2, 0, 0),
    printed: 'created 2, updated 0, unchanged 0, refused 0 (dry run: nothing was changed)\n',
  })
  expect(await quotasOf(user)).toEqual([])
  expect(await run(csv)).toEqual(done(2, 0, 0))
  expect(await run(csv)).toEqual(done(0, 0, 2))
  expect(await run(csv.replace('1000', '2000'))).toEqual(done(0, 1, 1))
  expect(await quotasOf(user)).toMatchObject([
    {
      external_ref: 'A',
      limit: 2000,
      period: 'month',
      time_zone: 'Europe/Berlin',
      countries: ['AT', 'DE'],
      message_types: null,
      alert_at: [50, 100],
      metadata: { contract: 'K-1' },
      name: 'Two\nlines, "quoted"',
      enabled: false,
      expires_at: null,
      priority: 100,
    },
    { external_ref: 'B', limit: null, expires_at: '2027-01-01T00:00:00.000Z', enabled: true },
  ])
})

test('names each bad row by line and column, and sends nothing', async () => {
  const user = someone()
  const csv = [
    'user_id,external_ref,limit,countries,enabled',
    `${user},A,1,,`,
    `${user},,1000,DE XX,yes`,
    `${user},"two`,
    'lines",many,,',
    `${user},C,1,,,7`,
    `${user},D,1,"DE`,
  ].join('\n')
  const text = 'text without NUL characters or lone surrogates, of 1 to 120 characters'
  expect(await run(csv)).toEqual({
    code: 1,
    printed: '',
    complaints: [
      `line 3: external_ref is required: ${text}`,
      'line 3: countries.1 must be an ISO 3166 alpha-2 country code such as "DE", or "001" for international networks, not "XX"',
      'line 3: enabled must be true or false, not "yes"',
      'line 4: limit must be a whole number from 0 to 1000000000000, or null, not "many"',
      'line 6: has 6 cells, and the header has 5',
      expect.stringMatching(/^line 7: is not valid CSV, so the rest of the file was not read: Quote Not Closed/),
      'sms-quota: 4 rows of FILE cannot be imported; nothing was sent',
    ],
  })
  const wide = await run(`user_id,external_ref,limit\n${user},A,1${','.repeat(300_000)}`)
  expect(wide.complaints?.[0]).toBe('line 2: must be a line of at most 262144 bytes')
  const header = await run('user_id,external_ref,limit,prioritty,limit\n1,A,1,2,3\n')
  expect(header.complaints).toEqual([
    expect.stringMatching(/^line 1: prioritty is no column; columns are user_id, limit, /),
    'line 1: limit is there twice',
    'sms-quota: 1 row of FILE cannot be imported; nothing was sent',
  ])
  const json = await run(`{"user_id":${user},"external_ref":"A","limit":1}\n\n{"user_id":${user}\n{"metadata":{"a":5}}`)
  expect(json.complaints?.slice(0, 2)).toEqual([
    'line 3: must be one JSON object a line',
    expect.stringMatching(/^line 4: user_id is required/),
  ])
  expect(await quotasOf(user)).toEqual([])
})

test('a name that leads to prototypes is refused before anything is sent, in CSV and in JSON', async () => {
  const row = { user_id: someone(), external_ref: 'A', limit: 1 }
  const complaints = [expect.stringMatching(/^line \d: metadata\.__proto__ is a name that is not accepted anywhere$/)]
  const csv = `user_id,external_ref,limit,metadata\n${row.user_id},A,1,"{""__proto__"":""x""}"\n`
  const json = JSON.stringify(row).replace('}', ',"metadata":{"__proto__":"x"}}')
  for (const text of [csv, json]) {
    const { code, complaints: found } = await run(text)
    expect([code, found?.slice(0, 1)]).toEqual([1, complaints])
  }
})

test('prints the first twenty bad rows and counts the others', async () => {
  const { complaints } = await run(`user_id,external_ref,limit\n${'x,A,1\n'.repeat(50)}`)
  expect(complaints).toHaveLength(22)
  expect(complaints?.slice(-2)).toEqual([
    'and 30 rows more',
    'sms-quota: 50 rows of FILE cannot be imported; nothing was sent',
  ])
})

test('names rows that only the service can refuse by their line in the file', async () => {
  const user = someone()
  await run(`user_id,external_ref,limit\n${user},A,1\n`)
  const csv = `user_id,external_ref,limit,kind,name\n${user},B,1,,"two\nlines"\n\n${user},A,1,cap,\n${user},C,1,,\n`
  expect(await run(csv)).toEqual({
    code: 1,
    printed: 'created 2, updated 0, unchanged 0, refused 1\n',
    complaints: ['line 5: kind cannot be changed; it is "grant"'],
  })
})

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown

/** A server before the service that answers the first calls otherwise, as given. */
async function before(...answers: Answer[]): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const answer = answers.shift()
    response.setHeader('content-type', 'application/x-ndjson')
    if (answer !== undefined) {
      await answer(request, response, body)
      return
    }
    const { authorization = '', 'content-type': type = '' } = request.headers
    const headers = { authorization, 'content-type': type }
    const passed = await service.app.inject({ method: 'POST', url: request.url ?? '', headers, payload: body })
    response.writeHead(passed.statusCode, { 'content-type': String(passed.headers['content-type']) }).end(passed.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  whenDone(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const pass: Answer = async (_request, response, body) => {
  const headers = { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/x-ndjson' }
  const answer = await service.app.inject({
    method: 'POST',
    url: '/api/sms/admin/quota/import',
    headers,
    payload: body,
  })
  response.end(answer.body)
}

test('goes on after the service was away, and counts what is known', async () => {
  const user = someone()
  const rows = Array.from({ length: 2_500 }, (_, n) => `${user + n},A,${n}\n`)
  lastUser += rows.length
  const stopped: Answer = (_request, response) => {
    const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
    response.end(`${JSON.stringify({ record: 'stopped', line: 0, ...counts, code: 'unavailable', detail: 'Away.' })}\n`)
  }
  const overloaded: Answer = (_request, response) =>
    response.writeHead(503, { 'retry-after': '0' }).end('{"code":"overloaded","title":"Overloaded","detail":"Later."}')
  const breaksOff: Answer = (_request, response) => response.destroy()
  const halfAnswer: Answer = (_request, response) => response.end('{"record":"progress","line":5')
  const at = await before(pass, breaksOff, overloaded, stopped, halfAnswer)
  expect(await run(`user_id,external_ref,limit\n${rows.join('')}`, { at })).toEqual({
    ...done(0, 0, 0),
    printed: 'created 2,500, updated 0, unchanged 0, refused 0\n',
  })
})

test('a service that never answered, or refuses the token, is not waited for', async () => {
  const csv = 'user_id,external_ref,limit\n7,A,1\n'
  const closed = await before()
  const away = await run(csv, { at: closed.replace(/\d+$/, '9') })
  expect(away).toMatchObject({
    code: 4,
    complaints: [expect.stringMatching(/^sms-quota: http.* cannot be reached: /)],
  })
  expect(await run(csv, { token: await service.userToken(7) })).toMatchObject({
    code: 5,
    complaints: [
      expect.stringMatching(
        /^sms-quota: the token does not allow this\nForbidden: .*\n\(forbidden, request import-[-\w]+\)$/,
      ),
    ],
  })
  const page: Answer = (_request, response) => response.setHeader('content-type', 'text/html').end('<html>')
  const foreign = await run(csv, { at: await before(page) })
  expect(foreign.complaints?.[0]).toMatch(/is not sms-quota$/)
})

test('the command reads a file or stdin, and takes address and token from the environment', async () => {
  const user = someone()
  const file = await fileOf(`{"user_id":${user},"external_ref":"A","limit":1}\n`)
  const bin = resolve(import.meta.dirname, '../../bin/sms-quota')
  const env = { PATH: process.env.PATH ?? '', SMS_QUOTA_URL: `${url}/`, SMS_QUOTA_TOKEN: service.adminToken }
  const start = (args: string[], input?: string) =>
    new Promise(finish => {
      const child = execFile(bin, ['import', ...args], { env }, (_, stdout, stderr) =>
        finish({ code: child.exitCode, stdout, stderr }),
      )
      child.stdin?.end(input)
    })
  expect(await start([file])).toEqual({
    code: 0,
    stdout: 'created 1, updated 0, unchanged 0, refused 0\n',
    stderr: expect.stringMatching(/^The audit shows the changes under the request import-[0-9a-f-]{36}\.\n$/),
  })
  expect(await start(['-'], `user_id,external_ref,limit\n${user},A,1\n`)).toMatchObject({
    stdout: 'created 0, updated 0, unchanged 1, refused 0\n',
    stderr: '',
  })
  expect(await start(['no such file'])).toMatchObject({
    code: 1,
    stderr: 'sms-quota: no such file cannot be read (ENOENT)\n',
  })
})
