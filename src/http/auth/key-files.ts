/** Public keys in files, which are read again when they change. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { FastifyBaseLogger } from 'fastify'
import { ConfigError } from '../../config/config.ts'
import type { KeyRing, PinnedKey } from './key-ring.ts'

/** The names of Ed25519: of RFC 8037, and the later one. */
export const ED25519 = ['EdDSA', 'Ed25519']

/** Where changes of keys are logged. */
export type KeyLog = Pick<FastifyBaseLogger, 'info' | 'error'>

/** A file of a public key, and the setting that names it. */
export interface KeyFile {
  variable: string
  file: string
}

/**
 * Reads the files. `refresh` reads those again that have changed. A file that has become unusable keeps its last key, and
 * the log says so.
 * @throws ConfigError if a file cannot be used
 */
export async function openKeyFiles(files: readonly KeyFile[], log: KeyLog): Promise<KeyRing> {
  const entries = await Promise.all(
    files.map(async source => {
      const stamp = await stampOf(source.file)
      return { source, stamp, key: await readPublicKey(source.file, source.variable) }
    }),
  )

  async function refreshEntry(entry: (typeof entries)[number]): Promise<boolean> {
    const { variable, file } = entry.source
    const stamp = await stampOf(file)
    if (stamp === entry.stamp) return false
    entry.stamp = stamp
    try {
      entry.key = await readPublicKey(file, variable)
    } catch (error) {
      log.error({ err: error, variable }, 'auth: a changed key file cannot be used, keeping its last key')
      return false
    }
    log.info({ variable }, 'auth: read a changed key file')
    return true
  }

  return {
    keys: () => entries.map(({ key }) => key),
    async refresh() {
      const changed = await Promise.all(entries.map(refreshEntry))
      return changed.includes(true)
    },
  }
}

/** Differs after a change of the file, also if another file takes its place. */
async function stampOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  return found === null ? 'missing' : `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`
}

/** Reads a PEM public key, an X.509 certificate or a JWK. @throws ConfigError if the file cannot be used */
export async function readPublicKey(file: string, variable = 'AUTH_PUBLIC_KEY_FILE'): Promise<PinnedKey> {
  const refusal = (why: string) => new ConfigError([{ variable, message: `the file ${JSON.stringify(file)} ${why}` }])
  const text = await readFile(file, 'utf8').catch(error => {
    throw refusal(`cannot be read (${codeOf(error)})`)
  })
  let key: KeyObject
  try {
    const jwk = text.trimStart().startsWith('{') ? (JSON.parse(text) as JsonWebKey) : null
    // Node would derive the public key, but a service that only verifies must not hold the private one.
    if (text.includes('PRIVATE KEY-----') || (jwk !== null && Object.hasOwn(jwk, 'd'))) {
      throw refusal('holds a private key; give the service only the public one')
    }
    if (jwk !== null && Object.hasOwn(jwk, 'keys')) throw refusal('holds a set of keys; give one, or use AUTH_JWKS_URL')
    key = jwk === null ? createPublicKey(text) : createPublicKey({ key: jwk, format: 'jwk' })
  } catch (error) {
    throw error instanceof ConfigError ? error : refusal('holds no PEM public key, X.509 certificate or JWK')
  }
  const algorithms = algorithmsOf(key)
  if (algorithms === null) {
    throw refusal('holds a key of another kind than RSA (2048 bits or more), EC P-256 or Ed25519')
  }
  return { algorithms, keyFor: () => key }
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): readonly string[] | null {
  if (asymmetricKeyType === 'ed25519') return ED25519
  if (asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return ['RS256']
  return asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1' ? ['ES256'] : null
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
