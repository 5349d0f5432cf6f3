/** Creates the database's files, once. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../database.ts'
import { type Account, giveTo, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { exists, type Folders, flush, giveToOwner, prepareAside } from './folders.ts'
import { NAME } from './service-role.ts'

/** Creates the files unless they exist. If two processes do it at the same time, the first wins. */
export async function makeCluster(
  folders: Folders,
  binaries: Binaries,
  account: Account | undefined,
  log: Log,
): Promise<void> {
  if (await exists(folders.cluster)) return
  log.info({ folder: folders.cluster }, 'embedded database: creating it, which takes a few seconds')
  const password = await makePassword(folders)
  await prepareAside(folders, async temporary => {
    const [files, passwordFile] = [join(temporary, 'database'), join(temporary, 'password')]
    await mkdir(files, { mode: 0o700 })
    await writeFile(passwordFile, password, { mode: 0o600 })
    for (const path of [temporary, files, passwordFile]) await giveTo(account, path)
    await initdb(binaries, account, [
      `--pgdata=${files}`,
      `--username=${NAME}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Sort by bytes: an upgrade of the system's libraries must not change the order of an index.
      '--locale=C',
      '--data-checksums',
      '--no-instructions',
    ])
    await rename(files, folders.cluster).catch(async error => {
      if (!(await exists(folders.cluster))) throw error
    })
    await flush(folders.dataDir)
  })
}

async function initdb(binaries: Binaries, account: Account | undefined, args: string[]): Promise<void> {
  try {
    await promisify(execFile)(join(binaries.bin, 'initdb'), args, { ...runAs(account), env: SERVER_ENV })
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    throw new Error(`the database could not be created: ${output || String(error)}`)
  }
}

/** Not the service's own environment: PG… variables would change what the server does. */
export const SERVER_ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' }

/** Creates the password before the files, so that every process that creates the files uses the same one. */
async function makePassword(folders: Folders): Promise<string> {
  await prepareAside(folders, async temporary => {
    const draft = join(temporary, 'password')
    await writeFile(draft, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true })
    await giveToOwner(folders, draft)
    await link(draft, folders.password).catch(error => {
      if (error.code !== 'EEXIST') throw error
    })
  })
  return readPassword(folders)
}

export async function readPassword({ password, dataDir }: Folders): Promise<string> {
  return readFile(password, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new Error(
          `${password} is missing, and the database in ${dataDir} cannot be opened without it. Restore it from a backup.`,
        )
      : error
  })
}
