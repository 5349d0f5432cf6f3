import { expect, test } from 'vitest'
import { serve } from '../support/listening.ts'
import { startProxy } from './proxy-fixture.ts'

/** What smsbox got, in order. */
const passedOn: URLSearchParams[] = []
/** What the caller's own `dlr-url` got. */
const reports: string[] = []

async function listen(answer: (url: URL) => [status: number, text: string]): Promise<string> {
  return serve((request, response) => {
    const [status, text] = answer(new URL(request.url ?? '/', 'http://host'))
    response.writeHead(status).end(text)
  })
}

const smsbox = await listen(({ pathname, searchParams }) => {
  if (pathname !== '/cgi-bin/sendsms') return [404, 'Error 404']
  if (searchParams.get('password') !== 'right') return [403, 'Authorization failed for sendsms']
  passedOn.push(searchParams)
  return [202, '0: Accepted for delivery']
})
const caller = await listen(({ pathname, search }) => {
  reports.push(pathname + search)
  return [200, '']
})

const { call, counters, expectLostIsFree, proxy } = await startProxy('kannel', 4, { SMSBOX_URL: smsbox })

async function send(parameters: Record<string, string>): Promise<[status: number, text: string]> {
  const all = { username: 'alice', password: 'right', from: '456', to: '4915112345678', text: 'Hello', ...parameters }
  const answer = await fetch(`${proxy}/cgi-bin/sendsms?${new URLSearchParams(all)}`)
  return [answer.status, await answer.text()]
}

/** Reports on a message as Kannel does, which fills in the escapes of its `dlr-url`. */
async function report(index: number, type: number): Promise<number> {
  const filled = (passedOn[index]?.get('dlr-url') ?? '').replace(/%([A-Za-z])/g, (_, name) =>
    name === 'd' ? String(type) : name === 'A' ? 'stat%3AOK' : '',
  )
  return (await fetch(filled)).status
}

test('units are committed before the message, and refunded by its reports', async () => {
  const dlr = { 'dlr-mask': '3', 'dlr-url': `${caller}/report?n=1&type=%d&answer=%A` }
  expect(await send({ ...dlr, smsc: 'fake' })).toEqual([202, '0: Accepted for delivery'])
  expect(await send({ text: 'Grüße ✓' })).toEqual([202, '0: Accepted for delivery'])
  expect(await send({ to: '0037120000001' })).toEqual([202, '0: Accepted for delivery'])
  expect(passedOn.map(sent => [sent.get('smsc'), sent.get('coding'), sent.get('dlr-mask')])).toEqual([
    ['fake', null, '31'],
    [null, '2', '31'],
    [null, null, '31'],
  ])
  expect(await counters()).toEqual({ used: 3, reserved: 0, remaining: 1 })

  for (const index of [0, 1, 2]) expect(await report(index, 8)).toBe(200)
  expect(await counters()).toEqual({ used: 3, reserved: 0, remaining: 1 })
  for (const [index, type] of [1, 2, 16].entries()) expect(await report(index, type)).toBe(200)
  expect(await counters()).toEqual({ used: 1, reserved: 0, remaining: 3 })
  // Repeated and late reports change nothing.
  for (const [index, type] of [2, 1, 2].entries()) expect(await report(index, type)).toBe(200)
  expect(await counters()).toEqual({ used: 1, reserved: 0, remaining: 3 })
  // The caller gets the reports that its own mask names: delivered and failed, not accepted.
  expect(reports).toEqual(['/report?n=1&type=1&answer=stat%3AOK', '/report?n=1&type=2&answer=stat%3AOK'])
})

test('a report that the proxy did not ask for is refused', async () => {
  const before = await counters()
  const { length } = reports
  await send({ 'dlr-mask': '31', 'dlr-url': `${caller}/mine` })
  const signed = new URL((passedOn.at(-1)?.get('dlr-url') ?? '').replaceAll('%', ''))
  signed.searchParams.set('d', '1')
  const forgeries = ['user', 'id', 'mask', 'next', 'sig'].flatMap(name => {
    const [without, other, twice] = [new URL(signed), new URL(signed), new URL(signed)]
    without.searchParams.delete(name)
    other.searchParams.set(name, name === 'next' ? Buffer.from(`${caller}/forged`).toString('base64url') : '8')
    twice.search = `${name}=8&${twice.searchParams}`
    return [without, other, twice]
  })
  for (const url of forgeries) expect((await fetch(url)).status).toBe(403)
  expect((await fetch(`${proxy}/dlr?user=7&id=x&mask=0&next=&d=2`)).status).toBe(403)
  expect(reports.length).toBe(length)
  expect(await counters()).toEqual({ ...before, used: 2, remaining: 2 })
  expect((await fetch(signed)).status).toBe(200)
  expect(reports.slice(length)).toEqual(['/mine'])
  expect(await counters()).toMatchObject({ used: 2, reserved: 0 })
})

test('names that every object has are no users', async () => {
  for (const username of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect(await send({ username })).toEqual([403, 'Authorization failed for sendsms'])
})

test('a denied message does not reach smsbox, and the answer says why', async () => {
  const before = passedOn.length
  const [status, text] = await send({ text: 'x'.repeat(500) })
  expect([status, text]).toEqual([402, 'Not sent: quota_exhausted, try again at 2026-04-01T00:00:00.000Z'])
  expect(await send({ username: 'bob' })).toEqual([402, 'Not sent: no_quota'])
  expect(await send({ username: 'mallory' })).toEqual([403, 'Authorization failed for sendsms'])
  expect((await send({ to: 'nobody' }))[0]).toBe(400)
  expect(passedOn.length).toBe(before)
})

test('a message that smsbox refuses costs nothing', async () => {
  const before = await counters()
  expect(await send({ password: 'wrong' })).toEqual([403, 'Authorization failed for sendsms'])
  expect(await counters()).toEqual(before)
})

test('a message that is not passed on, since the answer of sms-quota was lost, costs nothing', () =>
  expectLostIsFree(() => send({}), passedOn))

test('a text that Kannel would cut costs nothing', async () => {
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 8, limit: 20, period: 'month' } })
  const passed = passedOn.length
  const cut = 'Not sent: Kannel cuts the text, which takes 11 parts, after 10'
  expect(await send({ username: 'bob', text: 'x'.repeat(1_531) })).toEqual([400, cut])
  expect(passedOn.length).toBe(passed)
  const { body } = await call('GET', '/api/sms/admin/quota/summary?user_id=8')
  expect(body).toMatchObject({ used: 0, reserved: 0 })
  expect(await send({ username: 'bob', text: 'x'.repeat(1_530) })).toEqual([202, '0: Accepted for delivery'])
})
