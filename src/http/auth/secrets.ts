/** The service's own secret, with which it signs and verifies tokens if no other key is configured. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../../config/config.ts'

/** The path of the service's own secret. */
export const ownSecretFile = (dataDir: string): string => join(dataDir, 'auth-secret')

/**
 * The service's own secret: 43 characters (32 random bytes, base64url), created on first use. Processes that start at the
 * same time get the same secret. A file that other users can read is made private again.
 * @throws ConfigError if the folder or the file cannot be used
 */
export async function ownSecret(dataDir: string): Promise<string> {
  const file = ownSecretFile(dataDir)
  const refusal = (why: string) =>
    new ConfigError([{ variable: 'DATA_DIR', message: `the secret ${JSON.stringify(file)} ${why}` }])
  let secret: string | null
  try {
    secret = await readPrivate(file)
    if (secret === null) {
      await createPrivate(file, dataDir)
      secret = await readPrivate(file)
    }
  } catch (error) {
    throw refusal(`cannot be read or made (${codeOf(error)}); run this as the user that runs the service`)
  }
  if (secret === null || secret.length < 43) {
    throw refusal('is cut short; delete it, and a new one is made (tokens of the old one end)')
  }
  return secret
}

async function readPrivate(file: string): Promise<string | null> {
  const handle = await open(file, 'r').catch(error => {
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
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await handle.sync()
    // A secret that root makes must be readable to the service, which does not run as root.
    const { uid, gid } = await stat(dataDir)
    if (process.getuid?.() === 0) await handle.chown(uid, gid)
    await link(draft, file).catch(error => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await handle.close()
    await unlink(draft)
  }
  const folder = await open(dataDir, 'r')
  await folder.sync().finally(() => folder.close())
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
