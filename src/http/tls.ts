/** The certificate of the service's own HTTPS, from files that other programs renew. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { TlsConfig } from '../config/config.ts'
import type { Log } from '../db/connection/database.ts'
import type { EpochMs } from '../domain/time/time.ts'

/** How often the files are checked for a change, in milliseconds. */
const CHECK_MS = 2_000

const OLDEST_VERSION = 'TLSv1.2'

/** A certificate with its key, as a server takes them. */
export interface Certificate {
  readonly options: SecureContextOptions
  readonly expiresAt: EpochMs
  /** Which state of the files it was read from. */
  readonly version: string
}

/**
 * Reads the certificate chain and its private key, both PEM.
 * @throws Error that names the setting, the file and the reason, and never contains a key
 */
export async function readCertificate({ certFile, keyFile }: TlsConfig): Promise<Certificate> {
  const version = await versionOf({ certFile, keyFile })
  const cert = await readNamed('TLS_CERT_FILE', certFile)
  const key = await readNamed('TLS_KEY_FILE', keyFile)
  const leaf = parse('TLS_CERT_FILE', certFile, 'no PEM certificate', () => new X509Certificate(cert))
  const privateKey = parse('TLS_KEY_FILE', keyFile, 'no PEM private key without a passphrase', () =>
    createPrivateKey(key),
  )
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new Error(`TLS_KEY_FILE: ${quote(keyFile)} is not the key of the certificate in ${quote(certFile)}`)
  }
  const options = { cert, key, minVersion: OLDEST_VERSION } as const
  // A chain of which a later certificate is broken passes all checks before.
  parse('TLS_CERT_FILE', certFile, 'no chain that TLS accepts', () => createSecureContext(options))
  return { options, expiresAt: Date.parse(leaf.validTo), version }
}

/**
 * Calls `use` with each new certificate in the files, from now until the returned function is called. A certificate that
 * cannot be used is logged once, and the previous one stays.
 */
export function watchCertificate(
  files: TlsConfig,
  current: Certificate,
  log: Log,
  use: (certificate: Certificate) => void,
): () => void {
  let known = current.version
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function check(): Promise<void> {
    const version = await versionOf(files)
    if (version !== known) {
      known = version
      try {
        const certificate = await readCertificate(files)
        use(certificate)
        const expires_at = new Date(certificate.expiresAt).toISOString()
        log.info({ file: files.certFile, expires_at }, 'tls: uses the new certificate')
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log.error({ reason }, 'tls: cannot use the new certificate, keeps the previous one')
      }
    }
    schedule()
  }

  function schedule(): void {
    if (!isStopped) timer = setTimeout(check, CHECK_MS).unref()
  }

  schedule()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/** Differs when one of the files was written or replaced, or its rights were changed. Links are followed, as to the secrets of Kubernetes. */
async function versionOf({ certFile, keyFile }: TlsConfig): Promise<string> {
  const versions = [certFile, keyFile].map(async file => {
    const found = await stat(file).catch(() => undefined)
    return found === undefined ? 'missing' : `${found.ino} ${found.ctimeMs}`
  })
  return (await Promise.all(versions)).join(', ')
}

async function readNamed(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw new Error(`${setting}: ${quote(file)} cannot be read${code}`)
  }
}

function parse<T>(setting: string, file: string, fault: string, work: () => T): T {
  try {
    return work()
  } catch {
    throw new Error(`${setting}: ${quote(file)} contains ${fault}`)
  }
}

const quote = (text: string) => JSON.stringify(text)
