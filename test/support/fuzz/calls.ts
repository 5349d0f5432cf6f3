/** Calls as a fuzz makes them, and how they look on the wire. */
import type { Json } from './json.ts'
import { textOf } from './json.ts'

/** What a call sends: one value, values of a line each, or bytes that are neither. */
export type Body = { kind: 'value'; value: Json } | { kind: 'lines'; values: Json[] } | { kind: 'bytes'; bytes: Buffer }

export interface Call {
  method: string
  path: string
  /** As it is sent: encoded, if it is. */
  query: readonly (readonly [string, string])[]
  /** Names may repeat. */
  headers: readonly (readonly [string, string])[]
  /** Whose token is sent. */
  caller: string
  body: Body | undefined
}

export function urlOf({ path, query }: Pick<Call, 'path' | 'query'>): string {
  return query.length === 0 ? path : `${path}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`
}

export function bytesOf(body: Body): Buffer {
  switch (body.kind) {
    case 'value':
      return Buffer.from(textOf(body.value))
    case 'lines':
      return Buffer.from(body.values.map(value => `${textOf(value)}\n`).join(''))
    case 'bytes':
      return body.bytes
  }
}

/** A call for people to read. */
export function describe(call: Call): string {
  const head = `${call.method} ${brief(urlOf(call))} as ${call.caller}`
  const headers = call.headers.map(([name, value]) => `${name}: ${brief(value)}`)
  const body = call.body === undefined ? [] : [brief(bytesOf(call.body).toString('utf8'))]
  return [head, ...headers, ...body].join('\n')
}

function brief(text: string): string {
  return text.length <= 3_000 ? text : `${text.slice(0, 2_000)}… (${text.length} characters) …${text.slice(-500)}`
}
