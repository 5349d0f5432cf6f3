/** An HTTP proxy before two services, which loses, delays, doubles and cuts what passes it, and answers by itself. */
import { once } from 'node:events'
import { Agent, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { whenDone } from '../cleanup.ts'
import { serve } from '../listening.ts'
import type { Fault, FaultKind, Forecast } from './weather.ts'

/** A request as it passed the proxy. */
interface Passage {
  /** In milliseconds since the proxy was started. */
  readonly at: number
  readonly sender: string
  readonly path: string
  readonly body: string
  readonly fault: FaultKind
  /** What the services answered, in order, and the proxy; null if there was no answer. */
  readonly answers: ({ readonly status: number; readonly body: string } | null)[]
}

export interface LossyProxy {
  /** @returns where a sender finds the services */
  urlOf(sender: string): Promise<string>
  readonly passages: readonly Passage[]
  readonly counts: ReadonlyMap<FaultKind, number>
  /** Resolves when no request is on its way to a service any more. */
  settled(): Promise<void>
}

interface HttpCall {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What connects two machines only. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'host',
  'content-length',
])

/** A request that was delivered a second time. Its times are of `performance.now()`. */
export interface Repetition {
  readonly method: string
  readonly path: string
  readonly body: Buffer
  readonly invoked: number
  readonly returned: number
  readonly answer: { readonly status: number; readonly body: Buffer } | null
}

/** @param portOf a service for the next request; undefined if it does not run */
export function createProxy(
  forecast: Forecast,
  portOf: () => number | undefined,
  onRepetition: (repetition: Repetition) => void = () => {},
): LossyProxy {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  const passages: Passage[] = []
  const counts = new Map<FaultKind, number>()
  /** Those that have not reached their service yet, or that it has not answered. */
  const underway = new Set<Promise<unknown>>()

  /** @returns null if the service does not answer */
  function forward(httpCall: HttpCall, passage: Passage): Promise<Answer | null> {
    const forwarded = exchangeWith(agent, portOf(), httpCall).catch(() => null)
    underway.add(forwarded)
    return forwarded.then(answer => {
      underway.delete(forwarded)
      passage.answers.push(answer === null ? null : { status: answer.status, body: answer.body.toString() })
      return answer
    })
  }

  /** @returns what it answers; undefined: nothing, for ever; null: the connection ends */
  async function pass(httpCall: HttpCall, fault: Fault, passage: Passage): Promise<Answer | null | undefined> {
    switch (fault.kind) {
      case 'none':
      case 'answer cut':
        return forward(httpCall, passage)
      case 'request lost':
        return fault.isSilent ? undefined : null
      case 'answer lost':
        await forward(httpCall, passage)
        return fault.isSilent ? undefined : null
      case 'request late':
        await later(fault.ms)
        return forward(httpCall, passage)
      case 'answer late': {
        const answer = await forward(httpCall, passage)
        await later(fault.ms)
        return answer
      }
      case 'doubled': {
        const first = await forward(httpCall, passage)
        const second = later(fault.ms).then(async () => {
          const invoked = performance.now()
          const answer = await forward(httpCall, passage)
          onRepetition({ ...httpCall, invoked, returned: performance.now(), answer })
          return answer
        })
        return fault.isSecondAnswered ? second : first
      }
      case 'request cut':
        await cutAt(agent, portOf(), httpCall)
        return null
      case 'answered': {
        const { status, headers, body } = fault.answer
        passage.answers.push({ status, body })
        return { status, headers, body: Buffer.from(body) }
      }
    }
  }

  function later(ms: number): Promise<void> {
    const waiting = pause(ms)
    underway.add(waiting)
    return waiting.then(() => void underway.delete(waiting))
  }

  async function handle(sender: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const httpCall = {
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: endToEnd(request.headers),
      body: await buffer(request),
    }
    const fault = forecast.next()
    counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1)
    const at = Math.round(performance.now() - began)
    const passage = { at, sender, path: httpCall.path, body: httpCall.body.toString(), fault: fault.kind, answers: [] }
    passages.push(passage)
    const answer = await pass(httpCall, fault, passage)
    if (answer === undefined) return
    if (answer === null) {
      response.destroy()
      return
    }
    const { status, headers, body } = answer
    response.writeHead(status, { ...headers, 'content-length': body.length })
    if (fault.kind !== 'answer cut') response.end(body)
    else response.write(body.subarray(0, body.length / 2), () => response.destroy())
  }

  whenDone(() => agent.destroy())
  return {
    urlOf: sender =>
      serve((request, response) => {
        handle(sender, request, response).catch(() => response.destroy())
      }),
    passages,
    counts,
    async settled() {
      while (underway.size > 0) await Promise.allSettled(underway)
    },
  }
}

function endToEnd(headers: IncomingMessage['headers']): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!HOP_BY_HOP.has(name) && value !== undefined) kept[name] = String(value)
  }
  return kept
}

/** Rejects if the service does not answer in full. */
async function exchangeWith(agent: Agent, port: number | undefined, httpCall: HttpCall): Promise<Answer> {
  if (port === undefined) throw new Error('the service does not run')
  const { method, path, body, headers } = httpCall
  const request = send({ agent, port, method, path, headers: { ...headers, 'content-length': body.length } })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 500, headers: endToEnd(response.headers), body: await buffer(response) }
}

/** Delivers half of the body, and ends the connection. */
async function cutAt(agent: Agent, port: number | undefined, { method, path, headers, body }: HttpCall): Promise<void> {
  if (port === undefined) return
  const request = send({ agent, port, method, path, headers: { ...headers, 'content-length': body.length } })
  request.on('error', () => {})
  await new Promise<void>(resolve => {
    request.on('error', () => resolve())
    request.write(body.subarray(0, body.length / 2), () => resolve())
  })
  request.destroy()
}
