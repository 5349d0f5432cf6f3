/** A peer with one transaction per request: the same tables and driver, prepared statements, a connection pool. */
import pg from 'pg'
import { shardOf } from '../../src/domain/basics/shard.ts'
import type { Reserve } from './http.ts'

interface QuotaRow {
  id: string
  limit: string | null
  window_no: string
  window_start: Date
  used: string
  reserved: string
}

const LOCK = {
  name: 'lock',
  text: 'select 1 from account where shard = $1 and user_id = $2 for update',
}
const QUOTAS = {
  name: 'quotas',
  text: `select id, "limit", window_no, window_start, used, reserved from quota
    where shard = $1 and user_id = $2 and deleted_at is null order by id`,
}
const INSERT = {
  name: 'insert',
  text: `insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
      refunded, on_expiry, expired, draws, created_at, expires_at, changed_at)
    values ($1, $2, $3, 'reserve', $4, false, false, $4, 0, 0, 0, 'release', false, $5, $6, $7, $6)`,
}
const UPDATE = {
  name: 'update',
  text: 'update quota set reserved = reserved + $3, seq = seq + 1 where shard = $1 and id = $2',
}

export async function transactionPerRequest(url: string, connections: number): Promise<Reserve> {
  const pool = new pg.Pool({ connectionString: url, max: connections, min: connections })

  return async (userId, id, units) => {
    const shard = shardOf(userId)
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query({ ...LOCK, values: [shard, userId] })
      const { rows } = await client.query<QuotaRow>({ ...QUOTAS, values: [shard, userId] })
      const quota = rows.find(row => remainingOf(row) >= units)
      if (quota === undefined) {
        await client.query('rollback')
        return { granted: false, remaining: 0 }
      }
      const draws = [quota.id, 0, quota.window_no, quota.window_start.getTime(), 0, units]
      const now = Date.now()
      const expiry = new Date(now + 300_000)
      await client.query({ ...INSERT, values: [shard, userId, id, units, draws, new Date(now), expiry] })
      await client.query({ ...UPDATE, values: [shard, quota.id, units] })
      await client.query('commit')
      return { granted: true, remaining: remainingOf(quota) - units }
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
}

function remainingOf({ limit, used, reserved }: QuotaRow): number {
  return limit === null ? Number.POSITIVE_INFINITY : Number(limit) - Number(used) - Number(reserved)
}
