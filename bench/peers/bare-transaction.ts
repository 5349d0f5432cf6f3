/**
 * A peer that a team would write by hand: two small tables with one index each, and one transaction per request over a
 * connection pool. No settlement, no windows, no caps, no events and no usage.
 */
import pg from 'pg'
import type { Reserve } from './http.ts'

/** More units than any run draws. */
const LIMIT = 1_000_000_000_000

const TABLES = `
  create table quota (user_id bigint primary key, "limit" bigint not null, used bigint not null default 0);
  create table message (user_id bigint not null, id text not null, units bigint not null, unique (user_id, id))`
const ADD_MESSAGE = {
  name: 'add-message',
  text: 'insert into message (user_id, id, units) values ($1, $2, $3) on conflict do nothing',
}
const DRAW = {
  name: 'draw',
  text: `update quota set used = used + $2 where user_id = $1 and used + $2 <= "limit"
    returning "limit" - used as remaining`,
}
const REMAINING = {
  name: 'remaining',
  text: 'select "limit" - used as remaining from quota where user_id = $1',
}

interface RemainingRow {
  /** A bigint, which the driver returns as text. */
  remaining: string
}

/** Creates the tables in an empty database, with users 1…users. */
export async function bareTransaction(url: string, connections: number, users: number): Promise<Reserve> {
  const pool = new pg.Pool({ connectionString: url, max: connections, min: connections })
  await pool.query(TABLES)
  await pool.query(`insert into quota (user_id, "limit") select n, ${LIMIT} from generate_series(1, ${users}) n`)
  await pool.query('vacuum (analyze) quota')

  return async (userId, id, units) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rowCount } = await client.query({ ...ADD_MESSAGE, values: [userId, id, units] })
      const isNew = rowCount === 1
      const { rows } = await client.query<RemainingRow>(
        isNew ? { ...DRAW, values: [userId, units] } : { ...REMAINING, values: [userId] },
      )
      const [row] = rows
      await client.query(row === undefined ? 'rollback' : 'commit')
      return { granted: row !== undefined, remaining: Number(row?.remaining ?? 0) }
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
}
