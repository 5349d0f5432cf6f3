/** What an answer holds: text of a bounded length, a problem, or lines of JSON. */
import type { Problem } from './api.ts'
import { UnavailableError } from './errors.ts'
import { toCamel } from './names.ts'

/** What answers is not the service, such as a page of a proxy: nothing is known of the call. */
export class ForeignAnswer extends Error {
  constructor({ status, headers }: Response, text: string) {
    const location = headers.get('location')?.slice(0, 200)
    super(
      location !== undefined && status >= 300 && status < 400
        ? `The address redirects to ${location}, which is not followed: name the address of the service itself`
        : `The answer with status ${status} is not the service's: ${text.slice(0, 200)}`,
    )
  }
}

/** Null for what is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return toCamel(JSON.parse(text))
  } catch {
    return null
  }
}

/** Whether it is a problem of the service. Other services that answer problems have no codes. */
export const isProblem = (value: unknown): value is Problem =>
  typeof memberOf(value, 'code') === 'string' && typeof memberOf(value, 'detail') === 'string'

export const memberOf = (value: unknown, name: string): unknown =>
  typeOf(value) === 'object' ? Object(value)[name] : undefined

/** The type of JSON; `undefined` for nothing. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** No record of the service is longer, in characters. */
const MAX_LINE = 4 * 1024 * 1024

/** Reads lines of JSON while they arrive. @throws AnswerTooLong */
export async function* lines(response: Response): AsyncGenerator<unknown> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > MAX_LINE) throw new AnswerTooLong(MAX_LINE)
    for (const line of parts) if (line !== '') yield parseLine(line)
  }
  if (rest !== '') yield parseLine(rest)
}

/** @throws UnavailableError if the line was cut, or is not the service's */
function parseLine(line: string): unknown {
  try {
    return toCamel(JSON.parse(line))
  } catch (cause) {
    throw new UnavailableError('the response broke off in a line', { mayHaveTakenEffect: true, cause })
  }
}

/** No answer of the service that is read as a whole is nearly as long. */
const MAX_BYTES = 64 * 1024 * 1024

export class AnswerTooLong extends Error {
  constructor(max: number) {
    super(`the answer, or a line of it, is longer than ${max} bytes`)
  }
}

/**
 * The text of an answer, without trust in its length: what answers may not be the service.
 * @throws AnswerTooLong
 */
export async function textOf(response: Response): Promise<string> {
  const length = response.headers.get('content-length')
  // The connection ends such an answer there. Encoded ones become longer.
  if (length !== null && Number(length) <= MAX_BYTES && !response.headers.has('content-encoding'))
    return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new AnswerTooLong(MAX_BYTES)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
