/** The mark of a restore into a data folder: it is there before the database, in which a restore leaves another mark. */
import { constants, rm } from 'node:fs/promises'
import { exists, flush, foldersIn, openDataFolder } from './folders.ts'
import { openOrMake } from './own-files.ts'

/** @throws Error if a restore into the data folder was begun and not completed */
export async function assertNotRestoring(dataDir: string): Promise<void> {
  const { restoring } = foldersIn(dataDir)
  if (!(await exists(restoring))) return
  throw new Error(
    `a restore into ${dataDir} was not completed: run "sms-quota restore" again, or remove ${restoring} to start without its data`,
  )
}

/** Marks the data folder during `restore`, if it has no database yet. The mark stays if that fails or is killed. */
export async function whileRestoring<T>(dataDir: string, restore: () => Promise<T>): Promise<T> {
  const { cluster, restoring } = await openDataFolder(dataDir)
  if (!(await exists(cluster))) {
    await (await openOrMake(restoring, constants.O_WRONLY, 0o600)).close()
    await flush(dataDir)
  }
  const result = await restore()
  await rm(restoring, { force: true })
  return result
}
