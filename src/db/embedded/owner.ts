/** Gives the data folder to the account that the service uses if root starts it. */
import { readdir, stat } from 'node:fs/promises'
import pg from 'pg'
import type { Log } from '../connection/database.ts'
import { type Account, accountUnderRoot, assertReachable } from './account.ts'
import { exists, type Folders, openDataFolder } from './folders.ts'
import { takeLock } from './lock.ts'
import { giveTree, withFolder } from './own-files.ts'
import { endServer } from './postmaster.ts'
import { findRunning } from './server.ts'

interface OwnerOptions {
  readonly dataDir: string
  /** Whether to create the folder if it is missing. */
  readonly create: boolean
  readonly log: Log
}

/** Under root only: the account to run the service as. Its data folder, if there is one, is the account's afterwards. */
export async function prepareAccount({ dataDir, create, log }: OwnerOptions): Promise<Account> {
  if (create || (await exists(dataDir))) await giveFolderToAccount(await openDataFolder(dataDir), log)
  return accountUnderRoot(dataDir)
}

/**
 * Under root, makes sure that the data folder belongs to an account that is not root. Earlier versions kept the folder
 * root's and gave only the database to another account.
 * @throws Error if that account cannot reach the folder, or a service still uses it
 */
export async function giveFolderToAccount(folders: Folders, log: Log): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { dataDir } = folders
  const account = await accountUnderRoot(dataDir)
  // Before the owner: what is there while the folder still is another's was not put there by a start that gave it meanwhile.
  const isNew = (await readdir(dataDir)).length === 0
  const { uid } = await stat(dataDir)
  if (uid !== account.uid) await (isNew ? giveNewFolder(dataDir, account) : giveUsedFolder(folders, account, log))
  assertReachable(dataDir, account)
}

/** Never takes the folder from its account, which another start may have made its owner meanwhile and which may be at work in it. */
const giveNewFolder = (dataDir: string, { uid, gid }: Account) =>
  withFolder(dataDir, async handle => {
    await handle.chmod(0o700)
    await handle.chown(uid, gid)
  })

async function giveUsedFolder(folders: Folders, account: Account, log: Log): Promise<void> {
  const { dataDir } = folders
  log.info({ folder: dataDir, account: account.name }, 'embedded database: giving the data folder to the account')
  await endUnused(folders)
  await withFolder(dataDir, handle => handle.chmod(0o700))
  await giveTree(dataDir, account)
}

/** Ends a server that a killed service left behind: it runs as the account of before. */
async function endUnused(folders: Folders): Promise<void> {
  const server = await findRunning(folders)
  if (server === undefined) return
  const client = new pg.Client({ connectionString: server.adminUrl, connectionTimeoutMillis: 3_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await takeLock(client, folders)
    await endServer(folders, 5_000)
  } finally {
    await client.end().catch(() => {})
  }
}
