import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { type Answer, createPoster, type Poster } from '../../src/events/post.ts'
import { whenDone } from '../support/cleanup.ts'
import { urlOf } from '../support/listening.ts'

const DELIVERED = { delivered: true, response_code: 200, error: null }

interface Listening {
  url: string
  /** Connections that were opened to it. */
  sockets: Socket[]
}

/** A server on a free port, which answers as `handle` does. */
async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> {
  const server = createServer(handle)
  const sockets: Socket[] = []
  server.on('connection', socket => sockets.push(socket))
  return { url: `${await urlOf(server)}/`, sockets }
}

/** With what was answered. */
const answered = (text: string) => ({ ...DELIVERED, answer: text })

function aPoster(timeoutMs = 5_000): Poster {
  const poster = createPoster({ allowPrivate: true, timeoutMs })
  whenDone(() => poster.close())
  return poster
}

/** Answers after the body has arrived. */
function answer(body = ''): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    request.resume().on('end', () => response.end(body))
  }
}

test.each([
  ['no body', ''],
  ['a body', 'x'.repeat(60_000)],
])('requests one after the other share a connection if the response has %s', async (_, body) => {
  const receiver = await serve(answer(body))
  const poster = aPoster()
  for (let n = 0; n < 5; n++) expect(await poster.post(receiver.url, {}, '{}')).toMatchObject(DELIVERED)
  expect(receiver.sockets).toHaveLength(1)
})

test.each([100, 102])(
  'a receiver that keeps sending interim responses (%i) is cut off, and its attempt fails',
  async status => {
    const interim = `HTTP/1.1 ${status} x\r\n\r\n`
    const { url } = await serve(({ socket }) => {
      socket.on('error', () => {})
      const more = () => {
        while (socket.writable && socket.write(interim.repeat(100)));
      }
      socket.on('drain', more)
      more()
    })
    expect(await aPoster().post(url, {}, '{}')).toEqual({
      delivered: false,
      response_code: null,
      error: 'more than 16 interim responses (1xx)',
    })
  },
)

test('interim responses before an answer are ignored', async () => {
  const { url } = await serve((request, response) => {
    for (let n = 0; n < 16; n++) response.writeProcessing()
    answer()(request, response)
  })
  expect(await aPoster().post(url, {}, '{}')).toEqual(DELIVERED)
})

test('a receiver that keeps sending is cut off, and its answer counts', async () => {
  const receiver = await serve((request, response) => {
    request.resume()
    const more = () => {
      while (response.write('x'.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  })
  expect(await aPoster().post(receiver.url, {}, '{}')).toEqual(answered(`${'x'.repeat(499)}…`))
  await expect.poll(() => receiver.sockets.map(socket => socket.destroyed)).toEqual([true])
})

test('a receiver that never ends its response is cut off before the timeout, and its answer counts', async () => {
  const receiver = await serve((request, response) => {
    request.resume()
    response.write('{')
  })
  const began = performance.now()
  expect(await aPoster(60_000).post(receiver.url, {}, '{}')).toEqual(answered('{'))
  expect(performance.now() - began).toBeLessThan(20_000)
})

test('where the body decides it is waited for, and one that does not end says nothing', async () => {
  const judge = ({ text, isWhole }: Answer) => (isWhole && text === 'ok' ? 'taken' : 'failed')
  let end = (_: ServerResponse) => {}
  const receiver = await serve((request, response) => {
    request.resume()
    response.write('o', () => end(response))
  })
  const failed = { delivered: false, response_code: 200, error: 'the answer does not say that the message was taken' }
  expect(await aPoster(300).post(receiver.url, {}, '{}', judge)).toEqual({ ...failed, answer: 'o' })
  end = response => response.destroy()
  expect(await aPoster().post(receiver.url, {}, '{}', judge)).toMatchObject(failed)
  end = response => response.end('k')
  expect(await aPoster().post(receiver.url, {}, '{}', judge)).toEqual(answered('ok'))
})

test.each([
  ['the path', url => `Cannot POST ${url.pathname}`, 'Cannot POST /services/T01/…'],
  ['all of it', url => `<a href="${url.href}">`, '<a href="http://127.0.0.1/services/T01/…?sig=…">'],
  ['a decoded part', url => `no ${url.searchParams.get('sig')}!`, 'no …!'],
  ['an encoded part', url => `no ${encodeURIComponent(url.searchParams.get('sig') ?? '')}!`, 'no …!'],
  ['controls and marks of direction', () => 'a\u0000\u001b[31m\u202e\r\n\tb', 'a [31m b'],
] satisfies [string, (url: URL) => string, string][])(
  'an answer that repeats %s shows no secret',
  async (_, text, shown) => {
    const receiver = await serve((request, response) =>
      answer(text(new URL(request.url ?? '', 'http://127.0.0.1/')))(request, response),
    )
    const url = `${receiver.url}services/T01/0123456789abcdefghij?sig=a%2Fbcdefghijklmnopqrstuvwxyz`
    expect((await aPoster().post(url, {}, '{}')).answer).toBe(shown)
  },
)

test('a kept connection that the receiver closes is replaced within the same attempt', async () => {
  let requests = 0
  const receiver = await serve((request, response) => {
    requests += 1
    // Closes the connection instead of answering, as a server whose idle timeout ends when a request arrives.
    if (requests === 2) request.socket.destroy()
    else answer()(request, response)
  })
  const poster = aPoster()
  expect(await poster.post(receiver.url, {}, '{}')).toEqual(DELIVERED)
  expect(await poster.post(receiver.url, {}, '{}')).toEqual(DELIVERED)
  expect([requests, receiver.sockets.length]).toEqual([3, 2])
})

test('a fresh connection that the receiver closes is a failure, without a second request', async () => {
  let requests = 0
  const receiver = await serve(request => {
    requests += 1
    request.socket.destroy()
  })
  expect(await aPoster().post(receiver.url, {}, '{}')).toEqual({
    delivered: false,
    response_code: null,
    error: 'the connection failed: ECONNRESET',
  })
  expect(requests).toBe(1)
})

test('a receiver that does not answer in time is given up, and its connection closed', async () => {
  const receiver = await serve(request => request.resume())
  expect(await aPoster(200).post(receiver.url, {}, '{}')).toEqual({
    delivered: false,
    response_code: null,
    error: 'no answer within 0.2 s',
  })
  await expect.poll(() => receiver.sockets.map(socket => socket.destroyed)).toEqual([true])
})

test('a redirect is an answer, and is not followed', async () => {
  const receiver = await serve((request, response) => {
    request.resume()
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await aPoster().post(receiver.url, {}, '{}')).toMatchObject({ delivered: false, response_code: 307 })
})

test.each([
  ['nothing but garbage', 'garbage\r\n\r\n', 'the connection failed: HPE_INVALID_CONSTANT'],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'the connection failed',
  ],
])('a receiver that answers %s has failed', async (_, text, error) => {
  const server = createTcpServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(text))
  })
  const attempt = await aPoster().post(`${await urlOf(server)}/`, {}, '{}')
  expect(attempt).toMatchObject({ delivered: false, response_code: null })
  expect(attempt.error).toContain(error)
})

test('closing aborts what is under way, closes kept connections, and refuses later requests', async () => {
  let requests = 0
  const receiver = await serve((request, response) => {
    requests += 1
    if (requests === 1) answer()(request, response)
  })
  const poster = aPoster()
  const other = await serve(answer())
  await poster.post(other.url, {}, '{}')
  await poster.post(receiver.url, {}, '{}')
  const hanging = [poster.post(receiver.url, {}, '{}'), poster.post(receiver.url, {}, '{}')]
  await expect.poll(() => requests).toBe(3)
  poster.close()
  for (const attempt of await Promise.all(hanging)) expect(attempt).toMatchObject({ delivered: false })
  expect(await poster.post(receiver.url, {}, '{}')).toMatchObject({ delivered: false, response_code: null })
  // The kept one is not tried again: nothing is sent after closing.
  expect(requests).toBe(3)
  await expect.poll(() => [...receiver.sockets, ...other.sockets].every(socket => socket.destroyed)).toBe(true)
})

test('a private address is refused for each request, also beside a kept connection to it', async () => {
  const receiver = await serve(answer())
  const strict = createPoster({ allowPrivate: false, timeoutMs: 5_000 })
  whenDone(() => strict.close())
  const name = receiver.url.replace('127.0.0.1', 'localhost')
  for (const url of [receiver.url, name, name]) {
    expect(await strict.post(url, {}, '{}')).toMatchObject({ error: 'the address is not on the public internet' })
  }
  expect(receiver.sockets).toEqual([])
})
