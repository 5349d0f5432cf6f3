/**
 * The account that runs the service and its PostgreSQL if root starts them. PostgreSQL refuses to run as root, and the
 * service needs root for nothing but ports below 1024.
 */
import { execFile, spawnSync } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Folders } from './folders.ts'

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Made at the first start by root, unless an administrator has made it before. */
const OWN_ACCOUNT = 'sms-quota'

/** The account to start the server as; undefined for the service's own. Under root it is the owner of the data folder. */
export async function accountFor({ dataDir, cluster }: Folders): Promise<Account | undefined> {
  const self = process.getuid?.()
  if (self === 0) return ownerOf(dataDir)
  const database = await stat(cluster).catch(() => undefined)
  if (database === undefined || database.uid === self) return undefined
  throw new Error(
    `the database in ${dataDir} belongs to the user with the id ${database.uid}: start the service as that user or as root`,
  )
}

/** The account that a service started by root uses: the owner of its data folder, else an account of its own. */
export async function accountUnderRoot(dataDir: string): Promise<Account> {
  return (await ownerOf(dataDir)) ?? ownAccount()
}

/** The owner of a folder; undefined if the folder is missing, or belongs to root or to `nobody`, which other programs share. */
export async function ownerOf(dataDir: string): Promise<Account | undefined> {
  const folder = await stat(dataDir).catch(() => undefined)
  if (folder === undefined || folder.uid === 0) return undefined
  const { uid, gid } = folder
  const owner = (await readAccounts()).find(account => account.uid === uid)
  return owner?.name === 'nobody' ? undefined : { name: owner?.name ?? `id ${uid}`, uid, gid }
}

async function ownAccount(): Promise<Account> {
  const find = async () => (await readAccounts()).find(({ name }) => name === OWN_ACCOUNT)
  const existing = await find()
  if (existing !== undefined) return existing
  const faults: string[] = []
  for (const [program = '', ...args] of MAKE_ACCOUNT) {
    await promisify(execFile)(program, [...args, OWN_ACCOUNT]).catch(error =>
      faults.push(String(error.stderr || error.message).trim()),
    )
    // Also if it failed: another process may have made the account at the same time.
    const made = await find()
    if (made !== undefined) return made
  }
  throw new Error(
    `the service does not run as root, and could not make its account "${OWN_ACCOUNT}" (${faults.join('; ')}): make it, or start the service as an ordinary user`,
  )
}

/** `useradd` comes with most distributions, `adduser` with BusyBox. Neither makes a home, and no one can log in. */
const MAKE_ACCOUNT = [
  ['useradd', '--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/bin/false'],
  ['adduser', '-S', '-D', '-H', '-h', '/nonexistent', '-s', '/bin/false'],
]

async function readAccounts(): Promise<Account[]> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  // Some systems write the user id of `nobody` as -2.
  return lines.map(([name = '', , uid, gid]) => ({ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }))
}

/** Options that start a child process as the account. Its working folder must be one that every account may enter. */
export function runAs(account: Account | undefined): { cwd: string; uid?: number; gid?: number } {
  return account === undefined ? { cwd: '/' } : { cwd: '/', uid: account.uid, gid: account.gid }
}

/** Whether the account can read the paths. Files and folders are tried, as access lists count as much as their modes. */
export function canRead(account: Account, paths: readonly string[]): boolean {
  const script = 'for path; do if [ -d "$path" ]; then cd -- "$path"; else : <"$path"; fi || exit 1; done'
  return spawnSync('/bin/sh', ['-c', script, 'sh', ...paths], { ...runAs(account), stdio: 'ignore' }).status === 0
}

/** @throws Error if the account cannot enter the folder. */
export function assertReachable(folder: string, account: Account): void {
  if (canRead(account, [folder])) return
  let blocked = folder
  while (blocked !== '/' && !canRead(account, [dirname(blocked)])) blocked = dirname(blocked)
  throw new Error(
    `the service does not run as root, and the account it uses instead (${account.name}) cannot enter ${blocked}. Set DATA_DIR to a folder that this account can reach, for example /var/lib/sms-quota.`,
  )
}
