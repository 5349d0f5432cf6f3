/** The process that runs a peer's HTTP server. */
import { listen, type Reserve } from './peers/http.ts'
import { postgresLimiter, redisLimiter } from './peers/limiters.ts'
import { transactionPerRequest } from './peers/transaction.ts'
import { serveParent } from './servers/worker.ts'

export interface PeerJob {
  kind: 'transaction' | 'redis' | 'postgres'
  /** URL of the database, or path of the Redis socket. */
  store: string
  connections: number
  secret: string
}

serveParent(async ({ kind, store, connections, secret }: PeerJob) =>
  listen(await reserveBy(kind, store, connections), secret),
)

function reserveBy(kind: PeerJob['kind'], store: string, connections: number): Promise<Reserve> {
  switch (kind) {
    case 'transaction':
      return transactionPerRequest(store, connections)
    case 'redis':
      return redisLimiter(store)
    case 'postgres':
      return postgresLimiter(store, connections)
  }
}
