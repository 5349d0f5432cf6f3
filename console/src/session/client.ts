import { open, send, toUnreachable } from '../api/http.ts'
import type { Answer, Call, Input, Stream } from '../api/operations.ts'
import { ApiProblem } from '../api/problem.ts'
import { currentToken, renewal } from './session.ts'

/**
 * Calls an operation with the token of the session. If the token has expired, waits until the user has signed in again and
 * repeats the request, so that pages keep their state.
 *
 * @throws ApiProblem, Unreachable; SignedOut if the user signs out instead
 */
export function call<O extends Call>(operation: O, input: Input<O>): Promise<Answer<O>> {
  return withToken(token => send(operation, input, token))
}

/**
 * Calls an operation and yields the records of its response of newline-delimited JSON as they come.
 *
 * @throws ApiProblem, SignedOut; Unreachable also if the response breaks off
 */
export async function* callLines<O extends Stream>(operation: O, input: Input<O>): AsyncGenerator<Answer<O>, void> {
  const response = await withToken(token => open(operation, input, token))
  let rest = ''
  try {
    for await (const text of chunksOf(response)) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
    }
  } catch (error) {
    throw toUnreachable(error)
  }
}

async function* chunksOf({ body }: Response): AsyncGenerator<string, void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    // Not `for await` over the stream, which Safari does not know.
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read())
      yield next.value
  } finally {
    // Also ends the request if the reader of the records leaves early.
    await reader?.cancel().catch(() => {})
  }
}

async function withToken<T>(attempt: (token: string) => Promise<T>): Promise<T> {
  const token = currentToken()
  try {
    return await attempt(token)
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'unauthenticated') throw error
    await renewal(token)
    return withToken(attempt)
  }
}
