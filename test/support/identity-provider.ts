/** A real OpenID Connect provider, in this process: whoever types a name at its form is that user. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import { afterAll } from 'vitest'

export const AUDIENCE = 'https://sms-quota.example'
export const CLIENT_ID = 'console'

export interface IdentityProvider {
  readonly issuer: string
  /** While it is, whatever is asked is answered 503. */
  isAway: boolean
  /** Takes the console in as a client, and begins to answer. */
  serve(consoleUrl: string): Promise<void>
}

/** To be called where tests are declared. User 1 is an administrator. */
export async function startProvider(): Promise<IdentityProvider> {
  let answer: RequestListener | null = null
  const server = createServer((request, response) => {
    if (answer === null || provider.isAway) response.writeHead(503).end()
    else answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider: IdentityProvider = {
    issuer,
    isAway: false,
    async serve(consoleUrl) {
      const { privateKey } = await generateKeyPair('RS256', { extractable: true })
      const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'of the tests' }
      const openid = new Provider(issuer, {
        ...BEHAVIOUR,
        jwks: { keys: [key] },
        clients: [
          {
            client_id: CLIENT_ID,
            redirect_uris: [`${consoleUrl}/console/signed-in`],
            // A public client: there is no secret.
            token_endpoint_auth_method: 'none',
          },
        ],
      })
      const protocol = openid.callback()
      answer = (request, response) => {
        const isForm = request.url?.startsWith('/interaction/') === true
        const answering = isForm ? answerForm(openid, request, response) : protocol(request, response)
        answering.catch(error => response.destroy(error))
      }
    },
  }
  return provider
}

const BEHAVIOUR: Configuration = {
  cookies: { keys: ['a key for tests only'] },
  pkce: { required: () => true },
  clientBasedCORS: () => true,
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  extraTokenClaims: (_ctx, token) => ('accountId' in token && token.accountId === '1' ? ADMIN : {}),
  loadExistingGrant: grantWhatIsAsked,
  ttl: { AccessToken: 600, Session: 3_600, Grant: 3_600, Interaction: 600, IdToken: 600 },
  features: {
    devInteractions: { enabled: false },
    // Access tokens are JWTs for the service.
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

/** Who signs in agrees; who does not, cancels. */
async function grantWhatIsAsked({ oidc }: KoaContextWithOIDC) {
  const { client, session, provider } = oidc
  if (client === undefined || session?.accountId === undefined) return undefined
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope('openid')
  await grant.save()
  return grant
}

async function answerForm(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    // Providers cut the tie between a window and who opened it; the console must do without.
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
<button>Let me in</button>
<button name="cancel">Cancel</button>
</form>
</body>
</html>
`
