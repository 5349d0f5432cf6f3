/** The process that receives webhooks: it answers 204 after the milliseconds in the path, and counts by webhook. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveParent } from './servers/worker.ts'

export type ReceiverJob = { do: 'listen' } | { do: 'count' }

/** What came to a path, `/<webhook>/<milliseconds>`. */
export interface Received {
  path: string
  count: number
  /** From the first request to the last, in seconds. */
  seconds: number
}

const received = new Map<string, { count: number; first: number; last: number }>()

const server = createServer((request, response) => {
  const path = request.url ?? ''
  const now = performance.now()
  const known = received.get(path) ?? { count: 0, first: now, last: now }
  received.set(path, { ...known, count: known.count + 1, last: now })
  request.resume()
  setTimeout(() => response.writeHead(204).end(), Number(path.split('/')[2]))
})

serveParent(async (job: ReceiverJob) => {
  if (job.do === 'count') {
    return [...received].map(([path, { count, first, last }]) => ({ path, count, seconds: (last - first) / 1_000 }))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
