/** Answers to requests that a client sends ahead: those that are ready at once take one write. */
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { boundPipelining, MAX_PIPELINED } from '../../src/http/platform/pipelining.ts'
import { urlOf } from '../support/listening.ts'
import { closeOf } from '../support/sockets.ts'

const GET = 'GET / HTTP/1.1\r\nhost: test\r\n\r\n'
const LAST = 'GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n'

/** A server that keeps its responses until the test answers them, and a client. Counts what is written to the connection. */
async function startServer() {
  const waiting: ServerResponse[] = []
  let writes = 0
  const server = createServer(boundPipelining((_request, response) => void waiting.push(response)))
  server.on('connection', (socket: Socket) => {
    const { _write, _writev } = socket
    socket._write = (...parts) => {
      writes += 1
      _write.apply(socket, parts)
    }
    socket._writev = (...parts) => {
      writes += 1
      _writev?.apply(socket, parts)
    }
  })
  const client = connect(Number(new URL(await urlOf(server)).port), '127.0.0.1')
  let text = ''
  client.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  onTestFinished(() => void client.destroy())
  return {
    server,
    client,
    writes: () => writes,
    /** The bodies that the client has. */
    bodies: () => [...text.matchAll(/\r\n\r\n([^H]*)/g)].map(([, body]) => body),
    /** The responses to this many requests, once they are there. */
    async responses(count: number) {
      await expect.poll(() => waiting.length).toBe(count)
      return waiting.splice(0)
    },
  }
}

test('answers that are ready in one tick are written at once, in their order', async () => {
  const { client, writes, bodies, responses } = await startServer()
  client.write(GET.repeat(5))
  for (const [index, response] of (await responses(5)).entries()) response.end(`<${index}>`)
  await expect.poll(bodies).toEqual(['<0>', '<1>', '<2>', '<3>', '<4>'])
  expect(writes()).toBe(1)

  client.write(GET.repeat(3))
  for (const [index, response] of (await responses(3)).toReversed().entries()) response.end(`<${index}>`)
  await expect.poll(bodies).toHaveLength(8)
  expect(bodies().slice(5)).toEqual(['<2>', '<1>', '<0>'])
  expect(writes()).toBe(2)
})

test('an answer of several parts stays behind those that are held', async () => {
  const { client, bodies, responses } = await startServer()
  client.write(GET.repeat(4))
  const [first, second, ...others] = await responses(4)
  first?.end('<0>')
  second?.writeHead(200, { 'content-length': 6 })
  second?.write('<1')
  second?.write('...')
  second?.end('>')
  for (const response of others) response.end('<2>')
  await expect.poll(bodies).toEqual(['<0>', '<1...>', '<2>', '<2>'])
})

test('an answer that no other waits behind is written without delay', async () => {
  const { client, writes, bodies, responses } = await startServer()
  for (let count = 1; count <= 3; count++) {
    client.write(GET)
    const [response] = await responses(1)
    response?.end('<alone>')
    expect(writes()).toBe(count)
    await expect.poll(bodies).toHaveLength(count)
  }
})

test('answers that are larger than what may be held arrive whole and in order, also to a client that reads late', async () => {
  const { client, bodies, responses } = await startServer()
  client.pause()
  client.write(GET.repeat(20))
  for (const [index, response] of (await responses(20)).entries()) response.end(`${index}`.repeat(400_000))
  client.resume()
  await expect.poll(bodies, { timeout: 10_000 }).toHaveLength(20)
  await expect.poll(() => bodies().at(-1)).toHaveLength(800_000)
  expect(bodies().every((body, index) => body === `${index}`.repeat(400_000))).toBe(true)
})

test('once the system takes no more, an answer is not written before the client reads', async () => {
  const { client, responses } = await startServer()
  client.pause()
  const open: ServerResponse[] = []
  let isFull = false
  for (let round = 0; round < 8 && !isFull; round++) {
    const asked = MAX_PIPELINED - open.length
    client.write(GET.repeat(asked))
    open.push(...(await responses(asked)))
    // The last one stays open: the client is ahead all the time.
    for (const response of open.splice(0, MAX_PIPELINED - 1)) {
      response.end('x'.repeat(60_000))
      await nextTick()
      isFull ||= !response.writableFinished
    }
  }
  expect(isFull).toBe(true)
})

test('what is held is written before the connection closes', async () => {
  const { server, client, bodies, responses } = await startServer()
  client.write(GET.repeat(2))
  const answered = await responses(2)
  // Before the end of the tick, and then the connection counts as idle.
  setImmediate(() => server.closeIdleConnections())
  for (const response of answered) response.end('<kept>')
  await closeOf(client)
  expect(bodies()).toEqual(['<kept>', '<kept>'])
})

test('the last answer of a connection ends it behind all others', async () => {
  const { client, bodies, responses } = await startServer()
  client.write(GET.repeat(2) + LAST)
  for (const [index, response] of (await responses(3)).entries()) response.end(`<${index}>`)
  await closeOf(client)
  expect(bodies()).toEqual(['<0>', '<1>', '<2>'])
})
