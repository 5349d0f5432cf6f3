/** Sends calls over HTTP, as they are, and measures them. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { bytesOf, type Call, urlOf } from './calls.ts'

export interface Answered {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** How long it took, and what the thread that serves it worked meanwhile, in milliseconds. */
  tookMs: number
  workedMs: number
}

export interface Wire {
  /** @throws Error if there is no answer, even on a new connection */
  send(call: Call): Promise<Answered>
  close(): void
}

/**
 * How often a call is sent that has no answer, or that of a service without its database: it may close a connection whose body it
 * has refused to read.
 */
const ATTEMPTS = 3

/** @param tokens by the name of the caller; null: none */
export function openWire(port: number, tokens: ReadonlyMap<string, string | null>): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sendOnce = (call: Call) =>
    new Promise<Answered>((resolve, reject) => {
      const body = call.body === undefined ? undefined : bytesOf(call.body)
      const token = tokens.get(call.caller) ?? null
      const begun = performance.now()
      const worked = process.threadCpuUsage()
      const outgoing = request({ agent, host: '127.0.0.1', port, method: call.method, path: urlOf(call) })
      for (const [name, values] of Map.groupBy(headersOf(call, token, body), ([name]) => name)) {
        outgoing.setHeader(
          name,
          values.map(([, value]) => value),
        )
      }
      outgoing.on('error', reject).on('response', response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk)).on('error', reject)
        response.on('end', () => {
          const { user, system } = process.threadCpuUsage(worked)
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: textOf(Buffer.concat(chunks), response.headers['content-encoding']),
            tookMs: performance.now() - begun,
            workedMs: (user + system) / 1_000,
          })
        })
      })
      outgoing.end(body)
    })

  return {
    async send(call) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const answer = await sendOnce(call)
          // On a machine with other work, a statement may take longer than it may.
          if (answer.status !== 503 || attempt === ATTEMPTS) return answer
        } catch (error) {
          if (attempt === ATTEMPTS) throw error
        }
      }
    },
    close: () => agent.destroy(),
  }
}

function textOf(bytes: Buffer, encoding: string | undefined): string {
  if (bytes.length === 0 || encoding === undefined) return bytes.toString('utf8')
  return (encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString('utf8')
}

function headersOf({ headers }: Call, token: string | null, body: Buffer | undefined): (readonly [string, string])[] {
  const isAuthorized = headers.some(([name]) => name === 'authorization')
  return [
    ...headers,
    ...(token === null || isAuthorized ? [] : [['authorization', `Bearer ${token}`] as const]),
    ...(body === undefined ? [] : [['content-length', String(body.length)] as const]),
  ]
}
