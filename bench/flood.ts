/** A client that misbehaves: it floods the service with one kind of request, or sends bodies slowly. A process of its own. */
import { randomBytes, randomInt } from 'node:crypto'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import { openConnection } from './load-generator/connection.ts'
import { serveParent } from './servers/worker.ts'

/** What it sends; a path is asked for without a token. */
export type FloodKind = 'reads' | 'slow bodies' | 'forged tokens' | 'invalid calls' | 'reserves' | `/${string}`

export interface FloodJob {
  kind: FloodKind
  url: string
  /** A valid token: a sender's, or that of the caller who reads. */
  token: string
  /** What is read, one call at a time on each connection. */
  path?: string
  connections: number
  /** Reserves are for the users 1 to this. */
  users: number
  ms: number
}

/** Calls in flight on a connection. */
const DEPTH = 4

serveParent((job: FloodJob) => run(job))

/** Resolves to how many answers came, by status. */
async function run(job: FloodJob): Promise<Record<number, number>> {
  // The service and the polite senders come first: the flood's own cost is none of the service's.
  setPriority(constants.priority.PRIORITY_LOW)
  const until = performance.now() + job.ms
  const answers: Record<number, number> = {}
  const flood = job.kind === 'slow bodies' ? dribble : job.kind === 'reads' ? readAtFullForce : callAtFullForce
  await Promise.all(Array.from({ length: job.connections }, () => flood(job, until, answers)))
  return answers
}

/** Reads a path again and again, whole answers of any length. Calls that still run at the end are given up. */
async function readAtFullForce(
  { url, path = '/', token, ms }: FloodJob,
  until: number,
  answers: Record<number, number>,
) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const signal = AbortSignal.timeout(ms)
  while (performance.now() < until) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const request = get(`${url}${path}`, { agent, signal, headers: { authorization: `Bearer ${token}` } }, response => {
      response.resume().once('close', () => {
        if (response.complete) answers[response.statusCode ?? 0] = (answers[response.statusCode ?? 0] ?? 0) + 1
        resolve()
      })
    })
    request.once('error', () => resolve())
    await promise
  }
  agent.destroy()
}

/** Sends a call for each answer, on a new connection if the service closes the old one. */
async function callAtFullForce(job: FloodJob, until: number, answers: Record<number, number>): Promise<void> {
  const { hostname: host, port } = new URL(job.url)
  while (performance.now() < until) {
    const lost = Promise.withResolvers<void>()
    let answered = 0
    const connection = await openConnection({
      host,
      port: Number(port),
      onResponse(status) {
        answers[status] = (answers[status] ?? 0) + 1
        answered += 1
      },
      onChunkEnd() {
        for (; answered > 0; answered--) connection.send(requestOf(job))
      },
      onLost: () => lost.resolve(),
    })
    for (let n = 0; n < DEPTH; n++) connection.send(requestOf(job))
    const timer = setTimeout(lost.resolve, Math.max(1, until - performance.now()))
    await lost.promise
    clearTimeout(timer)
    connection.close()
  }
}

function requestOf({ kind, token, users }: FloodJob): string {
  if (kind.startsWith('/')) return `GET ${kind} HTTP/1.1\r\nhost: flood\r\n\r\n`
  // Well-formed, and signed with another key.
  const forged = () => `${token.slice(0, token.lastIndexOf('.'))}.${randomBytes(32).toString('base64url')}`
  const bearer = kind === 'forged tokens' ? forged() : token
  const body = kind === 'reserves' ? reserveBody(users) : '{"user_id":"x"}'
  return `POST /api/sms/sender/quota/reserve HTTP/1.1\r\nhost: flood\r\nauthorization: Bearer ${bearer}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Each has another id. */
function reserveBody(users: number): string {
  return `{"user_id":${1 + randomInt(users)},"id":"f-${randomBytes(9).toString('hex')}","units":1}`
}

/** Begins a batch of 1 MB and sends a byte of it every 100 ms, again when the service ends it. */
async function dribble({ url, token }: FloodJob, until: number, answers: Record<number, number>): Promise<void> {
  const { hostname: host, port } = new URL(url)
  while (performance.now() < until) {
    const ended = Promise.withResolvers<void>()
    const socket = connect(Number(port), host)
    socket.write(
      `POST /api/sms/sender/quota/batch HTTP/1.1\r\nhost: flood\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{"operations":[`,
    )
    const timer = setInterval(() => {
      if (performance.now() < until) socket.write(' ')
      else ended.resolve()
    }, 100)
    socket.on('data', chunk => {
      const status = Number(String(chunk).slice(9, 12))
      answers[status] = (answers[status] ?? 0) + 1
      ended.resolve()
    })
    socket.on('error', () => ended.resolve())
    await ended.promise
    clearInterval(timer)
    socket.destroy()
  }
}
