/** The identity provider for signing in to the console, as far as the service itself needs it. */
import type { OidcConfig } from '../../config/config.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import type { EpochMs } from '../../domain/time/time.ts'
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
  /** The discovery document, at most an hour old. @throws Problem `unavailable` if it cannot be read */
  discover(): Promise<Discovery>
}

const FETCH_TIMEOUT_MS = 5_000

/**
 * The configured provider. Its document is read for the first sign-in, so the service starts and serves without it.
 * Concurrent reads share one request.
 */
export function createProvider(config: OidcConfig, now: () => EpochMs): IdentityProvider {
  let cached: { discovery: Discovery; at: EpochMs } | null = null
  let reading: Promise<Discovery> | null = null

  async function read(): Promise<Discovery> {
    try {
      const discovery = await fetchDiscovery(config.issuer)
      cached = { discovery, at: now() }
      return discovery
    } catch (cause) {
      throw new Problem('unavailable', 'The identity provider is not available, so signing in is not possible now.', {
        cause,
      })
    } finally {
      reading = null
    }
  }

  return {
    config,
    async discover() {
      // The absolute value, so that a clock that was ahead once does not make it stay.
      if (cached !== null && Math.abs(now() - cached.at) < MEMORY_MS.identityProvider) return cached.discovery
      reading ??= read()
      return reading
    },
  }
}

async function fetchDiscovery(issuer: string): Promise<Discovery> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    headers: { accept: 'application/json' },
    // Only the configured address is trusted; a redirect could lead anywhere.
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`the provider answered ${response.status}`)
  const document: unknown = await response.json()
  if (!isDiscovery(document)) throw new Error('the provider did not answer with a discovery document')
  if (document.issuer !== issuer)
    throw new Error(`the discovery document is that of ${JSON.stringify(document.issuer)}`)
  const isUnencrypted = [document.authorization_endpoint, document.token_endpoint].some(isHttp)
  if (isUnencrypted && !isHttp(issuer)) throw new Error('the provider would send sign-ins unencrypted')
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
