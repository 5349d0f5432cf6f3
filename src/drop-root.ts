/** A service or a command that root starts goes on as an account without rights. */
import { flushCompileCache } from 'node:module'
import { resolve } from 'node:path'
import type { Config } from './config/config.ts'
import type { Log } from './db/connection/database.ts'
import { type Account, canRead, ownerOf } from './db/embedded/account.ts'
import { exists, foldersIn } from './db/embedded/folders.ts'
import { prepareAccount } from './db/embedded/owner.ts'

const PROJECT = resolve(import.meta.dirname, '..')

/** What a running service still reads of the project: samples of each kind. */
const NEEDED = ['src/main.ts', 'migrations', 'node_modules/pg/package.json'].map(path => resolve(PROJECT, path))

/**
 * For a command beside the service, before it looks into the data folder. It makes neither a folder nor an account: without a
 * folder that is an account's, or has a database, there is nothing that another account could have put there.
 */
export async function dropRootBeside({ dataDir }: Config): Promise<void> {
  if (process.getuid?.() !== 0) return
  if ((await ownerOf(dataDir)) === undefined && !(await exists(foldersIn(dataDir).cluster))) return
  // The service has logged it if the process stays root.
  drop(await prepareAccount({ dataDir, create: false, log: SILENT }), SILENT)
}

const SILENT: Log = { info() {}, warn() {}, error() {} }

/**
 * Under root, changes the user of this process for good; otherwise does nothing. Open ports stay open.
 *
 * A project that the account cannot read, such as one in the home of root, keeps the process root: it could serve
 * neither the console nor a module that it loads later. PostgreSQL runs as the account in any case.
 */
export async function dropRoot({ dataDir, databaseUrl }: Config, log: Log): Promise<void> {
  if (process.getuid?.() !== 0) return
  drop(await prepareAccount({ dataDir, create: databaseUrl === null, log }), log)
}

function drop({ name, uid, gid }: Account, log: Log): void {
  if (!canRead({ name, uid, gid }, NEEDED)) {
    const message = 'service: runs as root, because its account cannot read the project; move it, for example to /opt'
    log.warn({ account: name, project: PROJECT }, message)
    return
  }
  // Only root may write to the project: what is compiled by now is kept for the next start.
  flushCompileCache()
  process.setgroups?.([gid])
  process.setgid?.(gid)
  process.setuid?.(uid)
  log.info({ account: name, uid }, 'service: started by root, goes on as its account')
}
