/** Creates the database's files, once. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants, link, mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../connection/database.ts'
import { type Account, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { exists, type Folders, flush, prepareAside } from './folders.ts'
import { makeOwn, openOwn, withFolder } from './own-files.ts'
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
  await prepareAside(folders, async (at, folder) => {
    const files = join(at, 'database')
    await mkdir(files, { mode: 0o700 })
    if (account !== undefined) await withFolder(files, handle => handle.chown(account.uid, account.gid))
    await makeOwn(join(at, 'password'), password, account)
    await initdb(binaries, account, [
      `--pgdata=${join(folder, 'database')}`,
      `--username=${NAME}`,
      `--pwfile=${join(folder, 'password')}`,
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
  const owner = await stat(folders.dataDir)
  await prepareAside(folders, async at => {
    const draft = join(at, 'password')
    await makeOwn(draft, randomBytes(24).toString('base64url'), owner)
    await link(draft, folders.password).catch(error => {
      if (error.code !== 'EEXIST') throw error
    })
  })
  return readPassword(folders)
}

export async function readPassword({ password, dataDir }: Folders): Promise<string> {
  const handle = await openOwn(password, constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new Error(
          `${password} is missing, and the database in ${dataDir} cannot be opened without it. Restore it from a backup.`,
        )
      : error
  })
  try {
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
