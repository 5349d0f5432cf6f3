import { useSyncExternalStore } from 'react'
import { send } from '../api/http.ts'
import { ApiProblem, retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'

/** Who is signed in. The token itself stays in this file and in the tab's session storage. */

export type Caller = Api['Caller']

export type Session =
  /** `refusal`: why the token that was there is no good. */
  | { state: 'signed-out'; refusal: string | null }
  /** A token is there, and the service is asked whose it is. */
  | { state: 'opening' }
  | { state: 'signed-in'; caller: Caller }
  /** The token is not good any more; the pages stay as they are until it is renewed. */
  | { state: 'ended'; caller: Caller }

/** A call was waiting for a new sign-in when the user left. */
class SignedOut extends Error {}

const STORED = 'sms-quota.token'

let session: Session = { state: 'signed-out', refusal: null }
let token: string | null = null
let renewing: PromiseWithResolvers<void> | null = null
const listeners = new Set<() => void>()

function become(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

/** Goes on with the token of this tab, if there is one. Waits as long as the service does not answer. */
export async function resume(): Promise<void> {
  const stored = sessionStorage.getItem(STORED)
  if (stored === null) return
  become({ state: 'opening' })
  try {
    await signIn(stored)
  } catch (error) {
    const delayMs = retryDelayOf(error)
    if (delayMs !== null) {
      setTimeout(resume, delayMs)
      return
    }
    sessionStorage.removeItem(STORED)
    become({ state: 'signed-out', refusal: error instanceof ApiProblem ? error.message : String(error) })
  }
}

/**
 * Signs in with a token that the service finds good, or renews the sign-in that has ended.
 * @throws ApiProblem if it is no good, Unreachable; SomebodyElse if it would put another's name to what is on the page
 */
export async function signIn(offered: string): Promise<void> {
  const caller = await send<Caller>('/me', {}, offered)
  if (session.state === 'ended' && caller.subject !== session.caller.subject) throw new SomebodyElse(session.caller)
  token = offered
  sessionStorage.setItem(STORED, offered)
  become({ state: 'signed-in', caller })
  renewing?.resolve()
  renewing = null
}

class SomebodyElse extends Error {
  constructor({ subject }: Caller) {
    super(`This token is not for “${subject}”, whose work this is. Sign out to go on as somebody else.`)
  }
}

export function signOut(): void {
  token = null
  sessionStorage.removeItem(STORED)
  become({ state: 'signed-out', refusal: null })
  renewing?.reject(new SignedOut())
  renewing = null
}

/** The token to call with. @throws SignedOut if nobody is signed in */
export function currentToken(): string {
  if (token === null) throw new SignedOut()
  return token
}

/** To be called when the service refuses a token: settles when there is another. @throws SignedOut */
export function renewal(refused: string): Promise<void> {
  if (session.state === 'signed-in' && token === refused) become({ state: 'ended', caller: session.caller })
  if (session.state !== 'ended') return Promise.resolve()
  renewing ??= Promise.withResolvers()
  return renewing.promise
}

/**
 * Takes over the token of a link (`#token=…`) and takes it out of the address, so that it is neither kept in the
 * history nor copied along. A fragment is never sent to a server. Answers whether there was one.
 */
export function takeLinkToken(): boolean {
  const offered = new URLSearchParams(location.hash.slice(1)).get('token')
  if (offered === null) return false
  history.replaceState(history.state, '', location.pathname + location.search)
  sessionStorage.setItem(STORED, offered)
  return true
}

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session)
}

/** Whoever is signed in, on a page that only they see. */
export function useCaller(): Caller {
  const current = useSession()
  if (!('caller' in current)) throw new Error('a page was shown to nobody')
  return current.caller
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
