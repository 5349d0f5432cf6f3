/** Signing in through an OpenID Connect provider: authorization code with PKCE, as a public client. Loaded when used. */
import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import type { ConsoleConfig } from '../../../src/contract/console.ts'
import { consoleConfig } from './console-config.ts'

/** What is to happen with the token. */
type Purpose =
  /** The address that was asked for opens with it. */
  | { returnTo: string }
  /** Another window waits for it, on the broadcast channel of this name. */
  | { channel: string }

/** What must be known again when the provider sends people back. The verifier never leaves this tab but to the provider. */
type Pending = Purpose & { state: string; nonce: string; verifier: string }

type Settings = NonNullable<ConsoleConfig['oidc']>

/** Why there is no sign-in, in words for people. */
export class SignInFailed extends Error {}

const STORED = 'sms-quota.sign-in'

/** Leaves this page for the provider's. @throws SignInFailed */
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
 * Exchanges what the provider has put into the address for a token. Can be done once.
 *
 * @param answer the query of the address, which is to be taken out of it first
 * @throws SignInFailed; whatever the library finds wrong with the provider's answers
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
    // Only a provider on this machine itself may be configured without https.
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
  if (stored === null) throw new SignInFailed('No sign-in was begun in this tab, or it is over already.')
  return JSON.parse(stored)
}

/** The service asks the provider for us, so that no page but the one to return to may call somebody else. */
async function findProvider(): Promise<{ settings: Settings; server: AuthorizationServer }> {
  const { oidc } = await consoleConfig()
  if (oidc === null) throw new SignInFailed('No identity provider is configured here.')
  const answer = await fetch('/console/provider.json', { credentials: 'omit', cache: 'no-store' }).catch(() => null)
  if (!answer?.ok) throw new SignInFailed('The identity provider does not answer. Try again in a moment.')
  return { settings: oidc, server: await processDiscoveryResponse(new URL(oidc.issuer), answer) }
}

function redirectUri(): string {
  return `${location.origin}/console/signed-in`
}
