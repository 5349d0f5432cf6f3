import { currentToken, renewal } from '../session/session.ts'
import { type RequestOptions, send } from './http.ts'
import { ApiProblem } from './problem.ts'

/**
 * Calls the API with the token of the session. If the token has expired, waits until the user has signed in again and
 * repeats the request, so that pages keep their state.
 *
 * @param path below `/api/sms`
 * @throws ApiProblem, Unreachable; SignedOut if the user signs out instead
 */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const token = currentToken()
  try {
    return await send<T>(path, options, token)
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'unauthenticated') throw error
    await renewal(token)
    return request(path, options)
  }
}
