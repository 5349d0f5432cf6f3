/** Everything of one user, in pages, for an export. What lists of quotas and reservations read, and usage (`usage-export.ts`), is not repeated here. */

import { shardOf } from '../../domain/basics/shard.ts'
import type { Pause } from '../../domain/pauses/pause.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { DenialKey } from '../../domain/units/denial.ts'
import type { ExplanationView } from '../../domain/units/explanation.ts'
import type { Database } from '../connection/database.ts'
import { joinSql, sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { DENIAL_COLUMNS } from '../ledger/add-denials.ts'
import { type Page, readPage, type Slice } from '../lists/pages.ts'
import type { StoredEvent } from '../outbox/outbox.ts'
import { PAUSE_COLUMNS, PAUSE_SHARD } from '../pauses/pauses.ts'
import { QUOTA_COLUMNS } from '../quotas/quotas.ts'
import type { LoggedDenial } from '../reservations/denials.ts'

interface OfUser {
  user_id: number
}

/** The user's quotas by id: the undeleted ones or the deleted ones. */
export function quotasOfExport(
  db: Database,
  { user_id, state }: OfUser & { state: 'undeleted' | 'deleted' },
  { after = 0, size }: Page<number>,
): Promise<Slice<Quota, number>> {
  const text = sql`select ${QUOTA_COLUMNS} from quota
     where shard = $1 and user_id = $2 and deleted_at is ${state === 'deleted' ? sql`not null` : sql`null`} and id > $3
     order by id limit $4`
  const page = { text, values: [shardOf(user_id), user_id, after, size + 1] }
  return readPage(db, size, { page, keyOf: ({ id }) => id })
}

const DENIAL_FIELDS = joinSql([sql`at`, sql`number`, ...DENIAL_COLUMNS, sql`explanation`])

type DenialPlace = Pick<DenialKey, 'at' | 'number'>

/** The user's logged denials, oldest first, each with its explanation as it was logged. */
export function denialsOfExport(
  db: Database,
  { user_id }: OfUser,
  { after = { at: Number.NEGATIVE_INFINITY, number: 0 }, size }: Page<DenialPlace>,
): Promise<Slice<LoggedDenial & { explanation: ExplanationView[] }, DenialPlace>> {
  const text = sql`select ${DENIAL_FIELDS} from denial where shard = $1 and user_id = $2 and (at, number) > ($3, $4)
     order by at, number limit $5`
  const page = { text, values: [shardOf(user_id), user_id, timestampParam(after.at), after.number, size + 1] }
  return readPage(db, size, { page, keyOf: ({ at, number }) => ({ at, number }) })
}

/** The user's events by sequence. */
export function eventsOfExport(
  db: Database,
  { user_id }: OfUser,
  { after = 0, size }: Page<number>,
): Promise<Slice<StoredEvent, number>> {
  const text = sql`select shard, number, type, at, user_id, sequence, data from event
     where shard = $1 and user_id = $2 and sequence > $3 order by sequence limit $4`
  const page = { text, values: [shardOf(user_id), user_id, after, size + 1] }
  return readPage(db, size, { page, keyOf: ({ sequence }) => sequence ?? 0 })
}

type PausePlace = Pick<Pause, 'country' | 'id'>

/** The user's pauses by country and id. */
export function pausesOfExport(
  db: Database,
  { user_id }: OfUser,
  { after = { country: '', id: 0 }, size }: Page<PausePlace>,
): Promise<Slice<Pause, PausePlace>> {
  const text = sql`select ${PAUSE_COLUMNS} from pause where shard = $1 and user_id = $2 and (country, id) > ($3, $4)
     order by country, id limit $5`
  const page = { text, values: [PAUSE_SHARD, user_id, after.country, after.id, size + 1] }
  return readPage(db, size, { page, keyOf: ({ country, id }) => ({ country, id }) })
}
