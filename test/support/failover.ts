/** A database server that is restarted, or replaced by a standby that takes over its address. */
import { execFile } from 'node:child_process'
import { chown, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { accountFor } from '../../src/db/embedded/account.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { foldersIn } from '../../src/db/embedded/folders.ts'
import { whenDone } from './cleanup.ts'
import { preparedFolder } from './database.ts'

export interface Failover {
  /** A restart and a fail-over do not change it. */
  readonly url: string
  /** Of a superuser. */
  readonly adminUrl: string
  readonly dataDir: string
  /** Stops the server and starts it again. */
  restart(): Promise<void>
  /** From now on the standby receives nothing: a fail-over loses what is committed later. */
  disconnectStandby(): Promise<void>
  /** Stops the server. Its standby takes over the address, and only reads. */
  replaceByStandby(): Promise<void>
  /** Makes the standby the server. */
  promote(): Promise<void>
}

const log = { info() {}, warn() {}, error: console.error }

/** Call this where tests are declared. It removes everything after those tests. */
export async function startFailover(): Promise<Failover> {
  const dataDir = await preparedFolder()
  const folders = foldersIn(dataDir)
  /** The standby's files, if they are not those of the server. */
  const received = join(dataDir, 'received')
  let isBehind = false
  let server = await startEmbedded({ dataDir, log })
  whenDone(() => server.stop())

  const start = async () => {
    server = await startEmbedded({ dataDir, log })
  }

  return {
    url: server.url,
    adminUrl: server.adminUrl,
    dataDir,
    async restart() {
      await server.stop()
      await start()
    },
    async disconnectStandby() {
      await server.stop()
      await promisify(execFile)('cp', ['-a', folders.cluster, received])
      isBehind = true
      await start()
    },
    async replaceByStandby() {
      await server.stop()
      if (isBehind) {
        await rm(folders.cluster, { recursive: true })
        await rename(received, folders.cluster)
        isBehind = false
      }
      const signal = join(folders.cluster, 'standby.signal')
      await writeFile(signal, '')
      const account = await accountFor(folders)
      if (account !== undefined) await chown(signal, account.uid, account.gid)
      await start()
    },
    async promote() {
      const db = openDatabase({ url: server.adminUrl, maxConnections: 1, statementTimeout: 60_000 })
      await db.query({ text: sql`select pg_promote()` })
      await db.close()
    },
  }
}
