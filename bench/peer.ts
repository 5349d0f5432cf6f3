/** The process that runs a peer's HTTP server. */
import { bareTransaction } from './peers/bare-transaction.ts'
import { listen, type Peer } from './peers/http.ts'
import { postgresLimiter, redisLimiter } from './peers/limiters.ts'
import { redisLedger } from './peers/redis-ledger.ts'
import { transactionPerRequest } from './peers/transaction.ts'
import { serveParent } from './servers/worker.ts'

export interface PeerJob {
  kind: 'transaction' | 'bare' | 'redis' | 'postgres' | 'ledger'
  /** URL of the database, or path of the Redis socket. */
  store: string
  connections: number
  /** Users 1…users, for the peers that fill their own store. */
  users: number
  secret: string
}

serveParent(async (job: PeerJob) => listen(await openPeer(job), job.secret))

async function openPeer({ kind, store, connections, users }: PeerJob): Promise<Peer> {
  switch (kind) {
    case 'transaction':
      return { reserve: await transactionPerRequest(store, connections) }
    case 'bare':
      return { reserve: await bareTransaction(store, connections, users) }
    case 'redis':
      return { reserve: await redisLimiter(store) }
    case 'postgres':
      return { reserve: await postgresLimiter(store, connections) }
    case 'ledger':
      return redisLedger(store, users)
  }
}
