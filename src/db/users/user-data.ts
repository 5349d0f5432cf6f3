/** Everything of one user, in pages, for an export. What lists of quotas and reservations read, and usage (`usage-export.ts`), is not repeated here. */
import type { DenialKey } from '../../domain/denial.ts'
import type { ExplanationView } from '../../domain/explanation.ts'
import type { Pause } from '../../domain/pause.ts'
import type { Quota } from '../../domain/quota.ts'
import { shardOf } from '../../domain/shard.ts'
import type { Database, SqlValue } from '../connection/database.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { DENIAL_COLUMNS } from '../ledger/add-denials.ts'
import type { StoredEvent } from '../outbox/outbox.ts'
import { PAUSE_COLUMNS, PAUSE_SHARD } from '../pauses/pauses.ts'
import { QUOTA_COLUMNS } from '../quotas/quotas.ts'
import type { LoggedDenial } from '../reservations/denials.ts'

/** The user's quotas whose id is above `after`, by id: the undeleted ones or the deleted ones. */
export function quotasAfter(
  db: Database,
  userId: number,
  after: number,
  state: 'undeleted' | 'deleted',
  size: number,
): Promise<Quota[]> {
  return read(
    db,
    sql`select ${QUOTA_COLUMNS} from quota
     where shard = $1 and user_id = $2 and deleted_at is ${state === 'deleted' ? sql`not null` : sql`null`} and id > $3
     order by id limit $4`,
    [shardOf(userId), userId, after, size],
  )
}

const DENIAL_FIELDS = joinSql([sql`at`, sql`number`, ...DENIAL_COLUMNS, sql`explanation`])

/** The user's logged denials behind `after`, oldest first, each with its explanation as it was logged. */
export function denialsAfter(
  db: Database,
  userId: number,
  after: Pick<DenialKey, 'at' | 'number'>,
  size: number,
): Promise<(LoggedDenial & { explanation: ExplanationView[] })[]> {
  return read(
    db,
    sql`select ${DENIAL_FIELDS} from denial where shard = $1 and user_id = $2 and (at, number) > ($3, $4)
     order by at, number limit $5`,
    [shardOf(userId), userId, timestampParam(after.at), after.number, size],
  )
}

/** The user's events whose sequence is above `after`, by sequence. */
export function eventsAfter(db: Database, userId: number, after: number, size: number): Promise<StoredEvent[]> {
  return read(
    db,
    sql`select shard, number, type, at, user_id, sequence, data from event
     where shard = $1 and user_id = $2 and sequence > $3 order by sequence limit $4`,
    [shardOf(userId), userId, after, size],
  )
}

/** The user's pauses behind `after`, by country and id. */
export function pausesAfter(
  db: Database,
  userId: number,
  after: Pick<Pause, 'country' | 'id'>,
  size: number,
): Promise<Pause[]> {
  return read(
    db,
    sql`select ${PAUSE_COLUMNS} from pause where shard = $1 and user_id = $2 and (country, id) > ($3, $4)
     order by country, id limit $5`,
    [PAUSE_SHARD, userId, after.country, after.id, size],
  )
}

function read<Row extends object>(db: Database, text: Sql, values: SqlValue[]): Promise<Row[]> {
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    return tx.query<Row>({ text, values })
  }, 'snapshot')
}
