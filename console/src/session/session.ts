import { useSyncExternalStore } from 'react'
import { send } from '../api/http.ts'
import { ApiProblem, retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'

/** The session. Only this file and the tab's session storage hold the token. */

export type Caller = Api['Caller']

export type Session =
  /** `error`: why the previous token was rejected. */
  | { state: 'signed-out'; error: string | null }
  /** The service is checking the token. */
  | { state: 'opening' }
  | { state: 'signed-in'; caller: Caller }
  /** The token has expired; the pages keep their state until the user signs in again. */
  | { state: 'ended'; caller: Caller }

/** The user signed out while a request waited for a new token. */
class SignedOut extends Error {}

const STORED = 'sms-quota.token'

let session: Session = { state: 'signed-out', error: null }
let token: string | null = null
let renewing: PromiseWithResolvers<void> | null = null
/** The token of a link that waits for the user's consent, because this tab has a session. */
let linkToken: string | null = null
const listeners = new Set<() => void>()

function setSession(next: Session): void {
  session = next
  notify()
}

function notify(): void {
  for (const listener of listeners) listener()
}

/** Resumes the session of this tab, if any. Retries until the service responds. */
export async function resume(): Promise<void> {
  const stored = sessionStorage.getItem(STORED)
  if (stored === null) return
  setSession({ state: 'opening' })
  try {
    await signIn(stored)
  } catch (error) {
    const delayMs = retryDelayOf(error)
    if (delayMs !== null) {
      setTimeout(resume, delayMs)
      return
    }
    sessionStorage.removeItem(STORED)
    // The link replaces no session any more.
    if (linkToken !== null) return acceptLink()
    setSession({ state: 'signed-out', error: error instanceof ApiProblem ? error.message : String(error) })
  }
}

/**
 * Signs in with a token, or renews an expired session.
 * @throws ApiProblem for a rejected token, Unreachable; DifferentUser if the token has another subject than the session
 */
export async function signIn(offered: string): Promise<void> {
  const caller = await send<Caller>('/me', {}, offered)
  if (session.state === 'ended' && caller.subject !== session.caller.subject) throw new DifferentUser(session.caller)
  token = offered
  keepToken(offered)
  setSession({ state: 'signed-in', caller })
  renewing?.resolve()
  renewing = null
}

class DifferentUser extends Error {
  constructor({ name, subject }: Caller) {
    super(texts.session.differentUser(name ?? subject))
  }
}

export function signOut(): void {
  token = null
  linkToken = null
  sessionStorage.removeItem(STORED)
  setSession({ state: 'signed-out', error: null })
  renewing?.reject(new SignedOut())
  renewing = null
}

/** The token for requests. @throws SignedOut without a session */
export function currentToken(): string {
  if (token === null) throw new SignedOut()
  return token
}

/** Call it when the service rejects a token: resolves when the user has signed in again. @throws SignedOut */
export function renewal(rejected: string): Promise<void> {
  if (session.state === 'signed-in' && token === rejected) setSession({ state: 'ended', caller: session.caller })
  if (session.state !== 'ended') return Promise.resolve()
  renewing ??= Promise.withResolvers()
  return renewing.promise
}

/**
 * Takes the token of a sign-in link (`#token=…`) and removes it from the URL and the history. Browsers do not send
 * fragments to servers. In a tab with another session the token waits until the user agrees: a link that a stranger sent
 * must not exchange the account. Returns whether the token was stored for the next page load.
 */
export function takeLinkToken(): boolean {
  const offered = new URLSearchParams(location.hash.slice(1)).get('token')
  if (offered === null) return false
  history.replaceState(history.state, '', location.pathname + location.search)
  const stored = sessionStorage.getItem(STORED)
  if (stored !== null && stored !== offered) {
    linkToken = offered
    notify()
    return false
  }
  keepToken(offered)
  return true
}

/** Replaces the session by that of the link, and loads the page again. */
export function acceptLink(): void {
  if (linkToken === null) return
  keepToken(linkToken)
  location.reload()
}

/** Keeps the session of this tab, and forgets the link. */
export function declineLink(): void {
  linkToken = null
  notify()
}

/** Whether the token of a link waits for the user's consent. */
export function useIsLinkWaiting(): boolean {
  return useSyncExternalStore(subscribe, () => linkToken !== null)
}

/** Stores a token for the next page load of this tab. */
export function keepToken(offered: string): void {
  sessionStorage.setItem(STORED, offered)
}

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session)
}

/** The signed-in caller, for components that are shown only with a session. */
export function useCaller(): Caller {
  const current = useSession()
  if (!('caller' in current)) throw new Error('there is no session')
  return current.caller
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
