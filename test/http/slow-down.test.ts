/** Clients that only cost work wait for their answers. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createSlowDown } from '../../src/http/platform/slow-down.ts'
import { startService } from '../support/service.ts'
import { closeOf } from '../support/sockets.ts'

const LIMIT = 3
const { app, call, adminToken } = await startService({ env: { AUTH_FAILURES_PER_MINUTE: String(LIMIT) } })
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const LIST = '/api/sms/admin/quota/list'
const authorization = `Bearer ${adminToken}`

/** A call without a token, and whether the answer to a call that was sent later came before its answer. */
async function ask(url: string, remoteAddress: string) {
  let isOvertaken = false
  const asked = app.inject({ method: 'GET', url, remoteAddress })
  const later = app.inject({ method: 'GET', url: `${LIST}?x=1`, headers: { authorization }, remoteAddress })
  later.then(() => {
    isOvertaken = true
  })
  const { statusCode } = await asked
  // A refusal of a principal does not count for the address.
  expect((await later).statusCode).toBe(400)
  return { statusCode, isOvertaken }
}

// At the same time, because each refusal waits.
describe.concurrent('above the limit', () => {
  test.for([
    ['/openapi.json', 200, 429],
    ['/console/config.json', 200, 429],
    [LIST, 401, 401],
    ['/nowhere', 404, 404],
  ] as const)(
    'of an address, %s without a token waits, and calls with one do not',
    async ([url, below, above], { expect }) => {
      const address = `2001:db8:0:${url.length}::1`
      for (let n = 0; n < LIMIT; n++) expect((await app.inject({ url, remoteAddress: address })).statusCode).toBe(below)
      expect(await ask(url, address)).toEqual({ statusCode: above, isOvertaken: true })
    },
  )

  test('a connection is not read while its answer waits, and works afterwards', async ({ expect }) => {
    const socket = connect(port, '127.0.0.1')
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    const answers = (count: number) => expect.poll(() => text.match(/HTTP\/1\.1 (200|429)/g)?.length ?? 0).toBe(count)
    for (let n = 1; n <= LIMIT; n++) {
      socket.write(get('/console/config.json'))
      await answers(n)
    }
    socket.write(get('/console/config.json'))
    await answers(LIMIT + 1)
    socket.write(get('/console/config.json'))
    await answers(LIMIT + 2)
    socket.destroy()
  })

  test('answers of a connection wait one after the other, and it is closed if there are many', async ({ expect }) => {
    const get = 'GET /console/config.json HTTP/1.1\r\nhost: test\r\n\r\n'
    async function answersTo(count: number): Promise<{ answers: number; ms: number }> {
      const socket = connect(port, '127.0.0.1')
      let text = ''
      const begin = performance.now()
      socket.write(get.repeat(count - 1) + get.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
      socket.on('error', () => {})
      socket.on('data', chunk => {
        text += chunk
      })
      await closeOf(socket)
      return { answers: text.match(/HTTP\/1\.1 (200|429)/g)?.length ?? 0, ms: performance.now() - begin }
    }
    for (let n = 0; n < LIMIT; n++) await answersTo(1)
    const three = await answersTo(3)
    expect(three.answers).toBe(3)
    expect(three.ms).toBeGreaterThan(740)
    expect((await answersTo(100)).answers).toBe(0)
  })

  test('health checks wait, and calls with a token do not', async ({ expect }) => {
    const url = `http://127.0.0.1:${port}`
    for (let n = 0; n < LIMIT; n++) await fetch(`${url}/livez`)
    for (const path of ['/livez', '/readyz']) {
      const order: string[] = []
      const health = fetch(url + path).then(({ status }) => order.push(`${path} ${status}`))
      const other = fetch(url + LIST, { headers: { authorization } }).then(({ status }) =>
        order.push(`${LIST} ${status}`),
      )
      await Promise.all([health, other])
      expect(order).toEqual([`${LIST} 200`, `${path} 200`])
    }
  })

  test('a request that is not valid HTTP is not answered', async ({ expect }) => {
    async function answerTo(text: string): Promise<string> {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', chunk => {
        answer += chunk
      })
      socket.on('error', () => {})
      socket.write(text)
      await closeOf(socket)
      return answer
    }
    for (let n = 0; n < LIMIT; n++) await answerTo('nonsense\r\n\r\n')
    expect(await answerTo('nonsense\r\n\r\n')).toBe('')
    expect((await call('GET', LIST)).status).toBe(200)
  })

  test('connections that call at once are not answered at once', async ({ expect }) => {
    const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1'))
    const answered = sockets.map(async socket => {
      for (let n = 0; n <= LIMIT; n++) socket.write('GET /livez HTTP/1.1\r\nhost: test\r\n\r\n')
      let text = ''
      for await (const chunk of socket) {
        text += chunk
        if (text.match(/HTTP\/1\.1 200/g)?.length === LIMIT + 1) break
      }
      return performance.now()
    })
    const times = await Promise.all(answered)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(200)
  })
})

test('above two hundred a second, refusals of a principal wait, and its other calls do not', async () => {
  const limit = createSlowDown(0)
  const raw = { socket: { remoteAddress: '192.0.2.1' }, headers: {} }
  const request = { raw, principal: { subject: 'gateway' } }
  const other = { raw, principal: { subject: 'other' } }
  const begin = performance.now()
  let count = 0
  while (!limit.isAbove(request)) count += 1
  expect(count).toBeGreaterThanOrEqual(400)
  expect(count).toBeLessThan(402 + (performance.now() - begin) / 5)
  expect(limit.isAbove(other)).toBe(false)
})

test('above the limit, the refusals of a crowd of connections wait longer', async () => {
  const agents = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'))
  const begin = performance.now()
  const timeOf = async (socket: Socket, path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`)
    await once(socket, 'data')
    return performance.now() - begin
  }
  const refused = agents.map(socket => timeOf(socket, '/console/config.json'))
  const times = await Promise.all(refused)
  // Three hundred wait at last, so each of the last waits for three times as long: between 0.75 and 2.25 s.
  expect(Math.max(...times)).toBeGreaterThan(1_500)
  for (const socket of agents) socket.destroy()
})
