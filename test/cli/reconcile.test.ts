/** The command `reconcile`, against a service that listens. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { serve } from '../support/listening.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota reconcile '))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true })
})
const token = await service.token({
  sub: 'billing',
  roles: ['admin', 'sender', 'force'].map(role => `sms-quota:${role}`),
})
const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: token }

let lastUser = 100
/** A user with a grant. Each test has a day of its own, so that it sees no message of the others. */
async function someone(): Promise<number> {
  lastUser += 1
  service.clock.now += 10 * 86_400_000
  const body = { user_id: lastUser, limit: 100_000 }
  expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
  return lastUser
}
async function send(op: string, body: object) {
  const answer = await service.call('POST', `/api/sms/sender/quota/${op}`, { token, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const stateOf = async (user: number, id: string) => {
  const { body } = await service.call('GET', `/api/sms/admin/quota/reservations/${user}/${id}`)
  return [body.committed - body.refunded, body.state]
}
const iso = (days: number) => new Date(service.clock.now + days * 86_400_000).toISOString()

let lastFile = 0
async function fileOf(text: string | Uint8Array): Promise<string> {
  lastFile += 1
  const file = join(folder, `bill-${lastFile}.csv`)
  await writeFile(file, text)
  return file
}
/** Of the messages of the day on which the clock stands. */
const reconcile = (words: readonly string[], options: Partial<Terminal> = {}) =>
  run(['reconcile', ...words, '--from', iso(-1), '--to', iso(1)], { env, ...options })

/** The rows of the table that the command prints: result and messages. */
function countsIn(stdout: string): Record<string, number> {
  const rows = stdout.split('\n').flatMap(line => {
    const [, result = '', messages = ''] = /^([a-z]+(?: [a-z]+)?) +(\d+) +\d+ +(?:\d+|-)$/.exec(line) ?? []
    return result === '' ? [] : [[result, Number(messages)] as const]
  })
  return Object.fromEntries(rows)
}

/** A day with a message for each result, by their prices. */
async function busyDay() {
  const user = await someone()
  const consume = (id: string, units: number) => send('consume', { user_id: user, id, units })
  for (const id of ['same', 'more', 'less', 'failed', 'refunded', 'extra']) await consume(id, 2)
  await send('refund', { user_id: user, id: 'refunded' })
  await send('reserve', { user_id: user, id: 'open', units: 2 })
  await send('reserve', { user_id: user, id: 'opened', units: 2 })
  await send('reserve', { user_id: user, id: 'let-go', units: 2 })
  await send('release', { user_id: user, id: 'let-go' })
  await send('reserve', { user_id: user, id: 'unsent', units: 2 })
  await send('release', { user_id: user, id: 'unsent' })
  const bill = await fileOf(
    `id;price;status
same;0,0002;DELIVRD
more;0,0003;DELIVRD
less;0,0001;DELIVRD
failed;0,0002;UNDELIV
refunded;0,0002;rejectd
open;0,0001;DELIVRD
opened;;UNDELIV
let-go;0,0002;DELIVRD
unknown;0,0007;DELIVRD
;0,0009;DELIVRD
`,
  )
  const words = [bill, '--price', 'price', '--scale', '10000', '--status', 'status', '--failed', 'undeliv,REJECTD']
  return { user, bill, words }
}

test('a bill is compared message by message, and settled by totals, once', async () => {
  const { user, bill, words } = await busyDay()
  const report = join(folder, 'differences.csv')
  const first = await reconcile([...words, '--report', report])
  const table = `\
result         messages  units_here  units_there
equal                 2           2            2
other units           3           4            6
failed there          1           2            0
still open            2           0            1
missing here          2           0            7
missing there         1           2            -
`
  expect(first).toEqual({ code: 1, stdout: table, stderr: '' })
  const rows = (settled: string) => [
    'file,line,id,user,result,units_here,units_there,segments_there,settled',
    `,,extra,${user},missing there,2,,,`,
    `${bill},3,more,${user},other units,2,3,,${settled}`,
    `${bill},4,less,${user},other units,2,1,,${settled}`,
    `${bill},5,failed,${user},failed there,2,0,,${settled}`,
    `${bill},7,open,${user},still open,0,1,,${settled}`,
    `${bill},8,opened,${user},still open,0,0,,${settled}`,
    `${bill},9,let-go,${user},other units,0,2,,${settled}`,
    `${bill},10,unknown,,missing here,0,7,,`,
    `${bill},11,,,missing here,0,,,`,
  ]
  const read = async () => (await readFile(report, 'utf8')).trimEnd().split('\n')
  expect((await read()).toSorted()).toEqual(rows('').toSorted())
  expect(await stateOf(user, 'more')).toEqual([2, 'committed'])

  const questions: string[] = []
  const answering = (answer: string) => ({
    async ask(question: string) {
      questions.push(question)
      return answer
    },
  })
  const no = await reconcile([...words, '--settle'], answering('n'))
  expect(no).toEqual({ code: 1, stdout: table, stderr: 'Nothing was changed.\n' })
  const yes = await reconcile([...words, '--settle', '--report', report], answering('y'))
  expect(yes).toEqual({ code: 1, stdout: `${table}settled 6, refused 0\n`, stderr: '' })
  expect(questions).toEqual(['Settle 6 messages? [y/N] ', 'Settle 6 messages? [y/N] '])
  expect((await read()).toSorted()).toEqual(rows('yes').toSorted())
  const states = await Promise.all(
    ['same', 'more', 'less', 'failed', 'refunded', 'open', 'opened', 'let-go', 'extra'].map(id => stateOf(user, id)),
  )
  expect(states.map(([spent]) => spent)).toEqual([2, 3, 1, 0, 0, 1, 0, 2, 2])
  expect(states.map(([, state]) => state).slice(5, 7)).toEqual(['committed', 'released'])

  const ledger = async () => (await service.call('GET', `/api/sms/admin/quota/reservations?user_id=${user}`)).body.items
  const before = await ledger()
  const again = await reconcile([...words, '--settle', '--yes'])
  expect(again.code).toBe(1)
  expect(countsIn(again.stdout)).toEqual({ equal: 8, 'missing here': 2, 'missing there': 1 })
  expect(again.stdout).not.toContain('settled')
  expect(await ledger()).toEqual(before)
})

test('segments are compared and settled at the price of the message', async () => {
  const lines = [{ per_segment: 10, per_message: 5 }]
  const card = (await service.call('POST', '/api/sms/admin/rate-cards', { body: { name: 'Ten', lines } })).body.id
  const user = await someone()
  await service.call('PUT', `/api/sms/admin/users/${user}/profile`, { body: { rate_card_id: card } })
  for (const [id, length] of [
    ['one', 1],
    ['two', 200],
    ['three', 400],
  ] as const)
    await send('consume', { user_id: user, id, message: { to: '+4915112345678', text: 'x'.repeat(length) } })
  await send('consume', { user_id: user, id: 'plain', units: 1 })
  const bill = await fileOf('Reference,Parts\none,1\ntwo,3\nthree,1\nplain,2\n')
  const words = [bill, '--id', 'reference', '--segments', 'PARTS']
  expect(countsIn((await reconcile(words)).stdout)).toEqual({ equal: 1, 'other segments': 3 })
  expect(await reconcile([...words, '--settle', '--yes'])).toMatchObject({ code: 0, stderr: '' })
  const spent = await Promise.all(['one', 'two', 'three', 'plain'].map(id => stateOf(user, id)))
  expect(spent.map(([units]) => units)).toEqual([15, 35, 15, 2])
  const again = await reconcile([...words, '--settle', '--yes'])
  expect([again.code, countsIn(again.stdout)]).toEqual([0, { equal: 4 }])
})

/** The service behind a proxy that says what becomes of the answers of batches, by their numbers from 1. */
const behindProxy = (answerOf: (batch: number) => 'pass' | 'lose' | 'replace') => {
  let batches = 0
  return serve(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { method = '', headers } = request
    const { authorization = '' } = headers
    const body = method === 'GET' ? {} : { body: Buffer.concat(parts) }
    const type = { authorization, 'content-type': headers['content-type'] ?? 'application/json' }
    const answer = await fetch(`${url}${request.url}`, { method, headers: type, ...body })
    const text = await answer.text()
    if (request.url?.endsWith('/batch') === true) batches += 1
    const fate = request.url?.endsWith('/batch') === true ? answerOf(batches) : 'pass'
    if (fate === 'lose') return request.socket.destroy()
    if (fate === 'replace') return response.end('<p>Sign in to the network')
    return response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
  })
}

test('a settlement that breaks off says what is settled, and goes on where it was', async () => {
  const user = await someone()
  const ids = Array.from({ length: 3_000 }, (_, n) => `m-${n}`)
  for (let at = 0; at < ids.length; at += 1_000) {
    const operations = ids.slice(at, at + 1_000).map(id => ({ op: 'consume', user_id: user, id, units: 2 }))
    await send('batch', { operations })
  }
  const spent = async () => {
    const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}`)
    return body.items[0].used
  }
  const words = [
    await fileOf(`id,units\n${ids.map(id => `${id},1\n`).join('')}`),
    '--units',
    'units',
    '--settle',
    '--yes',
  ]
  const through = async (answerOf: Parameters<typeof behindProxy>[0], options: Partial<Terminal> = {}) =>
    reconcile(words, { env: { ...env, SMS_QUOTA_URL: await behindProxy(answerOf) }, ...options })
  const goOn = 'To go on: the same command again. What is settled stays as it is.\n'

  // Ctrl-C while the first batch is under way.
  const controller = new AbortController()
  const interrupting = () => {
    controller.abort()
    return 'pass' as const
  }
  const stopped = await through(interrupting, { interruption: () => controller.signal })
  const settled900 = expect.stringMatching(/\nsettled 900, refused 0\n$/)
  expect(stopped).toMatchObject({ code: 2, stdout: settled900, stderr: goOn })
  expect(await spent()).toBe(6_000 - 900)

  // The answer of the first batch is lost, so it is sent twice; that of the next one is not the service's.
  const broken = await through(batch => (['pass', 'lose', 'pass'] as const)[batch] ?? 'replace')
  expect(broken).toMatchObject({ code: 2, stdout: settled900 })
  expect(broken.stderr).toMatch(/^sms-quota: what answers at .* is not sms-quota/)
  expect(broken.stderr.endsWith(goOn)).toBe(true)
  expect(await spent()).toBe(6_000 - 2_700)

  expect(await reconcile(words)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nsettled 300, refused 0\n$/),
  })
  expect(await spent()).toBe(3_000)
  expect(await reconcile(words)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('settled') })
})

describe('bills as providers give them', () => {
  const shapes: [name: string, bill: string, words: string[]][] = [
    [
      'Twilio: prices below zero, none of what failed, and the status in words',
      'Sid,Status,NumSegments,Price,PriceUnit\nUSERa,delivered,1,-0.00750,USD\nUSERb,sent,2,-0.01500,USD\nUSERc,undelivered,1,,USD\n',
      ['--id', 'Sid', '--price', 'Price', '--scale', '400', '--status', 'Status', '--failed', 'failed,undelivered'],
    ],
    [
      'Vonage: a line for each part, with a reference of its own',
      '"account_id","message_id","client_ref","status","total_price"\n"x","1","USERa","delivered","0.0333"\n"x","2","USERb","delivered","0.0333"\n"x","3","USERb","delivered","0.0333"\n"x","4","USERc","rejected","0.0333"\n',
      ['--id', 'client_ref', '--parts', '--status', 'status', '--failed', 'failed,rejected,expired'],
    ],
    [
      'Jasmin: tabs, the segments and the state of SMPP',
      'msgid\tuid\tsubmit_sm_parts\tstate\nUSERa\tfoo\t1\tDELIVRD\nUSERb\tfoo\t2\tDELIVRD\nUSERc\tfoo\t1\tUNDELIV\n',
      ['--id', 'msgid', '--segments', 'submit_sm_parts', '--status', 'state', '--failed', 'UNDELIV,REJECTD,EXPIRED'],
    ],
    [
      'Kannel: semicolons, numbers of delivery reports, and empty lines',
      '\uFEFFsmsc;foreign_id;dlr_mask;parts\r\n\r\nacme;USERa;1;1\r\nacme;USERb;1;2\r\nacme;USERc;16;1\r\n',
      ['--id', 'foreign_id', '--segments', 'parts', '--status', 'dlr_mask', '--failed', '2,16'],
    ],
  ]
  test.each(shapes)('%s', async (_, bill, words) => {
    const user = await someone()
    for (const [id, units] of [
      ['a', 3],
      ['b', 2],
      ['c', 1],
    ] as const)
      await send('consume', { user_id: user, id: `u${user}${id}`, units })
    const file = await fileOf(bill.replaceAll('USER', `u${user}`))
    // The scale of prices makes three units of 0.0075.
    const [one, two] = words.includes('--price') ? [3, 6] : [1, 2]
    const found = await reconcile([file, ...words, '--settle', '--yes'])
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('\nfailed there ') })
    const spent = await Promise.all(['a', 'b', 'c'].map(id => stateOf(user, `u${user}${id}`)))
    expect(spent.map(([units]) => units)).toEqual([one, two, 0])
  })
})

test('a folder of files, users by reference, and ids that several users have', async () => {
  const [one, two] = [await someone(), await someone()]
  await service.call('PUT', `/api/sms/admin/users/${two}/profile`, { body: { ref: `ref ${two}`.replace(' ', '-') } })
  for (const user_id of [one, two]) await send('consume', { user_id, id: 'alike', units: 1 })
  const bills = join(folder, 'bills')
  await mkdir(bills)
  await writeFile(join(bills, 'a.csv'), `id,who,units\nalike,${one},1\n`)
  await writeFile(join(bills, 'b.csv'), `units,who,id\n5,ref:ref-${two},alike\n`)
  const several = await reconcile([join(bills, 'a.csv'), '--units', 'units', '--settle', '--yes'], {})
  expect([several.code, countsIn(several.stdout)]).toEqual([1, { 'several users': 1 }])
  const words = [bills, '--user', 'who', '--units', 'units']
  expect(await reconcile([...words, '--settle', '--yes'])).toMatchObject({ code: 0 })
  expect([await stateOf(one, 'alike'), await stateOf(two, 'alike')]).toEqual([
    [1, 'committed'],
    [5, 'committed'],
  ])
  const inside = await reconcile([...words, '--report', join(bills, 'b.csv')])
  expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining('is the file that is read') })
})

describe('what cannot be compared is refused before anything is done', () => {
  test.each<[string, string[], ...string[]]>([
    ['id,units\na,1\nb,\nc,x\n', ['--units', 'units'], 'line 3: units is empty', 'line 4: units must be a number'],
    [
      'id,price\na,0.0075\n',
      ['--price', 'price', '--scale', '100'],
      'line 2: price must be a whole number of units with --scale 100, not "0.0075"',
    ],
    ['id,price\na,1\nb,-1\n', ['--price', 'price'], 'line 3: price has another sign than the prices before'],
    ['id,parts\na,256\n', ['--segments', 'parts'], 'line 2: parts must be at most 255 units'],
    [
      'id\na\na\n',
      [],
      'line 3: id is in two lines: if each is a part of the message, give --parts, not "a as ',
      ' line 2"',
    ],
    ['id\n1.23E+11\n', [], 'line 2: id must be an id, not "1.23E+11"'],
    ['ref\na\n', [], 'has no column "id", which --id names; its columns are ref'],
    ['id\na\n', ['--user', 'who'], 'has no column "who", which --user names'],
    ['', [], 'is empty'],
    ['id\n"a\n', [], 'line 2: a quotation mark is not closed'],
    ['id\na\n', ['--status', 'id'], '--status and --failed need each other'],
    ['id\na\n', ['--units', 'id', '--price', 'id'], 'give --units or --price, not both'],
    ['id\na\n', ['--settle'], 'give --yes: there is no terminal to ask on'],
    ['id\n\xff\n', [], 'line 2 has bytes that are not UTF-8'],
  ])('%j %j', async (text, words, ...messages) => {
    const file = await fileOf(Buffer.from(text, 'latin1'))
    const refused = await reconcile([file, ...words])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    for (const message of messages) expect(refused.stderr).toContain(message)
  })

  test('a file that is not there, and a period that ends before it begins', async () => {
    const none = await reconcile([join(folder, 'none.csv')])
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read (ENOENT)') })
    const file = await fileOf('id\na\n')
    const turned = await run(['reconcile', file, '--from', '2026-04-01', '--to', '2026-03-01'], { env })
    expect(turned).toMatchObject({ code: 2, stderr: expect.stringContaining('--from must be before --to') })
  })

  test.each([
    [['sender'], [], 'admin or auditor'],
    [['admin'], ['--settle', '--yes'], 'sender, and force'],
    [['auditor', 'sender'], ['--settle', '--yes'], 'force'],
  ])('a token with the roles %j %j', async (roles, words, missing) => {
    const SMS_QUOTA_TOKEN = await service.token({ sub: 'x', roles: roles.map(role => `sms-quota:${role}`) })
    const file = await fileOf('id\na\n')
    const refused = await reconcile([file, ...words], { env: { ...env, SMS_QUOTA_TOKEN } })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(`the token lacks the role ${missing}; nothing was done\n`)
  })

  test('what answers is another service', async () => {
    const SMS_QUOTA_URL = await serve((_request, response) => response.end('<p>Sign in to the network'))
    const away = await reconcile([await fileOf('id\na\n')], { env: { ...env, SMS_QUOTA_URL } })
    expect(away).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is not sms-quota') })
  })
})
