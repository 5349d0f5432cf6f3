/** A certified OpenID Connect provider in this process. Its form signs in any name without a password. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import { serve } from './listening.ts'

export const AUDIENCE = 'https://sms-quota.example'
export const CLIENT_ID = 'console'

export interface IdentityProvider {
  readonly issuer: string
  /** Answers every request with 503. */
  isDown: boolean
  /** Registers the console as a client and starts to answer requests. */
  serve(consoleUrl: string): Promise<void>
}

/** Call it at the top level of a test file. User 1 is an administrator. */
export async function startProvider(): Promise<IdentityProvider> {
  let answer: RequestListener | null = null
  const issuer = await serve((request, response) => {
    if (answer === null || provider.isDown) response.writeHead(503).end()
    else answer(request, response)
  })

  const provider: IdentityProvider = {
    issuer,
    isDown: false,
    async serve(consoleUrl) {
      const { privateKey } = await generateKeyPair('RS256', { extractable: true })
      const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'of the tests' }
      const openid = new Provider(issuer, {
        ...BEHAVIOR,
        jwks: { keys: [key] },
        clients: [
          {
            client_id: CLIENT_ID,
            redirect_uris: [`${consoleUrl}/console/signed-in`],
            // A public client without a secret.
            token_endpoint_auth_method: 'none',
          },
        ],
      })
      const protocol = openid.callback()
      answer = (request, response) => {
        const isForm = request.url?.startsWith('/interaction/') === true
        const handling = isForm ? handleForm(openid, request, response) : protocol(request, response)
        handling.catch(error => response.destroy(error))
      }
    },
  }
  return provider
}

const BEHAVIOR: Configuration = {
  cookies: { keys: ['a key for tests only'] },
  pkce: { required: () => true },
  clientBasedCORS: () => true,
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  extraTokenClaims: (_ctx, token) => ('accountId' in token && token.accountId === '1' ? ADMIN : {}),
  loadExistingGrant: grantConsent,
  ttl: { AccessToken: 600, Session: 3_600, Grant: 3_600, Interaction: 600, IdToken: 600 },
  features: {
    devInteractions: { enabled: false },
    // Issues access tokens as JWTs for the service.
    resourceIndicators: {
      enabled: true,
      defaultResource: () => AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: '',
        audience: AUDIENCE,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 600,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
}

const ADMIN = { roles: ['sms-quota:admin'] }

/** Grants the consent of every user who signs in. */
async function grantConsent({ oidc }: KoaContextWithOIDC) {
  const { client, session, provider } = oidc
  if (client === undefined || session?.accountId === undefined) return undefined
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope('openid')
  await grant.save()
  return grant
}

async function handleForm(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    // Like real providers, isolates its window from the opener, so that the console cannot rely on it.
    response.setHeader('cross-origin-opener-policy', 'same-origin')
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(FORM)
    return
  }
  const form = new URLSearchParams(await text(request))
  const result = form.has('cancel')
    ? { error: 'access_denied', error_description: 'The user said no.' }
    : { login: { accountId: form.get('name') ?? '' } }
  await provider.interactionFinished(request, response, result)
}

const FORM = `<!doctype html>
<html lang="en">
<head><title>The provider</title><link rel="icon" href="data:,"></head>
<body>
<form method="post">
<label>Name <input name="name" autofocus></label>
<button>Sign in</button>
<button name="cancel">Cancel</button>
</form>
</body>
</html>
`
