/** The folders that an upgrade of the database leaves behind if its process is killed. */
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, type Folders, flush, foldersIn, upgradeFolder } from './folders.ts'
import { removeTree, within } from './own-files.ts'
import { endServer } from './postmaster.ts'

/** Puts the new database in its place, if the old one is gone from there: then it was complete. */
export async function finishUpgrade(folders: Folders): Promise<void> {
  const folder = upgradeFolder(folders)
  if ((await exists(folders.cluster)) || !(await exists(foldersIn(folder).cluster))) return
  await within(folder, at => rename(join(at, 'database'), folders.cluster))
  await flush(folders.dataDir)
}

/** Removes the old database, or a new one that is not complete. The caller holds the lock of the data folder. */
export async function removeUpgrade(folders: Folders): Promise<void> {
  const folder = upgradeFolder(folders)
  if (!(await exists(folder))) return
  await endServer(foldersIn(folder), 5_000)
  await removeTree(folder)
}
