/**
 * Moves the database of a data folder to a newer major version of PostgreSQL: a backup of it is restored into a second
 * data folder inside of it, and takes its place once it verifies.
 *
 * The old database stays in its place until then. If a process is killed after that, the next start puts the new one in
 * its place.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkBackup, restoreBackup } from '../backup/restore.ts'
import { type Written, writeBackup } from '../backup/write.ts'
import type { Log } from '../connection/database.ts'
import { accountFor } from './account.ts'
import { copiesOf, findBinaries, findNewestBinaries } from './binaries.ts'
import { readPassword } from './data-directory.ts'
import { startEmbedded } from './embedded.ts'
import { exists, type Folders, foldersIn, openDataFolder, upgradeFolder } from './folders.ts'
import { makeOwn, pathOf, removeTree, withFolder, within } from './own-files.ts'
import { readPidFile } from './postmaster.ts'
import { finishUpgrade, removeUpgrade } from './upgrade-folder.ts'

export interface UpgradeOptions {
  readonly dataDir: string
  readonly log: Log
  /** Whether the new database is right. */
  readonly verify: (url: string) => Promise<boolean>
  /** Rebuilds the database even if its version is the newest. */
  readonly force?: boolean
}

export interface Upgraded {
  readonly from: string
  readonly to: string
  readonly written: Written
}

/**
 * No service may run on the folder. It needs room for a second database and a backup.
 * @returns undefined if the database has the newest version already
 * @throws Error if it fails; then the old database is unchanged
 */
export async function upgradeDatabase(options: UpgradeOptions): Promise<Upgraded | undefined> {
  const { dataDir, log, force = false } = options
  const folders = await openDataFolder(dataDir)
  if (!(await exists(folders.cluster))) throw new Error(`there is no database in ${dataDir}`)
  // It takes the lock of the folder, so that no service uses it meanwhile.
  const old = await startEmbedded({ dataDir, log })
  let written: Written
  let to: string
  try {
    const account = await accountFor(folders)
    const from = await findBinaries(folders, account, log)
    to = (await findNewestBinaries(folders, account, log)).version
    if (Number.parseInt(to, 10) === from.major && !force) return undefined
    written = await rebuild(folders, old.url, options)
  } finally {
    await old.stop()
  }
  await swap(folders)
  if (Number.parseInt(to, 10) !== Number.parseInt(old.version, 10)) {
    for (const copy of await copiesOf(folders, Number.parseInt(old.version, 10))) await removeTree(copy)
  }
  return { from: old.version, to, written }
}

async function rebuild(folders: Folders, oldUrl: string, { log, verify }: UpgradeOptions): Promise<Written> {
  const inside = foldersIn(upgradeFolder(folders))
  const owner = await stat(folders.dataDir)
  const isRoot = process.getuid?.() === 0
  await mkdir(inside.dataDir, { mode: 0o700 })
  try {
    return await withFolder(inside.dataDir, async handle => {
      const at = isRoot ? pathOf(handle, inside.dataDir) : inside.dataDir
      await makeOwn(join(at, 'postgres-password'), await readPassword(folders), owner)
      const file = join(at, 'backup')
      const written = await writeBackup(oldUrl, createWriteStream(file, { flags: 'wx', mode: 0o600 }), new Date())
      const open = () => createReadStream(file)
      const { header } = await checkBackup(open)
      if (isRoot) await handle.chown(owner.uid, owner.gid)
      const fresh = await startEmbedded({ dataDir: inside.dataDir, log, ownerIsSettled: true })
      try {
        await restoreBackup({ url: fresh.url, open, header, log })
        if (!(await verify(fresh.url))) throw new Error('the new database differs from what its ledger proves')
      } finally {
        await fresh.stop()
      }
      return written
    })
  } catch (error) {
    await removeTree(inside.dataDir)
    throw error
  }
}

/** Puts the new database in the place of the old one, which is removed. */
async function swap(folders: Folders): Promise<void> {
  if ((await readPidFile(folders)) !== undefined) throw new Error('a service has started on the old database: stop it')
  await within(upgradeFolder(folders), at => rename(folders.cluster, join(at, 'previous')))
  await finishUpgrade(folders)
  await removeUpgrade(folders)
}
