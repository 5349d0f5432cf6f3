import type { ServerResponse } from 'node:http'
import { serve } from './listening.ts'

export interface Delivery {
  headers: Record<string, string>
  body: string
}

export interface Receiver {
  readonly url: string
  /** All requests received. */
  readonly deliveries: Delivery[]
  /** The `webhook-id` of each request that was answered with 2xx. */
  readonly received: string[]
  /** Its answer from now on: a status, or none. */
  answer: number | 'hang'
  /** The body of its answers. */
  body: string
  /** Headers of its answers. */
  headers: Record<string, string>
}

/** Call this where tests are declared. */
export async function createReceiver(): Promise<Receiver> {
  const hanging = new Set<ServerResponse>()
  const url = await serve((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', text => {
      body += text
    })
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      receiver.deliveries.push({ headers, body })
      if (receiver.answer === 'hang') {
        hanging.add(response)
        return
      }
      if (receiver.answer < 300) receiver.received.push(headers['webhook-id'] ?? '')
      response.writeHead(receiver.answer, { location: '/elsewhere', ...receiver.headers }).end(receiver.body)
    })
  })
  const receiver: Receiver = {
    url: `${url}/hook`,
    deliveries: [],
    received: [],
    answer: 204,
    body: '{"text":"of the receiver"}',
    headers: {},
  }
  return receiver
}
