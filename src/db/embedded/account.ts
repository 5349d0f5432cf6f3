/**
 * The account that runs the server. PostgreSQL refuses to run as root, so a service under root starts it as another
 * account, which must be able to enter the data folder.
 */
import { spawnSync } from 'node:child_process'
import { chmod, chown, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Folders } from './folders.ts'

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * The account to run the server as; undefined for the service's own. Under root it is the owner of the database or of
 * the data folder, else `postgres`, else `nobody`.
 */
export async function accountFor({ dataDir, cluster }: Folders): Promise<Account | undefined> {
  const [folder, database] = await Promise.all([stat(dataDir), stat(cluster).catch(() => undefined)])
  const self = process.getuid?.()
  if (self !== 0) {
    if (database === undefined || database.uid === self) return undefined
    throw new Error(
      `the database in ${dataDir} belongs to the user with the id ${database.uid}: start the service as that user or as root`,
    )
  }
  const owner = [database, folder].find(entry => entry !== undefined && entry.uid !== 0)
  const account = owner ? { name: `id ${owner.uid}`, uid: owner.uid, gid: owner.gid } : await serverAccount()
  if (folder.uid === 0) await chmod(dataDir, folder.mode | 0o011)
  assertReachable(dataDir, account)
  return account
}

/** Options that start a child process as the account. Its working folder must be one that every account may enter. */
export function runAs(account: Account | undefined): { cwd: string; uid?: number; gid?: number } {
  return account === undefined ? { cwd: '/' } : { cwd: '/', uid: account.uid, gid: account.gid }
}

export async function giveTo(account: Account | undefined, path: string): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid)
}

async function serverAccount(): Promise<Account> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = users.find(user => user[0] === wanted) ?? []
    // Some systems write the user id of `nobody` as -2.
    if (name !== undefined) return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and this system has neither a user "postgres" nor "nobody" to run it as: start the service as an ordinary user',
  )
}

/** Tries to enter the folder, because access lists count as much as a folder's mode. */
function assertReachable(folder: string, account: Account): void {
  const canEnter = (path: string) =>
    spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', path], { ...runAs(account), stdio: 'ignore' }).status === 0
  if (canEnter(folder)) return
  let blocked = folder
  while (blocked !== '/' && !canEnter(dirname(blocked))) blocked = dirname(blocked)
  throw new Error(
    `PostgreSQL refuses to run as root, and the user it runs as instead (${account.name}) cannot enter ${blocked}. Set DATA_DIR to a folder that this user can reach, for example /var/lib/sms-quota.`,
  )
}
