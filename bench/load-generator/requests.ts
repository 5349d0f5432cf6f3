/** The requests of one connection of the load generator: each operation reserves one unit for a random user. */
import { createProcesses } from '../../client/src/processes.ts'
import type { Job } from './job.ts'

/** The requests of one connection, and the check of their responses. */
export interface Requests {
  /** Serializes the next request. */
  next(): string
  /**
   * Takes the response to the oldest request that has none: its status and its body, `bytes` from `start` to `end`.
   * Returns how many of its operations had another outcome than expected.
   */
  take(status: number, bytes: Buffer, start: number, end: number): number
}

export const SENDER_PATH = '/api/sms/sender/quota'
const GRANTED = '"granted":true'

/**
 * @param connection the number of the connection, from 0: each sends its own ids, and another sequence of users
 * @param homes of `homesOf`; undefined if each connection sends calls of all users
 */
export function createReserves(job: Job, connection: number, homes: Homes | undefined): Requests {
  const { users, firstUser = 1, operations } = job
  const own = homes?.get(urlOf(job, connection).href)
  if (homes !== undefined && own === undefined) throw new Error('a server of the job has no user')
  const post = postOf(job, connection)
  const path = `${SENDER_PATH}/${operations === 1 ? 'reserve' : 'batch'}`
  const random = seededRandom(connection)
  let made = 0
  const fields = () => {
    made += 1
    const user = own?.[Math.floor(random() * own.length)] ?? firstUser + Math.floor(random() * users)
    return `"user_id":${user},"id":"${job.prefix}${connection}-${made}","units":1${recipientOf(job)}`
  }
  const batch = () => {
    let list = ''
    for (let n = 0; n < operations; n++) list += `${n === 0 ? '' : ','}{"op":"reserve",${fields()}}`
    return `{"operations":[${list}]}`
  }
  return {
    next: () => post(path, operations === 1 ? `{${fields()}}` : batch()),
    take: (status, bytes, start, end) =>
      operations - (status === 200 ? grantsIn(bytes, { start, end, max: operations }) : 0),
  }
}

/** The users of each server of a job with affinity, by its URL; undefined without. */
export type Homes = ReadonlyMap<string, readonly number[]>

export function homesOf({ urls, users, firstUser = 1, hasAffinity = false }: Job): Homes | undefined {
  if (!hasAffinity) return undefined
  const processes = createProcesses(urls, () => 0)
  const all = Array.from({ length: users }, (_, index) => firstUser + index)
  return Map.groupBy(all, user => new URL(processes.of(user).base).href)
}

/** Returns a function that serializes a POST request to the server of this connection. */
export function postOf(job: Job, connection: number): (path: string, body: string) => string {
  const headers = `${headersOf(job, connection)}content-type: application/json\r\ncontent-length: `
  return (path, body) => `POST ${path} HTTP/1.1\r\n${headers}${body.length}\r\n\r\n${body}`
}

export function headersOf(job: Job, connection: number): string {
  return `host: ${urlOf(job, connection).host}\r\nauthorization: Bearer ${job.token}\r\n`
}

/** The servers of a job take its connections in rotation. */
export function urlOf({ urls }: Job, connection: number): URL {
  const url = urls[connection % urls.length]
  if (url === undefined) throw new Error('the job names no server')
  return new URL(url)
}

/** Grants in a body, at most `max`. */
export function grantsIn(bytes: Buffer, { start, end, max }: { start: number; end: number; max: number }): number {
  let count = 0
  let at = bytes.indexOf(GRANTED, start, 'latin1')
  while (at >= 0 && at < end) {
    count += 1
    if (count === max) return count
    at = bytes.indexOf(GRANTED, at + 1, 'latin1')
  }
  return count
}

/** Uniform random numbers from 0 to 1, the same in every run (xorshift). @param stream an integer from 0 */
export function seededRandom(stream: number): () => number {
  let state = Math.imul(stream + 1, 0x9e3779b9) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

const FIRST_NUMBER = 491_500_000_000

const recipientOf = ({ recipients }: Job) =>
  recipients === undefined ? '' : `,"recipient":"+${FIRST_NUMBER + Math.floor(Math.random() * recipients)}"`
