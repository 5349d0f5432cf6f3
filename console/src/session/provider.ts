/** Signs in through an OpenID Connect provider: authorization code with PKCE, as a public client. Loaded on demand. */
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  JWT_TIMESTAMP_CHECK,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  ResponseBodyError,
  validateAuthResponse,
} from 'oauth4webapi'
import type { ConsoleConfig } from '../../../src/contract/console.ts'
import { texts } from '../texts/texts.ts'
import { consoleConfig } from './console-config.ts'

/** What to do with the token. */
type Purpose =
  /** Open this URL of the console. */
  | { returnTo: string }
  /** Send it to another window on the broadcast channel of this name. */
  | { channel: string }

/** The state of a sign-in across the redirect. The verifier is sent only to the provider. */
type Pending = Purpose & { state: string; nonce: string; verifier: string }

type Settings = NonNullable<ConsoleConfig['oidc']>

/** A failed sign-in, with a message for the user. */
class SignInFailed extends Error {}

const STORED = 'sms-quota.sign-in'

/** Navigates to the provider. @throws SignInFailed */
export async function beginSignIn(purpose: Purpose): Promise<void> {
  const { settings, server } = await findProvider()
  const pending: Pending = {
    ...purpose,
    state: generateRandomState(),
    nonce: generateRandomNonce(),
    verifier: generateRandomCodeVerifier(),
  }
  sessionStorage.setItem(STORED, JSON.stringify(pending))
  const address = new URL(server.authorization_endpoint ?? '')
  const parameters = {
    client_id: settings.client_id,
    response_type: 'code',
    redirect_uri: redirectUri(),
    scope: settings.scope,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  location.assign(address)
}

/**
 * Exchanges the authorization code for a token. Works only once per sign-in.
 *
 * @param answer the query of the redirect URL
 * @throws SignInFailed; errors of `oauth4webapi` for invalid responses of the provider
 */
export async function finishSignIn(answer: URLSearchParams): Promise<{ token: string; purpose: Purpose }> {
  const pending = takePending()
  const { settings, server } = await findProvider()
  const client = { client_id: settings.client_id }
  const parameters = validateAuthResponse(server, client, answer, pending.state)
  const response = await authorizationCodeGrantRequest(
    server,
    client,
    None(),
    parameters,
    redirectUri(),
    pending.verifier,
    // The configuration allows http only for a provider on localhost.
    { [allowInsecureRequests]: settings.issuer.startsWith('http:') },
  )
  const { access_token } = await processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: pending.nonce,
    requireIdToken: true,
  })
  return { token: access_token, purpose: pending }
}

function takePending(): Pending {
  const stored = sessionStorage.getItem(STORED)
  sessionStorage.removeItem(STORED)
  if (stored === null) throw new SignInFailed(texts.session.provider.notStarted)
  return JSON.parse(stored)
}

/** The service proxies the discovery document, so that only the redirect page may call the provider. */
async function findProvider(): Promise<{ settings: Settings; server: AuthorizationServer }> {
  const { oidc } = await consoleConfig()
  if (oidc === null) throw new SignInFailed(texts.session.provider.notConfigured)
  const answer = await fetch('/console/provider.json', { credentials: 'omit', cache: 'no-store' }).catch(() => null)
  if (!answer?.ok) throw new SignInFailed(texts.session.provider.unreachable)
  return { settings: oidc, server: await processDiscoveryResponse(new URL(oidc.issuer), answer) }
}

function redirectUri(): string {
  return `${location.origin}/console/signed-in`
}

/** The message of a failed sign-in. */
export function signInErrorMessage(error: unknown): string {
  const { provider } = texts.session
  if (error instanceof SignInFailed) return error.message
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code, error_description: description } = error
    return messageOf(code) ?? provider.rejected(description ?? code)
  }
  if (error instanceof OperationProcessingError) {
    return error.code === JWT_TIMESTAMP_CHECK ? provider.wrongClock : provider.mismatch
  }
  return provider.unreachable
}

/** For the errors of RFC 6749 and OpenID Connect Core that the user can act on. */
function messageOf(code: string): string | undefined {
  const messages: Readonly<Record<string, string>> = texts.session.provider.errors
  return Object.hasOwn(messages, code) ? messages[code] : undefined
}
