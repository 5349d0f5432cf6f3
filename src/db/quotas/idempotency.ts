/** Answers to calls that carried an Idempotency-Key. */
import { createHash } from 'node:crypto'
import { SHARD_COUNT, type Shard, shardFrom } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Transaction } from '../connection/database.ts'
import { violatedUnique } from '../connection/errors.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

export interface RememberedAnswer<Answer> {
  request: Record<string, unknown>
  /** The answer to the first call. */
  answer: Answer
  created_at: EpochMs
}

/**
 * Finds the answer under a key, and locks it. The lock is a write, so with a synchronous standby the commit of `tx` waits
 * until the standby has the answer, too: it may have been committed here without the standby's confirmation.
 */
export async function findAnswer<Answer>(
  tx: Transaction,
  principal: string,
  key: string,
): Promise<RememberedAnswer<Answer> | undefined> {
  const [remembered] = await tx.query<RememberedAnswer<Answer>>({
    text: sql`select request, answer, created_at from idempotency
           where shard = $1 and principal = $2 and key = $3 for update`,
    values: [shardOfKey(principal, key), principal, key],
  })
  return remembered
}

/** Fails with an error for which `isKeyTaken` holds if there is an answer under the key. */
export async function insertAnswer(
  tx: Transaction,
  principal: string,
  key: string,
  request: object,
  answer: object,
  now: EpochMs,
): Promise<void> {
  await tx.query({
    text: sql`insert into idempotency (shard, principal, key, request, created_at, answer)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [
      shardOfKey(principal, key),
      principal,
      key,
      JSON.stringify(request),
      timestampParam(now),
      JSON.stringify(answer),
    ],
  })
}

/** Removes the answers of a shard that are older than `before`. */
export async function deleteAnswers(tx: Transaction, shard: Shard, before: EpochMs): Promise<void> {
  await tx.query({
    text: sql`delete from idempotency where shard = $1 and created_at < $2`,
    values: [shard, timestampParam(before)],
  })
}

export const isKeyTaken = (error: unknown) => violatedUnique(error) === 'idempotency_pkey'

/** A bucket of the key, not of a user: the same key must be found when it comes with another user's body. */
export function shardOfKey(principal: string, key: string): Shard {
  return shardFrom(createHash('sha256').update(`${principal}\0${key}`).digest().readUInt8(0) % SHARD_COUNT)
}
