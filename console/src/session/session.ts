import { useSyncExternalStore } from 'react'
import { send } from '../api/http.ts'
import { ApiProblem, retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'
import { forgetRecent } from './recent.ts'

/** The session. Only this file and the tab's session storage hold the token. */

export type Caller = Api['Caller']

export type Session =
  /** `error`: why the previous token was rejected. */
  | { state: 'signed-out'; error: string | null }
  /** The service is checking the token. */
  | { state: 'opening' }
  /** A link was opened in a tab without a session. The user is asked whether to sign in as its caller. */
  | { state: 'offered'; offer: Caller }
  | { state: 'signed-in'; caller: Caller }
  /** The token has expired; the pages keep their state until the user signs in again. */
  | { state: 'ended'; caller: Caller }

/** The user signed out while a request waited for a new token. */
class SignedOut extends Error {}

const STORED = 'sms-quota.token'

let session: Session = { state: 'signed-out', error: null }
let token: string | null = null
let renewing: PromiseWithResolvers<void> | null = null
/** The token of a link that waits for the user's consent. */
let linkToken: string | null = null
const listeners = new Set<() => void>()

function setSession(next: Session): void {
  session = next
  notify()
}

function notify(): void {
  for (const listener of listeners) listener()
}

/** Resumes the session of this tab, or asks about the link that opened it, if any. Retries until the service responds. */
export async function resume(): Promise<void> {
  const stored = sessionStorage.getItem(STORED)
  if (stored === null) return offerLink()
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
    if (linkToken !== null) return offerLink()
    setSession({ state: 'signed-out', error: messageOf(error) })
  }
}

/** Asks whether to sign in with the link: a stranger may have sent it, to have the user work in the stranger's account. */
async function offerLink(): Promise<void> {
  const offered = linkToken
  if (offered === null) return
  setSession({ state: 'opening' })
  try {
    const offer = await send('GET /me', {}, offered)
    // Another link may have been opened meanwhile.
    if (offered === linkToken) setSession({ state: 'offered', offer })
  } catch (error) {
    if (offered !== linkToken) return
    const delayMs = retryDelayOf(error)
    if (delayMs !== null) {
      setTimeout(offerLink, delayMs)
      return
    }
    linkToken = null
    setSession({ state: 'signed-out', error: messageOf(error) })
  }
}

const messageOf = (error: unknown): string => (error instanceof ApiProblem ? error.message : String(error))

/**
 * Signs in with a token, or renews an expired session.
 * @throws ApiProblem for a rejected token, Unreachable; DifferentUser if the token has another subject than the session
 */
export async function signIn(offered: string): Promise<void> {
  const caller = await send('GET /me', {}, offered)
  if (session.state === 'ended' && caller.subject !== session.caller.subject) throw new DifferentUser(session.caller)
  token = offered
  keepToken(offered)
  setSession({ state: 'signed-in', caller })
  renewing?.resolve()
  renewing = null
}

class DifferentUser extends Error {
  constructor({ name, subject }: Caller) {
    super(texts.shell.differentUser(name ?? subject))
  }
}

export function signOut(): void {
  token = null
  linkToken = null
  sessionStorage.removeItem(STORED)
  // It names users, quotas and messages, and others may use this browser.
  forgetRecent()
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
 * fragments to servers. The token waits until the user agrees: a link that a stranger sent must not choose the account.
 * Returns whether this tab has no session that could be kept.
 */
export function takeLinkToken(): boolean {
  const offered = new URLSearchParams(location.hash.slice(1)).get('token')
  if (offered === null) return false
  history.replaceState(history.state, '', location.pathname + location.search)
  const stored = sessionStorage.getItem(STORED)
  if (stored === offered) return false
  linkToken = offered
  notify()
  return stored === null
}

/** Signs in with the link; in a tab with a session by loading the page again. */
export function acceptLink(): void {
  if (linkToken === null) return
  keepToken(linkToken)
  if (session.state === 'offered') {
    token = linkToken
    linkToken = null
    setSession({ state: 'signed-in', caller: session.offer })
  } else {
    location.reload()
  }
}

/** Forgets the link. A session of this tab goes on. */
export function declineLink(): void {
  linkToken = null
  if (session.state === 'offered') setSession({ state: 'signed-out', error: null })
  else notify()
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
