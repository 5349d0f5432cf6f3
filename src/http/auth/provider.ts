/** The provider through which people sign in to the console: what the service itself must know of it. */
import type { OidcConfig } from '../../config/config.ts'
import { type EpochMs, HOUR_MS } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'

/** The discovery document (OpenID Connect Discovery 1.0, section 3). The console reads the rest of it. */
interface Discovery {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly [name: string]: unknown
}

export interface IdentityProvider {
  readonly config: OidcConfig
  /** What it says of itself, as of the last hour. @throws Problem `unavailable` if it cannot be asked */
  discover(): Promise<Discovery>
}

/** Addresses of a provider hardly ever change. */
const FRESH_MS = HOUR_MS
const FETCH_TIMEOUT_MS = 5_000

/**
 * The provider by its configuration. It is not asked before somebody signs in: without it the service serves all the
 * same. However many ask at once, it is asked once.
 */
export function createProvider(config: OidcConfig, now: () => EpochMs): IdentityProvider {
  let held: { discovery: Discovery; until: EpochMs } | null = null
  let asking: Promise<Discovery> | null = null

  async function ask(): Promise<Discovery> {
    try {
      const discovery = await fetchDiscovery(config.issuer)
      held = { discovery, until: now() + FRESH_MS }
      return discovery
    } catch (cause) {
      throw new Problem('unavailable', 'The identity provider cannot be asked how to sign in.', { cause })
    } finally {
      asking = null
    }
  }

  return {
    config,
    async discover() {
      if (held !== null && now() < held.until) return held.discovery
      asking ??= ask()
      return asking
    },
  }
}

async function fetchDiscovery(issuer: string): Promise<Discovery> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    headers: { accept: 'application/json' },
    // What was configured is what is trusted; a redirect could lead anywhere.
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`the provider answered ${response.status}`)
  const document: unknown = await response.json()
  if (!isDiscovery(document)) throw new Error('the provider answered no discovery document')
  if (document.issuer !== issuer)
    throw new Error(`the discovery document is that of ${JSON.stringify(document.issuer)}`)
  const isInTheClear = [document.authorization_endpoint, document.token_endpoint].some(isHttp)
  if (isInTheClear && !isHttp(issuer)) throw new Error('the provider would have people sign in in the clear')
  return document
}

function isDiscovery(document: unknown): document is Discovery {
  const { issuer, authorization_endpoint, token_endpoint } = Object(document)
  return [issuer, authorization_endpoint, token_endpoint].every(
    url => typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? ''),
  )
}

function isHttp(url: string): boolean {
  return new URL(url).protocol === 'http:'
}
