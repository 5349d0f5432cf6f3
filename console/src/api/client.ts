import { currentToken, renewal } from '../session/session.ts'
import { type Call, send } from './http.ts'
import { ApiProblem } from './problem.ts'

/**
 * Calls the API as whoever is signed in. If the sign-in has ended meanwhile, waits until it is renewed and asks again:
 * pages never see it, and what was typed into them stays.
 *
 * @param path below `/api/sms`
 * @throws ApiProblem, Unreachable; SignedOut if the user leaves instead
 */
export async function request<T>(path: string, call: Call = {}): Promise<T> {
  const token = currentToken()
  try {
    return await send<T>(path, call, token)
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'unauthenticated') throw error
    await renewal(token)
    return request(path, call)
  }
}
