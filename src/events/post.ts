import http from 'node:http'
import https from 'node:https'
import type { Attempt } from '../db/webhooks/deliveries.ts'
import { ForbiddenAddress, isPublicAddress, literalAddress, lookupPublic } from './addresses.ts'
import { answerText, secretsOf } from './answer.ts'

export interface PosterOptions {
  /** Whether private addresses may be reached. */
  allowPrivate: boolean
  /** How long a receiver may take until the head of its response has arrived, in milliseconds. */
  timeoutMs: number
}

/** Before most servers close a connection that is not used (Node.js does after 5 s). */
const KEEP_ALIVE_MS = 4_000

/** Connections without a request that are kept for a host. */
const MAX_IDLE_CONNECTIONS = 16

/** What is read of a response's body, and how long, so that its connection can be kept. Beyond that it is cut off. */
const MAX_RESPONSE_BYTES = 65_536
const MAX_RESPONSE_MS = 1_000

/** What is kept of a body until it is judged. */
const MAX_KEPT_BYTES = 8_192

/** Interim responses (1xx) before the head of the response. Usual receivers send at most one or two. */
const MAX_INTERIM_RESPONSES = 16

/** The receiver sends interim responses in place of an answer: each costs the work of a response. */
class TooManyInterimResponses extends Error {
  override name = 'TooManyInterimResponses'
  constructor() {
    super(`more than ${MAX_INTERIM_RESPONSES} interim responses (1xx)`)
  }
}

/** The answer of a receiver. */
export interface Answer {
  status: number
  /** The beginning of the body. */
  text: string
  /** Whether all of the body has arrived. */
  isWhole: boolean
}

/** What an answer means. `refused`: the same message is refused each time. */
type Verdict = 'taken' | 'refused' | 'failed'

export const is2xx = (status: number) => status >= 200 && status < 300

export type Judge = (answer: Answer) => Verdict

/** What the answer of a program means: its status decides. */
const byStatus = ({ status }: Answer): Verdict => (is2xx(status) ? 'taken' : 'failed')

/** What came of one request. The answer is null if no response has begun. */
interface Exchange {
  answer: Answer | null
  retryAfter: string | undefined
  error: Error | undefined
  /** Whether a kept connection turned out to be closed: the receiver has perhaps not seen the request. */
  isStale: boolean
}

/** Sends to receivers, over connections that are kept for the next request to the same host. */
export interface Poster {
  /**
   * Sends a body. A redirect is not followed, because it could lead to any address. It never rejects.
   *
   * @param judge what the answer means; left out: any 2xx status means delivered, and the body is not waited for
   */
  post(url: string, headers: Record<string, string>, body: string, judge?: Judge): Promise<Attempt>
  /** Aborts the requests under way, refuses later ones, and closes all connections. */
  close(): void
}

export function createPoster(options: PosterOptions): Poster {
  return new AgentPoster(options)
}

class AgentPoster implements Poster {
  private readonly allowPrivate: boolean
  private readonly timeoutMs: number
  private readonly httpAgent: http.Agent
  private readonly httpsAgent: https.Agent
  private readonly underWay = new Set<http.ClientRequest>()
  private isClosed = false

  constructor({ allowPrivate, timeoutMs }: PosterOptions) {
    this.allowPrivate = allowPrivate
    this.timeoutMs = timeoutMs
    const options = { keepAlive: true, timeout: KEEP_ALIVE_MS, maxFreeSockets: MAX_IDLE_CONNECTIONS }
    this.httpAgent = new http.Agent(options)
    this.httpsAgent = new https.Agent(options)
  }

  async post(url: string, headers: Record<string, string>, body: string, judge?: Judge): Promise<Attempt> {
    const target = URL.parse(url)
    if (this.isClosed || target === null) return failure(undefined)
    const literal = literalAddress(target)
    if (!this.allowPrivate && literal !== undefined && !isPublicAddress(literal)) return failure(new ForbiddenAddress())
    let isLate = false
    const timeout = setTimeout(() => {
      isLate = true
      request?.destroy()
    }, this.timeoutMs)
    // Where the body decides, it may take as long as the head.
    const bodyMs = judge === undefined ? MAX_RESPONSE_MS : this.timeoutMs
    let request: http.ClientRequest | undefined
    try {
      request = this.request(target, headers, body)
      let result = await this.exchange(request, body, bodyMs)
      if (result.isStale && !isLate && !this.isClosed) {
        request = this.request(target, headers, body, { agent: false })
        result = await this.exchange(request, body, bodyMs)
      }
      const { answer, error } = result
      if (answer !== null) return attemptOf(answer, result.retryAfter, secretsOf(target), judge)
      return isLate ? { ...failure(error), error: `no answer within ${this.timeoutMs / 1_000} s` } : failure(error)
    } finally {
      clearTimeout(timeout)
    }
  }

  close(): void {
    this.isClosed = true
    for (const request of this.underWay) request.destroy()
    this.httpAgent.destroy()
    this.httpsAgent.destroy()
  }

  /** A request over a kept connection if there is one, unless the options name no agent. */
  private request(
    url: URL,
    headers: Record<string, string>,
    body: string,
    options: http.RequestOptions = {},
  ): http.ClientRequest {
    const [protocol, agent] = url.protocol === 'https:' ? [https, this.httpsAgent] : [http, this.httpAgent]
    return protocol.request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent,
      // The address is checked where a connection is made, so a kept one leads to the address that was checked.
      ...(this.allowPrivate ? {} : { lookup: lookupPublic }),
      ...options,
    })
  }

  /** Sends the body. Resolves when the connection is free again, or gone. */
  private exchange(request: http.ClientRequest, body: string, bodyMs: number): Promise<Exchange> {
    const { promise, resolve } = Promise.withResolvers<Exchange>()
    let read: (() => Answer) | undefined
    let retryAfter: string | undefined
    let error: Error | undefined
    request.on('response', response => {
      retryAfter = response.headers['retry-after']
      read = readAnswer(response, bodyMs)
    })
    let interim = 0
    const countInterim = () => {
      interim += 1
      if (interim > MAX_INTERIM_RESPONSES) request.destroy(new TooManyInterimResponses())
    }
    request.on('continue', countInterim)
    request.on('information', countInterim)
    request.on('error', cause => {
      error = cause
    })
    request.on('close', () => {
      this.underWay.delete(request)
      const isStale = read === undefined && request.reusedSocket && isReset(error)
      resolve({ answer: read?.() ?? null, retryAfter, error, isStale })
    })
    this.underWay.add(request)
    request.end(body)
    return promise
  }
}

/** Reads a response to its end, so that its connection can be kept. A receiver that keeps sending is cut off. Returns what has come of it. */
function readAnswer(response: http.IncomingMessage, maxMs: number): () => Answer {
  let bytes = 0
  const kept: Buffer[] = []
  const timeout = setTimeout(() => response.destroy(), maxMs)
  response.on('data', (chunk: Buffer) => {
    if (bytes < MAX_KEPT_BYTES) kept.push(chunk.subarray(0, MAX_KEPT_BYTES - bytes))
    bytes += chunk.length
    if (bytes > MAX_RESPONSE_BYTES) response.destroy()
  })
  response.on('error', () => {})
  response.on('close', () => clearTimeout(timeout))
  return () => ({
    status: response.statusCode ?? 0,
    text: Buffer.concat(kept).toString(),
    isWhole: response.complete && bytes <= MAX_KEPT_BYTES,
  })
}

function attemptOf(
  answer: Answer,
  retryAfter: string | undefined,
  secrets: readonly string[],
  judge: Judge = byStatus,
): Attempt {
  const { status } = answer
  const verdict = judge(answer)
  const text = answerText(answer.text, secrets)
  const asksToWait = (status === 429 || status === 503) && retryAfter !== undefined
  return {
    delivered: verdict === 'taken',
    response_code: status,
    error: verdict === 'taken' ? null : reasonIn(answer),
    ...(text === null ? {} : { answer: text }),
    ...(asksToWait ? { retry_after: retryAfter } : {}),
    // The receiver works, so that neither the webhook nor its window suffers.
    ...(verdict === 'refused' ? { isRefused: true, isTakenForSome: true } : {}),
  }
}

/** Why a message was not taken, with the code of Slack or Teams if the answer has one. */
function reasonIn({ status, text }: Answer): string {
  const code = /^[a-z_]{2,40}$|HTTP error \d{3}/.exec(text.trim())?.[0]
  const reason = is2xx(status) ? 'the answer does not say that the message was taken' : 'the answer was not a 2xx'
  return code === undefined ? reason : `${reason}: ${code}`
}

function failure(error: Error | undefined): Attempt {
  return { delivered: false, response_code: null, error: reasonOf(error) }
}

/** The reason for administrators: a code or a few words, and nothing that the receiver sent. */
function reasonOf(error: Error | undefined): string {
  if (error instanceof ForbiddenAddress || error instanceof TooManyInterimResponses) return error.message
  const code = codeOf(error)
  return code === undefined ? 'the connection failed' : `the connection failed: ${code}`
}

const isReset = (error: Error | undefined) => ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '')

function codeOf(error: Error | undefined): string | undefined {
  return error !== undefined && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
