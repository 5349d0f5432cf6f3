/** The service's own secrets, in its data folder, which it uses if no other key is configured. */
import { randomBytes } from 'node:crypto'
import { constants, link, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../../config/config.ts'
import { ForeignFile, makeOwn, openOwn } from '../../db/embedded/own-files.ts'

/** The secrets that the service makes: the one that signs tokens, and the key that encrypts webhook secrets. */
export type OwnSecret = 'auth-secret' | 'secrets-key'

/** What ends with a secret. */
const LOST_WITH: Record<OwnSecret, string> = {
  'auth-secret': 'delete it, and a new one is made (tokens of the old one end)',
  'secrets-key': 'restore it from a backup',
}

/** The path of a secret of the service's own. */
export const ownSecretFile = (dataDir: string, name: OwnSecret = 'auth-secret'): string => join(dataDir, name)

/**
 * A secret of the service's own: 43 characters (32 random bytes, base64url), created on first use. Processes that start at
 * the same time get the same secret. A file that other users can read is made private again.
 * @throws ConfigError if the folder or the file cannot be used
 */
export async function ownSecret(dataDir: string, name: OwnSecret = 'auth-secret'): Promise<string> {
  const secret = (await readOwnSecret(dataDir, name)) ?? (await makeOwnSecret(dataDir, name))
  if (secret === null) throw refusal(dataDir, name, 'was deleted while it was read')
  return secret
}

/** A secret of the service's own; null if it was not made. @throws ConfigError if the file cannot be used */
export async function readOwnSecret(dataDir: string, name: OwnSecret): Promise<string | null> {
  const secret = await withRefusal(dataDir, name, () => readPrivate(ownSecretFile(dataDir, name)))
  if (secret !== null && secret.length < 43) throw refusal(dataDir, name, `is cut short; ${LOST_WITH[name]}`)
  return secret
}

async function makeOwnSecret(dataDir: string, name: OwnSecret): Promise<string | null> {
  await withRefusal(dataDir, name, () => createPrivate(ownSecretFile(dataDir, name), dataDir))
  return readOwnSecret(dataDir, name)
}

async function withRefusal<T>(dataDir: string, name: OwnSecret, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ForeignFile) throw refusal(dataDir, name, error.why)
    const why = `cannot be read or made (${codeOf(error)}); run this as the user that runs the service`
    throw refusal(dataDir, name, why)
  }
}

function refusal(dataDir: string, name: OwnSecret, why: string): ConfigError {
  const file = JSON.stringify(ownSecretFile(dataDir, name))
  return new ConfigError([{ variable: 'DATA_DIR', message: `the secret ${file} ${why}` }])
}

async function readPrivate(file: string): Promise<string | null> {
  const handle = await openOwn(file, constants.O_RDONLY).catch(error => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  if (handle === null) return null
  try {
    const { mode } = await handle.stat()
    if ((mode & 0o077) !== 0) await handle.chmod(0o600)
    return (await handle.readFile('utf8')).trim()
  } finally {
    await handle.close()
  }
}

/** Writes a draft and links it, so that the file is never incomplete. The link fails if another process was faster. */
async function createPrivate(file: string, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  // A secret that root makes is readable to the service, which does not run as root.
  try {
    await makeOwn(draft, `${randomBytes(32).toString('base64url')}\n`)
    await link(draft, file).catch(error => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  const folder = await open(dataDir, 'r')
  await folder.sync().finally(() => folder.close())
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
