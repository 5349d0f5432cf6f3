import { expect, test } from 'vitest'
import { serve } from '../support/listening.ts'
import { startProxy } from './proxy-fixture.ts'

/** What Jasmin got, in order. */
const passedOn: URLSearchParams[] = []
/** What the caller's own `dlr-url` got. */
const reports: Array<{ method: string | undefined; url: string | undefined; body: string }> = []

async function listen(answer: (url: string, body: string, method: string) => [number, string]): Promise<string> {
  return serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const [status, text] = answer(request.url ?? '/', body, request.method ?? '')
    response.writeHead(status).end(text)
  })
}

const jasmin = await listen((url, body) => {
  const parameters = new URLSearchParams(body)
  if (url !== '/send') return [404, 'Not found']
  if (parameters.get('password') !== 'right') return [403, 'Error "Authentication failure for username:alice"']
  passedOn.push(parameters)
  return [200, `Success "message-${passedOn.length}"`]
})
/** Whether the caller acknowledges reports. */
let acknowledges = true
const caller = await listen((url, body, method) => {
  reports.push({ method, url, body })
  return acknowledges ? [200, 'ACK/Jasmin'] : [500, 'an error']
})

const { counters, expectLostIsFree, proxy } = await startProxy('jasmin', 9, { JASMIN_URL: jasmin })

const MESSAGE = { username: 'alice', password: 'right', from: '456', to: '4915112345678', content: 'Hello' }

async function send(parameters: Record<string, string>): Promise<[number, string]> {
  const answer = await fetch(`${proxy}/send?${new URLSearchParams({ ...MESSAGE, ...parameters })}`)
  return [answer.status, await answer.text()]
}

/** Reports on the message with this number as Jasmin does. */
async function report(number: number, level: 1 | 2, status: string): Promise<[number, string]> {
  const reported = { id: `message-${number}`, level: String(level), message_status: status, connector: 'fake' }
  const url = `${passedOn[number - 1]?.get('dlr-url')}&${new URLSearchParams(reported)}`
  const answer = await fetch(url)
  return [answer.status, await answer.text()]
}
const ACKNOWLEDGED = [200, 'ACK/Jasmin']

test('units are committed before the message, and refunded by its reports', async () => {
  for (const to of ['4915112345678', '+37120000001', '0037120000002', '4915112345679']) {
    expect((await send({ to }))[0]).toBe(200)
  }
  expect(await counters()).toEqual({ used: 4, reserved: 0, remaining: 5 })

  // An answer of the SMSC after which Jasmin tries again is not final.
  for (const [number, status] of [
    [1, 'ESME_ROK'],
    [2, 'ESME_ROK'],
    [3, 'ESME_RINVDSTADR'],
    [4, 'ESME_RTHROTTLED'],
  ] as const) {
    expect(await report(number, 1, status)).toEqual(ACKNOWLEDGED)
  }
  expect(await counters()).toEqual({ used: 3, reserved: 0, remaining: 6 })
  expect(await report(1, 2, 'DELIVRD')).toEqual(ACKNOWLEDGED)
  expect(await report(2, 2, 'UNDELIV')).toEqual(ACKNOWLEDGED)
  expect(await report(4, 2, 'ENROUTE')).toEqual(ACKNOWLEDGED)
  expect(await counters()).toEqual({ used: 2, reserved: 0, remaining: 7 })
  // Repeated and late reports change nothing.
  for (const status of ['DELIVRD', 'UNDELIV']) expect(await report(1, 2, status)).toEqual(ACKNOWLEDGED)
  expect(await counters()).toEqual({ used: 2, reserved: 0, remaining: 7 })
  await report(4, 2, 'DELIVRD')
})

test('the caller gets the reports that it asked for, and Jasmin repeats those that it does not acknowledge', async () => {
  const url = `${caller}/report?n=1`
  await send({ dlr: 'yes', 'dlr-url': url, 'dlr-level': '2', 'dlr-method': 'GET' })
  await report(5, 1, 'ESME_ROK')
  acknowledges = false
  expect(await report(5, 2, 'DELIVRD')).toEqual([500, 'an error'])
  acknowledges = true
  expect(await report(5, 2, 'DELIVRD')).toEqual(ACKNOWLEDGED)
  const reported = 'id=message-5&level=2&message_status=DELIVRD&connector=fake'
  const expected = { method: 'GET', url: `/report?n=1&${reported}`, body: '' }
  expect(reports.splice(0)).toEqual([expected, expected])

  await send({ 'dlr-url': url })
  await report(6, 1, 'ESME_ROK')
  await report(6, 2, 'UNDELIV')
  const first = 'id=message-6&level=1&message_status=ESME_ROK&connector=fake'
  expect(reports.splice(0)).toEqual([{ method: 'POST', url: '/report?n=1', body: first }])
  expect(await counters()).toEqual({ used: 3, reserved: 0, remaining: 6 })
})

test('Jasmin gets each text in an encoding that keeps it', async () => {
  const before = passedOn.length
  const hexOf = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex')
  const { content, ...rest } = MESSAGE
  for (const parameters of [
    { ...rest, content },
    { ...rest, content: 'Grüße ✓' },
    { ...rest, coding: '8', 'hex-content': hexOf('Grüße') },
  ]) {
    const answer = await fetch(`${proxy}/send`, { method: 'POST', body: new URLSearchParams(parameters) })
    expect(answer.status).toBe(200)
  }
  expect(passedOn.slice(before).map(sent => ['content', 'coding', 'hex-content'].map(name => sent.get(name)))).toEqual([
    ['Hello', null, null],
    [null, '8', hexOf('Grüße ✓')],
    ['Grüße', null, null],
  ])
  for (let number = before + 1; number <= passedOn.length; number++) await report(number, 2, 'UNDELIV')
})

test('a message that Jasmin refuses, or would cut, costs nothing', async () => {
  const before = await counters()
  expect(await send({ password: 'wrong' })).toEqual([403, 'Error "Authentication failure for username:alice"'])
  const passed = passedOn.length
  const cut = 'Error "Not sent: Jasmin cuts the text, which takes 6 parts, after 5"'
  expect(await send({ content: 'x'.repeat(800) })).toEqual([400, cut])
  expect(passedOn.length).toBe(passed)
  expect(await counters()).toEqual(before)
})

test('a report that the proxy did not ask for is refused', async () => {
  const before = await counters()
  await send({ 'dlr-level': '3', 'dlr-url': `${caller}/mine` })
  const signed = new URL(passedOn.at(-1)?.get('dlr-url') ?? '')
  const reported = { level: '2', message_status: 'UNDELIV' }
  for (const [name, value] of Object.entries(reported)) signed.searchParams.set(name, value)
  const forgeries = ['user', 'reservation', 'next', 'levels', 'method', 'sig'].flatMap(name => {
    const [without, other, twice] = [new URL(signed), new URL(signed), new URL(signed)]
    without.searchParams.delete(name)
    other.searchParams.set(name, name === 'next' ? `${caller}/forged` : '8')
    twice.search = `${twice.searchParams}&${name}=8`
    return [without, other, twice]
  })
  for (const url of forgeries) expect((await fetch(url)).status).toBe(403)
  const unsigned = new URLSearchParams({ user: '7', reservation: 'x', next: `${caller}/forged`, ...reported })
  expect((await fetch(`${proxy}/dlr?${unsigned}`)).status).toBe(403)
  expect(reports).toEqual([])
  expect(await counters()).not.toEqual(before)
  expect((await fetch(signed)).status).toBe(200)
  expect(reports.splice(0)).toMatchObject([{ url: '/mine' }])
  expect(await counters()).toEqual(before)
})

test('names that every object has are no users', async () => {
  for (const username of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect((await send({ username }))[0]).toBe(403)
})

test('a denied message does not reach Jasmin, and the answer says why', async () => {
  const before = passedOn.length
  const denied = 'Error "Not sent: quota_exhausted, try again at 2026-04-01T00:00:00.000Z"'
  expect(await send({ content: 'x'.repeat(1_000) })).toEqual([402, denied])
  expect(await send({ username: 'bob' })).toEqual([402, 'Error "Not sent: no_quota"'])
  expect(await send({ username: 'mallory' })).toEqual([403, 'Error "Authentication failure for username:mallory"'])
  expect((await send({ to: 'nobody' }))[0]).toBe(400)
  expect((await send({ coding: '4' }))[0]).toBe(400)
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"username":"alice"}' }
  expect((await fetch(`${proxy}/send`, json)).status).toBe(400)
  expect(passedOn.length).toBe(before)
})

test('a message that is not passed on, since the answer of sms-quota was lost, costs nothing', () =>
  expectLostIsFree(() => send({}), passedOn))
