/** How the door reads one connection: turns, bounds, times, and when it goes to Node.js. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Answer,
  type DoorConnection,
  type DoorParts,
  MAX_UNANSWERED,
  readConnection,
  type TakePlainCall,
} from '../../src/http/door/connection.ts'
import { urlOf } from '../support/listening.ts'
import { closeOf } from '../support/sockets.ts'

const TIMES = { slowMs: 1_000, idleMs: 72_000, stallMs: 30_000 }

const plain = (id: string) =>
  `POST /api/sms/sender/quota/check HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer a\r\nX-Request-Id: ${id}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`

/** A connection of the door, and its client. Turns, flushes and the socket that is given away wait for the test. */
async function startConnection(take?: TakePlainCall) {
  const taken: { id: string | undefined; answer: Answer }[] = []
  const turns: DoorConnection[] = []
  const adopted: Socket[] = []
  let forgotten = 0
  const parts = {
    take: take ?? (({ head }, answer) => taken.push({ id: head.requestId, answer }) > 0),
    heldBytes: 0,
    isClosing: false as boolean,
    keepAlive: '',
    turnLater: connection => void turns.push(connection),
    flushLater: connection => connection.flush(),
    adopt: socket => void adopted.push(socket),
    forget: () => void forgotten++,
  } satisfies DoorParts
  const server = createServer({ allowHalfOpen: true })
  const client = connect(Number(new URL(await urlOf(server)).port), '127.0.0.1')
  const [socket]: Socket[] = await once(server, 'connection')
  if (socket === undefined) throw new Error('no connection')
  const startedAt = performance.now()
  const connection = readConnection(socket, parts)
  let text = ''
  client.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  onTestFinished(() => void client.destroy())
  return {
    ...{ parts, client, socket, connection, taken, turns, adopted, startedAt },
    ids: () => taken.map(({ id }) => id),
    forgotten: () => forgotten,
    bodies: () => [...text.matchAll(/\r\n\r\n([^H]*)/g)].map(([, body]) => body),
    text: () => text,
    answerAll: () => {
      for (const { id, answer } of taken.splice(0)) answer(200, '', `<${id}>`)
    },
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index))

test('takes four requests a turn, and leaves the rest for the next one', async () => {
  const { client, ids: takenIds, turns } = await startConnection()
  client.write(ids(10).map(plain).join(''))
  await expect.poll(() => turns.length).toBe(1)
  expect(takenIds()).toEqual(ids(4))
  turns[0]?.turn()
  expect(takenIds()).toEqual(ids(8))
  turns[1]?.turn()
  expect(takenIds()).toEqual(ids(10))
  expect(turns).toHaveLength(2)
})

test('reads no further while too many requests have no answer, and goes on with the first answers', async () => {
  const { client, taken, ids: takenIds, turns, bodies } = await startConnection()
  client.write(
    ids(MAX_UNANSWERED + 3)
      .map(plain)
      .join(''),
  )
  for (let turn = 0; turn < MAX_UNANSWERED / 4; turn++) {
    await expect.poll(() => turns.length).toBeGreaterThan(turn)
    turns[turn]?.turn()
  }
  expect(takenIds()).toEqual(ids(MAX_UNANSWERED))
  taken[1]?.answer(200, '', '<1>')
  expect(takenIds()).toHaveLength(MAX_UNANSWERED)
  taken[0]?.answer(200, '', '<0>')
  expect(takenIds()).toEqual(ids(MAX_UNANSWERED + 2))
  await expect.poll(bodies).toEqual(['<0>', '<1>'])
})

test('a request that is not plain goes to Node.js after the answers before it, with all bytes that follow', async () => {
  const { client, socket, adopted, ids: takenIds, answerAll, bodies, forgotten } = await startConnection()
  const rest = `GET / HTTP/1.1\r\nHost: test\r\n\r\n${plain('2')}`
  client.write(plain('0') + plain('1') + rest)
  await expect.poll(takenIds).toEqual(['0', '1'])
  expect(adopted).toEqual([])
  answerAll()
  await expect.poll(() => adopted.length).toBe(1)
  expect(forgotten()).toBe(1)
  socket.setEncoding('latin1')
  const [read] = await once(socket, 'data')
  expect(read).toBe(rest)
  await expect.poll(bodies).toEqual(['<0>', '<1>'])
})

test('goes to Node.js once, also when all that filled it is answered at once', async () => {
  const { client, adopted, ids: takenIds, taken, turns } = await startConnection()
  client.write(`${ids(MAX_UNANSWERED).map(plain).join('')}GET / HTTP/1.1\r\n\r\n`)
  for (let turn = 0; turn < MAX_UNANSWERED / 4; turn++) {
    await expect.poll(() => turns.length).toBeGreaterThan(turn)
    turns[turn]?.turn()
  }
  expect(takenIds()).toEqual(ids(MAX_UNANSWERED))
  for (const { answer } of taken.toReversed()) answer(200, '', '')
  expect(adopted).toHaveLength(1)
  adopted[0]?.destroy()
})

test('a token that is being verified holds its connection; one that is refused goes to Node.js', async () => {
  const verified = Promise.withResolvers<void>()
  let isKnown = false
  let asked = 0
  const { client, adopted, bodies } = await startConnection((_call, answer) => {
    asked += 1
    if (!isKnown) return verified.promise
    answer(200, '', '<ok>')
    return true
  })
  client.write(plain('0') + plain('1'))
  await expect.poll(() => asked).toBe(1)
  isKnown = true
  verified.resolve()
  await expect.poll(bodies).toEqual(['<ok>', '<ok>'])

  const refused = await startConnection(() => Promise.reject(new Error('refused')))
  refused.client.write(plain('0'))
  await expect.poll(() => refused.adopted.length).toBe(1)
  expect(adopted).toEqual([])
})

test('who is slow with a request, or sends none, goes to Node.js after a second', async () => {
  for (const bytes of ['', plain('0').slice(0, -1), 'POST /api']) {
    const { client, socket, connection, adopted, startedAt } = await startConnection()
    if (bytes !== '') {
      const arrived = once(socket, 'data')
      client.write(bytes)
      await arrived
    }
    connection.check(startedAt, TIMES)
    expect(adopted).toEqual([])
    connection.check(performance.now() + TIMES.slowMs, TIMES)
    expect(adopted).toEqual([socket])
  }
})

test('who sends a request a byte now and then goes to Node.js as soon', async () => {
  const { client, connection, adopted, parts } = await startConnection()
  const bytes = plain('0')
  client.write(bytes.slice(0, 1))
  await expect.poll(() => parts.heldBytes).toBe(1)
  const now = performance.now()
  connection.check(now + TIMES.slowMs / 2, TIMES)
  expect(adopted).toEqual([])
  client.write(bytes.slice(1, 2))
  await expect.poll(() => parts.heldBytes).toBe(2)
  connection.check(now + TIMES.slowMs, TIMES)
  expect(adopted).toHaveLength(1)
})

test('goes to Node.js while its client has yet to take the answers before', async () => {
  const { client, socket, taken, adopted } = await startConnection()
  client.pause()
  client.write(`${plain('0')}GET / HTTP/1.1\r\n\r\n`)
  await expect.poll(() => taken.length).toBe(1)
  socket.cork()
  taken[0]?.answer(200, '', '<0>')
  expect(socket.writableLength).toBeGreaterThan(0)
  expect(adopted).toEqual([socket])
})

test('takes nothing of a client that has gone', async () => {
  const { client, socket, ids: takenIds, turns } = await startConnection()
  client.write(ids(8).map(plain).join(''))
  await expect.poll(() => turns.length).toBe(1)
  socket.destroy()
  turns[0]?.turn()
  expect(takenIds()).toEqual(ids(4))
})

test('what all connections hold of unfinished requests is bounded', async () => {
  const { client, parts, adopted } = await startConnection()
  parts.heldBytes = 4 * 1024 * 1024
  client.write(plain('0').slice(0, -1))
  await expect.poll(() => adopted.length).toBe(1)
  expect(parts.heldBytes).toBe(4 * 1024 * 1024)
})

test('an unfinished request counts until it is taken', async () => {
  const { client, parts, ids: takenIds } = await startConnection()
  const bytes = plain('0')
  client.write(bytes.slice(0, -1))
  await expect.poll(() => parts.heldBytes).toBe(bytes.length - 1)
  client.write(bytes.slice(-1))
  await expect.poll(takenIds).toEqual(['0'])
  expect(parts.heldBytes).toBe(0)
})

test('a connection that is idle between requests ends by its time', async () => {
  const { client, connection, taken, answerAll } = await startConnection()
  client.write(plain('0'))
  await expect.poll(() => taken.length).toBe(1)
  answerAll()
  const now = performance.now()
  connection.check(now, TIMES)
  connection.check(now + TIMES.idleMs - 1_000, TIMES)
  expect(client.destroyed).toBe(false)
  connection.check(now + TIMES.idleMs, TIMES)
  await closeOf(client)
})

test('one that does not read its answers ends by its time', async () => {
  const { client, socket, connection, taken } = await startConnection()
  client.pause()
  client.write(plain('0'))
  await expect.poll(() => taken.length).toBe(1)
  taken[0]?.answer(200, '', 'x'.repeat(20_000_000))
  connection.check(performance.now(), TIMES)
  expect(socket.destroyed).toBe(false)
  connection.check(performance.now() + TIMES.stallMs, TIMES)
  expect(socket.destroyed).toBe(true)
})

test('a client that has sent all gets its answers, then the end', async () => {
  const { client, taken, answerAll, bodies } = await startConnection()
  client.end(plain('0'))
  await expect.poll(() => taken.length).toBe(1)
  answerAll()
  await closeOf(client)
  expect(bodies()).toEqual(['<0>'])
})

test('at a stop, a client that neither closes nor stops sending is heard no longer, and closed by its time', async () => {
  const { client, parts, socket, connection, ids: takenIds } = await startConnection()
  client.allowHalfOpen = true
  parts.isClosing = true
  connection.close()
  await once(client, 'end')
  const arrived = once(socket, 'data')
  client.write(plain('0'))
  await arrived
  expect(takenIds()).toEqual([])
  connection.check(performance.now(), TIMES)
  expect(socket.destroyed).toBe(false)
  connection.check(performance.now() + TIMES.stallMs, TIMES)
  expect(socket.destroyed).toBe(true)
})

test('at a stop, what is due is answered, and the connection ends', async () => {
  const { client, parts, connection, taken, answerAll, text } = await startConnection()
  client.write(plain('0'))
  await expect.poll(() => taken.length).toBe(1)
  parts.isClosing = true
  connection.close()
  expect(client.destroyed).toBe(false)
  answerAll()
  await closeOf(client)
  expect(text()).toContain('connection: close\r\n')
})

test('at a stop, what was sent ahead is answered, only the last answer says that it is the last, and no request is taken after it', async () => {
  const { client, parts, connection, taken, ids: takenIds, bodies, text } = await startConnection()
  client.write(plain('0') + plain('1'))
  await expect.poll(takenIds).toEqual(['0', '1'])
  const calls = taken.slice()
  parts.isClosing = true
  connection.close()
  for (const { id, answer } of calls) answer(200, '', `<${id}>`)
  client.write(plain('2'))
  await closeOf(client)
  expect(takenIds()).toEqual(['0', '1'])
  expect(bodies()).toEqual(['<0>', '<1>'])
  expect(text().match(/connection: close/g)).toHaveLength(1)
  expect(text().indexOf('connection: close')).toBeGreaterThan(text().indexOf('<0>'))
})

test('at a stop, a request that has arrived is answered by the door before the last answer, or not taken', async () => {
  const { client, parts, connection, taken, turns, bodies, ids: takenIds, text } = await startConnection()
  client.write(ids(6).map(plain).join(''))
  await expect.poll(() => turns.length).toBe(1)
  parts.isClosing = true
  connection.close()
  for (const { id, answer } of taken.slice()) answer(200, '', `<${id}>`)
  turns[0]?.turn()
  await closeOf(client)
  expect(takenIds()).toEqual(ids(4))
  expect(bodies()).toEqual(ids(4).map(id => `<${id}>`))
  expect(text()).toMatch(/connection: close\r\n[^H]*<3>$/)
})

test('at a stop, a client that goes on sending ahead has no further request taken, and gets its last answer', async () => {
  const { client, parts, socket, connection, taken, bodies, ids: takenIds, text } = await startConnection()
  client.write(plain('0') + plain('1'))
  await expect.poll(takenIds).toEqual(['0', '1'])
  parts.isClosing = true
  connection.close()
  const arrived = once(socket, 'data')
  client.write(ids(3).map(plain).join(''))
  await arrived
  expect(takenIds()).toEqual(['0', '1'])
  expect(socket.isPaused()).toBe(true)
  for (const { id, answer } of taken.slice()) answer(200, '', `<${id}>`)
  await closeOf(client)
  expect(bodies()).toEqual(['<0>', '<1>'])
  expect(text()).toMatch(/connection: close\r\n[^H]*<1>$/)
})

test('a token that is not known even when it was verified goes to Node.js', async () => {
  let asked = 0
  const { client, adopted } = await startConnection(() => {
    asked += 1
    return Promise.resolve()
  })
  client.write(plain('0'))
  await expect.poll(() => adopted.length).toBe(1)
  expect(asked).toBe(2)
})
