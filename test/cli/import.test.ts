/** The command `import`, against a service that listens. */
import { execFile } from 'node:child_process'
import { link as hardLink, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { importFile } from '../../src/cli/remote/import/import.ts'
import { createSender } from '../../src/cli/remote/import/sender.ts'
import { serve } from '../support/listening.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const url = await service.app.listen({ port: 0 })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota import '))
afterAll(() => rm(folder, { recursive: true }))

let files = 0
async function fileOf(content: string | Uint8Array): Promise<string> {
  files += 1
  const file = join(folder, `rows ${files}`)
  await writeFile(file, content)
  return file
}

interface Options {
  dryRun?: boolean
  at?: string
  token?: string
  encoding?: string
  errorsFile?: string
}

/** Imports a file with this content; the file is named FILE in messages. */
async function run(content: string | Uint8Array, options: Options = {}) {
  const { dryRun = false, at = url, token = service.adminToken, encoding, errorsFile } = options
  const file = await fileOf(content)
  const [printed, complaints]: string[][] = [[], []]
  const request = {
    file,
    encoding,
    errorsFile,
    service: { url: at, token },
    dryRun,
    patience: { totalMs: 10_000, firstMs: 1 },
  }
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
    '\uFEFFuser_id,external_ref,limit,period,time_zone,countries,alert_at,metadata,name,enabled,expires_at,anchor',
    `${user},A,1000,month,Europe/Berlin,DE AT,50 100,"{""contract"":""K-1""}","Two\nlines, ""quoted""",false,,15`,
    '',
    `${user},B,null,year,,,,,,,2027-01-01T00:00:00Z,04-01`,
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
      anchor: '15',
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
    { external_ref: 'B', limit: null, anchor: '04-01', expires_at: '2027-01-01T00:00:00.000Z', enabled: true },
  ])
})

test('imports plans of users, and names a user who is there twice', async () => {
  const [one, two] = [someone(), someone()]
  const slots = [{ slot: 'monthly', limit: 100, period: 'month' }]
  const { id } = (await service.call('POST', '/api/sms/admin/plans', { body: { name: 'Plan, monthly', slots } })).body
  const csv = `user_id,plan,limit\n${one},"Plan, monthly",\n${two},${id},\n`
  expect(await run(csv)).toEqual(done(2, 0, 0))
  expect(await run(csv)).toEqual(done(0, 0, 2))
  expect(await quotasOf(two)).toMatchObject([{ limit: 100, plan: { id, slot: 'monthly' } }])
  const wrong = await run(`${csv}${one},${id},\n${two},${id},5\n`)
  expect(wrong.complaints).toEqual([
    'line 4: has the same user, and a plan, as line 2',
    'line 5: has the same user, and a plan, as line 3',
    'line 5: limit is unknown; accepted are user_id, user_ref, user_name, plan',
    'sms-quota: 2 rows of FILE cannot be imported; nothing was sent',
  ])
})

/** A user's names, in the order of their references. */
async function namesOf(user: number) {
  const items: { external_ref: string; name: string | null }[] = await quotasOf(user)
  return items.toSorted((one, other) => (one.external_ref < other.external_ref ? -1 : 1)).map(({ name }) => name)
}

const HEAD = 'user_id,external_ref,limit,name'
const latin = (text: string) => Buffer.from(text, 'latin1')

test.each<[string, (user: number) => string | Uint8Array, string?]>([
  [
    'semicolons, sep= and empty columns at the end',
    user => `sep=;\r\n${HEAD.replaceAll(',', ';')};;\r\n${user};a;1;Müller;;\r\n${user};b;1;Möller;;\r\n;;;;;\r\n`,
  ],
  [
    'tabs in UTF-16, as Excel writes "Unicode text"',
    user =>
      Buffer.from(`\uFEFF${HEAD}\r\n${user},a,1,Müller\r\n${user},b,1,Möller\r\n`.replaceAll(',', '\t'), 'utf16le'),
  ],
  [
    'UTF-16 with the higher byte first',
    user => Buffer.from(`\uFEFF${HEAD}\n${user},a,1,Müller\n${user},b,1,Möller\n`, 'utf16le').swap16(),
  ],
  ['UTF-8 with its mark and sep=', user => `\uFEFFsep=,\n${HEAD}\n${user},a,1,Müller\n${user},b,1,Möller`],
  [
    'Windows-1252, if it is named',
    user => latin(`${HEAD}\n${user},a,1,M\xfcller\n${user},b,1,M\xf6ller\n`),
    'windows-1252',
  ],
  [
    'heads in any case, with blanks',
    user => `User_ID, EXTERNAL_REF ,\u00A0limit,"Name "\n${user},a, 1 ,Müller\n${user},b,1,Möller\n`,
  ],
  ['the line breaks of old spreadsheets', user => `${HEAD}\r${user},a,1,Müller\r${user},b,1,Möller\r`],
  [
    'JSON in UTF-16, as PowerShell writes it',
    user =>
      Buffer.from(
        `\uFEFF{"user_id":${user},"external_ref":"a","limit":1,"name":"Müller"}\r\n{"user_id":${user},"external_ref":"b","limit":1,"name":"Möller"}\r\n`,
        'utf16le',
      ),
  ],
])('reads %s', async (_, contentFor, encoding) => {
  const user = someone()
  expect(await run(contentFor(user), { ...(encoding === undefined ? {} : { encoding }) })).toEqual(done(2, 0, 0))
  expect(await namesOf(user)).toEqual(['Müller', 'Möller'])
})

test('bytes that are not UTF-8 are refused line by line, so that two names never become one', async () => {
  const user = someone()
  const why =
    'has bytes that are not UTF-8: save the file as "CSV UTF-8", or name its encoding, such as --encoding windows-1252'
  const end = (rows: string) => `sms-quota: ${rows} of FILE cannot be imported; nothing was sent`
  const csv = latin(`${HEAD}\n${user},M\xfcller,1,\n${user},M\xf6ller,1,ok\n${user},x,1,"two\nlines \xe9"\n`)
  expect((await run(csv)).complaints).toEqual([
    `line 2: external_ref ${why}`,
    `line 3: external_ref ${why}`,
    `line 4: name ${why}`,
    end('3 rows'),
  ])
  const head = latin(`user_id,external_ref,limit,n\xe4me\n${user},a,1,\n`)
  expect((await run(head)).complaints).toEqual([`line 1: ${why}`, end('1 row')])
  const json = latin(`{"user_id":${user},"external_ref":"M\xfcller","limit":1}\n`)
  expect((await run(json)).complaints).toEqual([`line 1: ${why}`, end('1 row')])
  const japanese = await run(Buffer.from([...Buffer.from(`${HEAD}\n${user},a,1,`), 0x82, 0x0a]), {
    encoding: 'shift_jis',
  })
  expect(japanese.complaints?.[0]).toBe('line 2: name has bytes that are not SHIFT_JIS')
  expect(await quotasOf(user)).toEqual([])
})

test.each([
  ['TRUE', 'NULL', { enabled: true, expires_at: null }],
  ['False', 'Null', { enabled: false, expires_at: null }],
])('%s and %s are read in any case', async (enabled, none, expected) => {
  const user = someone()
  const csv = `user_id,external_ref,limit,enabled,expires_at,name\n${user},A,${none},${enabled},${none},${none}\n`
  expect(await run(csv)).toEqual(done(1, 0, 0))
  expect(await quotasOf(user)).toMatchObject([{ ...expected, limit: null, name: null }])
})

test('what a spreadsheet has spoiled is refused, with the line that an editor shows', async () => {
  const user = someone()
  const csv = [
    'user_id;external_ref;limit;name;',
    `${user};A;1;"two\r\nlines";`,
    `${user};B;1.000;;`,
    `1,23457E+11;C;1;;`,
    `${user};D;1;x;y`,
    `${user};E;1;x;;z`,
    `${user};F;1;a\0b;`,
    `${user};G;WAHR;;`,
  ].join('\r\n')
  const number = 'must be a whole number from 0 to'
  expect((await run(csv)).complaints).toEqual([
    expect.stringContaining(`line 4: limit ${number} 1000000000000, or null, not "1.000"`),
    expect.stringContaining('line 9: limit must be a whole number'),
    expect.stringMatching(new RegExp(`^line 5: user_id ${number} \\d+, not "1,23457E\\+11"$`)),
    'line 6: has a value in column 5, which has no name',
    'line 7: has 6 cells, and the header has 5',
    expect.stringMatching(/^line 8: name must be text without NUL characters/),
    'sms-quota: 6 rows of FILE cannot be imported; nothing was sent',
  ])
  for (const [broken, words] of [
    ['"x"y', 'text follows the quotation mark that ends a cell; a quotation mark within such a cell is written twice'],
    [' "x"', 'a cell begins with a blank and a quotation mark; leave out the blank'],
  ]) {
    const { complaints } = await run(`${HEAD}\n${user},A,1,${broken}\n`)
    expect(complaints?.[0]).toBe(`line 2: is not valid CSV, so the rest of the file was not read: ${words}`)
  }
  const { complaints } = await run(`sep=:\n${HEAD}\n`)
  expect(complaints?.[0]).toMatch(/^line 1: is not valid CSV, .* sep= names the separator/)
  expect(await quotasOf(user)).toEqual([])
})

test.each([
  [
    'Windows PowerShell',
    (user: number) => `#TYPE Row\r\n"user_id","external_ref","limit","name"\r\n"${user}","0042","5",\r\n`,
  ],
  ['MySQL', (user: number) => `user_id\texternal_ref\tlimit\tname\texpires_at\n${user}\t0042\t5\t\\N\t\\N\n`],
  ['PostgreSQL', (user: number) => `user_id|external_ref|limit|starts_at\n${user}|0042|5|2026-01-31 00:00:00+00\n`],
  ['pandas', (user: number) => `user_id,external_ref,limit,expires_at\n${user},0042,5,2027-12-31 00:00:00\n`],
  ['reports for spreadsheets', (user: number) => `user_id,external_ref,limit\n="${user}",="0042",="5"\n`],
  ['DOS', (user: number) => `user_id,external_ref,limit\r\n${user},0042,5\r\n\x1A`],
  [
    'columns of a fixed width',
    (user: number) => `user_id;limit ;period;expires_at;external_ref\n${user}   ;    5;      ;          ;0042\n`,
  ],
])('reads what %s writes', async (_, contentFor) => {
  const user = someone()
  expect(await run(contentFor(user))).toEqual(done(1, 0, 0))
  expect(await quotasOf(user)).toMatchObject([{ external_ref: '0042', limit: 5, name: null, period: null }])
})

test.each([
  '#N/A',
  '#REF!',
  '#VALUE!',
  '#NAME?',
  '#DIV/0!',
  '#NULL!',
  '#NUM!',
  '#SPILL!',
  '#NV',
  '#BEZUG!',
  '#¡VALOR!',
  '#ÜBERLAUF!',
  'Err:502',
  '########',
  '1.23457E+11',
  '1,23457E+11',
  '1E+11',
])('%s is no reference and no name, but what a spreadsheet shows in its place', async lost => {
  const user = someone()
  const words = (column: string) =>
    `line 2: ${column} must be a text; what spreadsheets show in place of a value needs an apostrophe before it, not "${lost}"`
  expect((await run(`${HEAD}\n${user},"${lost}",1,\n`)).complaints?.[0]).toBe(words('external_ref'))
  expect((await run(`${HEAD}\n${user},A,1,"${lost}"\n`)).complaints?.[0]).toBe(words('name'))
  expect(await quotasOf(user)).toEqual([])
  expect(await run(`${HEAD}\n${user},"'${lost}",1,No. #1!\n`)).toEqual(done(1, 0, 0))
  expect(await quotasOf(user)).toMatchObject([{ external_ref: lost, name: 'No. #1!' }])
})

test.each<[string, string | Uint8Array, string]>([
  [
    'xlsx',
    Uint8Array.from([0x50, 0x4b, 3, 4, 20, 0, 6, 0]),
    'is a spreadsheet or another archive: save it as "CSV UTF-8"',
  ],
  ['xls', Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), 'is a spreadsheet: save it as "CSV UTF-8"'],
  ['gz', Uint8Array.from([0x1f, 0x8b, 8, 0]), 'is compressed: pass it on with zcat, and give - as the file'],
  ['a list of JSON', '[\n{"user_id":7,"external_ref":"A","limit":1}\n]\n', 'must be one JSON object a line'],
  ['a list of JSON in one line', '[{"user_id":7,"external_ref":"A","limit":1}]', 'must be an object'],
  ['JSON of several lines', '{\n  "user_id": 7\n}\n', 'must be one JSON object a line'],
  ['JSON with a name twice', '{"user_id":7,"external_ref":"A","limit":1,"limit":1000}', 'limit is there twice'],
  ['JSON with commas between', '{"user_id":7},\n{"user_id":8}', 'must be one JSON object a line'],
])('%s is refused by what it is', async (_, content, words) => {
  for (const encoding of [undefined, 'windows-1252']) {
    const { code, complaints } = await run(content, { ...(encoding === undefined ? {} : { encoding }) })
    expect([code, complaints?.[0]]).toEqual([1, `line 1: ${words}`])
  }
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
  const text = 'text without invisible characters, and without blanks around it, of 1 to 120 characters'
  expect(await run(csv)).toEqual({
    code: 1,
    printed: '',
    complaints: [
      `line 3: external_ref is required: ${text}`,
      'line 3: countries.1 must be an ISO 3166 alpha-2 country code such as "DE", or "001" for international networks, not "XX"',
      'line 3: enabled must be true or false, not "yes"',
      'line 4: limit must be a whole number from 0 to 1000000000000, or null, not "many"',
      `line 4: external_ref must be ${text}, not "two\\nlines"; it has the invisible U+000A at position 4`,
      'line 6: has 6 cells, and the header has 5',
      'line 7: is not valid CSV, so the rest of the file was not read: a quotation mark is not closed',
      'sms-quota: 4 rows of FILE cannot be imported; nothing was sent',
    ],
  })
  const wide = await run(`user_id,external_ref,limit\n${user},A,1${','.repeat(300_000)}`)
  expect(wide.complaints?.[0]).toBe('line 2: must be a line of at most 262144 bytes; the rest of the file was not read')
  const header = await run('user_id,external_ref,limit,prioritty,limit\n1,A,1,2,3\n')
  expect(header.complaints).toEqual([
    expect.stringMatching(/^line 1: prioritty is no column; columns are id, user_id, user_ref, kind, /),
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

test('one fault of many rows does not hide the others; --errors lists all', async () => {
  const user = someone()
  const many = Array.from({ length: 50 }, (_, n) => `${user},R${n},1.${n + 100},\n`)
  const others = `x,A,1,\n${user},,1,\n${user},B,1,maybe\n${user},C,1,,7\n${user},R7,1,\n${user},D,-1,\n`
  const file = `${HEAD.replace('name', 'enabled')}\n${many.join('')}${others}`
  const limit = 'limit must be a whole number from 0 to 1000000000000, or null, not'
  const expected = [
    `line 2: ${limit} "1.100"`,
    `line 3: ${limit} "1.101"`,
    `line 4: ${limit} "1.102"`,
    'and 48 more of this kind, the next in line 5',
    expect.stringMatching(/^line 52: user_id must be a whole number from 0 to \d+, not "x"$/),
    expect.stringMatching(/^line 53: external_ref is required: /),
    'line 54: enabled must be true or false, not "maybe"',
    'line 55: has 5 cells, and the header has 4',
    'line 56: has the same user_id and external_ref as line 9',
  ]
  const end = 'sms-quota: 56 rows of FILE cannot be imported; nothing was sent'
  expect((await run(file)).complaints).toEqual([...expected, '--errors FILE lists all', end])
  const errorsFile = join(folder, 'errors.csv')
  expect((await run(file, { errorsFile })).complaints).toEqual([...expected, end])
  const lines = (await readFile(errorsFile, 'utf8')).trimEnd().split('\n')
  expect(lines).toHaveLength(57)
  expect(lines.slice(0, 3)).toEqual([
    'line,column,message',
    '2,limit,"must be a whole number from 0 to 1000000000000, or null, not ""1.100"""',
    '3,limit,"must be a whole number from 0 to 1000000000000, or null, not ""1.101"""',
  ])
  expect(lines).toContain('56,,has the same user_id and external_ref as line 9')
  // What only the service refuses is there, too; without a fault only the head.
  const refused = Array.from({ length: 1_100 }, (_, n) => `${user + n},A,,cap\n`).join('')
  lastUser += 1_100
  const caps = await run(`user_id,external_ref,limit,kind\n${refused.replaceAll(',A,,', ',A,null,')}`, { errorsFile })
  expect(caps).toMatchObject({
    code: 1,
    complaints: [
      ...[2, 3, 4].map(line => `line ${line}: limit a cap needs a limit; null (unlimited) is for grants`),
      'and 1,097 more of this kind, the next in line 5',
    ],
  })
  expect((await readFile(errorsFile, 'utf8')).trimEnd().split('\n')).toHaveLength(1_101)
  expect(await run(`${HEAD}\n${user},Z,1,\n`, { errorsFile })).toEqual(done(1, 0, 0))
  expect(await readFile(errorsFile, 'utf8')).toBe('line,column,message\n')
  await expect(run(HEAD, { errorsFile: join(folder, 'none', 'errors.csv') })).rejects.toThrow(
    'cannot be written (ENOENT)',
  )
})

test('--errors never writes over the file that is read, by any of its names', async () => {
  const content = `${HEAD}\n${someone()},A,1,\n`
  const file = await fileOf(content)
  const link = join(folder, 'link to the rows')
  await symlink(file, link)
  const hard = join(folder, 'other name of the rows')
  await hardLink(file, hard)
  for (const errorsFile of [file, link, hard, `${folder}/./${basename(file)}`]) {
    const request = { file, errorsFile, service: { url, token: service.adminToken }, dryRun: false }
    const output = { print: () => expect.unreachable(), complain: () => {} }
    await expect(importFile(request, output)).rejects.toThrow(
      /^--errors: .* is the file that is read; name another one$/,
    )
    expect(await readFile(file, 'utf8')).toBe(content)
  }
})

test.each([
  [
    'user_id and external_ref',
    (user: number) => `${HEAD}\n${user},A,1,\n${user + 1},A,1,\n${user},a,1,\n\n${user},A,2,\n`,
    6,
    2,
  ],
  ['id', (user: number) => `id,user_id\n7,${user}\n8,${user}\n7,${user}\n`, 4, 2],
  // A row gives the quota of its id the reference, so that it is the one that another row names.
  ['user_id and external_ref', (user: number) => `id,${HEAD}\n7,${user},A,1,\n,${user},A,2,\n`, 3, 2],
  ['user_id and external_ref', (user: number) => `id,${HEAD}\n,${user},A,1,\n7,${user},A,2,\n`, 3, 2],
  ['user_id and external_ref', (user: number) => `id,${HEAD}\n7,${user},A,1,\n8,${user},A,2,\n`, 3, 2],
  ['id', (user: number) => `id,${HEAD}\n7,${user},A,1,\n7,${user},B,2,\n`, 3, 2],
  ['id', (user: number) => `{"id":7,"user_id":${user}}\n{"id":7,"user_id":${user},"limit":5}\n`, 2, 1],
  [
    'user_id and external_ref',
    (user: number) =>
      `{"user_id":${user},"external_ref":"A","limit":1}\n{"limit":2,"external_ref":"\\u0041","user_id":${user}}\n`,
    2,
    1,
  ],
])('the same %s twice is said with both lines, before anything is changed', async (same, contentFor, line, earlier) => {
  const user = someone()
  lastUser += 1
  expect((await run(contentFor(user))).complaints).toEqual([
    `line ${line}: has the same ${same} as line ${earlier}`,
    'sms-quota: 1 row of FILE cannot be imported; nothing was sent',
  ])
  expect(await quotasOf(user)).toEqual([])
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
  return serve(async (request, response) => {
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

test('a time to come back that is no number of seconds, as a proxy may write it, does not keep it from giving up', async () => {
  const until: Answer = (_request, response) =>
    response
      .writeHead(503, { 'retry-after': 'Sun, 15 Mar 2026 12:01:00 GMT' })
      .end('{"code":"overloaded","title":"Overloaded","detail":"Later."}')
  const url = await before(...Array.from({ length: 500 }, () => until))
  const patience = { totalMs: 100, firstMs: 10 }
  const sender = createSender({ url, token: service.adminToken }, { dryRun: true, requestId: 'dates', patience })
  await expect(sender.send({ body: '{}\n', lines: [1] })).rejects.toThrow('Later.')
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
  expect(foreign.complaints?.[0]).toContain('is not sms-quota: The answer with status 200')
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
