/** The minimum that writes a batch's rows: one statement for the counters, one for the reservations, a commit. */
import { BEGIN, COMMIT, type PipelinedConnection } from '../../src/db/connection/pipelined-connection.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { numberArray } from '../../src/db/ledger/arrays.ts'
import { addReservations } from '../../src/db/ledger/write-reservations.ts'
import { quotaIdOf, type Shard } from '../../src/domain/basics/shard.ts'
import type { Reservation } from '../../src/domain/units/reservation.ts'

export const BARE_STATEMENTS = {
  'bare-counters': sql`update quota q set reserved = q.reserved + k.reserved, seq = q.seq + 1
    from unnest($2::bigint[], $3::bigint[]) k (id, reserved) where q.shard = $1 and q.id = k.id`,
}

/** Reserves one unit of each user's only grant, with the engine's statement. Returns the number of reservations. */
export async function writeBare(
  connection: PipelinedConnection,
  shard: Shard,
  users: readonly number[],
  makeId: () => string,
): Promise<number> {
  const now = Date.now()
  const added = users.map(user => reservationOf(user, quotaIdOf(user, shard), makeId(), now))
  const results = await connection.run([
    BEGIN,
    {
      name: 'bare-counters',
      values: [String(shard), numberArray(users.map(user => quotaIdOf(user, shard))), numberArray(users.map(() => 1))],
    },
    addReservations.call(
      { now },
      added.map(reservation => ({ ...reservation, seq: 0, made_by: null, settled_by: null })),
    ),
    COMMIT,
  ])
  if (results.at(1)?.tag !== `UPDATE ${users.length}`) throw new Error('some quotas were not found')
  return users.length
}

function reservationOf(userId: number, quotaId: number, id: string, now: number): Reservation {
  return {
    user_id: userId,
    id,
    op: 'reserve',
    asked: 1,
    country: null,
    message_type: null,
    allow_partial: false,
    force: false,
    would_deny: null,
    units: 1,
    committed: 0,
    released: 0,
    refunded: 0,
    on_expiry: 'release',
    expired: false,
    verified: false,
    draws: [{ quota_id: quotaId, kind: 'grant', window_no: 0, window_start: now, from: 0, to: 1 }],
    created_at: now,
    expires_at: now + 300_000,
  }
}
