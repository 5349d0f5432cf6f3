/** A service that root starts goes on as an account without rights. */
import { flushCompileCache } from 'node:module'
import { resolve } from 'node:path'
import type { Config } from './config/config.ts'
import type { Log } from './db/database.ts'
import { canRead } from './db/embedded/account.ts'
import { prepareAccount } from './db/embedded/owner.ts'

const PROJECT = resolve(import.meta.dirname, '..')

/** What a running service still reads of the project: samples of each kind. */
const NEEDED = ['src/main.ts', 'migrations', 'node_modules/pg/package.json'].map(path => resolve(PROJECT, path))

/**
 * Under root, changes the user of this process for good; otherwise does nothing. Open ports stay open.
 *
 * A project that the account cannot read, such as one in the home of root, keeps the process root: it could serve
 * neither the console nor a module that it loads later. PostgreSQL runs as the account in any case.
 */
export async function dropRoot({ dataDir, databaseUrl }: Config, log: Log): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { name, uid, gid } = await prepareAccount({ dataDir, create: databaseUrl === null, log })
  if (!canRead({ name, uid, gid }, NEEDED)) {
    const message = 'service: runs as root, because its account cannot read the project; move it, for example to /opt'
    return log.warn({ account: name, project: PROJECT }, message)
  }
  // Only root may write to the project: what is compiled by now is kept for the next start.
  flushCompileCache()
  process.setgroups?.([gid])
  process.setgid?.(gid)
  process.setuid?.(uid)
  log.info({ account: name, uid }, 'service: started by root, goes on as its account')
}
