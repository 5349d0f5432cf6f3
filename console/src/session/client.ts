import { open, type RequestOptions, send, toUnreachable } from '../api/http.ts'
import { ApiProblem } from '../api/problem.ts'
import { currentToken, renewal } from './session.ts'

/**
 * Calls the API with the token of the session. If the token has expired, waits until the user has signed in again and
 * repeats the request, so that pages keep their state.
 *
 * @param path below `/api/sms`
 * @throws ApiProblem, Unreachable; SignedOut if the user signs out instead
 */
export function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return withToken(token => send<T>(path, options, token))
}

/**
 * Calls the API and yields the records of a response of newline-delimited JSON as they come. The caller names their type.
 *
 * @throws ApiProblem, SignedOut; Unreachable also if the response breaks off
 */
export async function* requestLines<T>(path: string, options: RequestOptions = {}): AsyncGenerator<T, void> {
  const response = await withToken(token => open(path, options, token))
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

async function withToken<T>(call: (token: string) => Promise<T>): Promise<T> {
  const token = currentToken()
  try {
    return await call(token)
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'unauthenticated') throw error
    await renewal(token)
    return withToken(call)
  }
}
