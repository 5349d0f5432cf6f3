/** The key that hashes the recipients and tags which caps count each by itself. It is made once, and encrypted, unless SECRETS_KEY is turned off later. */
import { randomBytes } from 'node:crypto'
import { shardFrom } from '../../domain/basics/shard.ts'
import type { Database, Queryable } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { isSealed, type SecretKeys, UnreadableSecret, VALUE_KEY } from './secret-keys.ts'

/** The key that a process hashes with. It changes when another one is stored. */
export interface ValueKey {
  /** Null: there is none, or this process cannot decrypt it. */
  bytes: Uint8Array | null
}

const SHARD = shardFrom(0)
const BYTES = 32

async function findStored(db: Queryable): Promise<Uint8Array | undefined> {
  const [row] = await db.query<{ key: Uint8Array }>({
    text: sql`select key from service_key where shard = $1 and name = $2`,
    values: [SHARD, VALUE_KEY],
  })
  return row?.key
}

/** Whether the service has the key, and encrypted: without it, no value but a country can be counted. */
export async function hasValueKey(db: Queryable): Promise<boolean> {
  const stored = await findStored(db)
  return stored !== undefined && isSealed(stored)
}

/**
 * The key; the first process that can encrypt it makes it. One that this process cannot decrypt, and that no cap needs, is replaced. Null if
 * there is none, because no process can encrypt it.
 */
export async function provideValueKey(db: Database, keys: SecretKeys): Promise<Uint8Array | null> {
  const known = await findStored(db)
  const isLost = known !== undefined && !isReadable(keys, known)
  if (isLost) await discardValueKey(db)
  const stored = known !== undefined && !isLost ? known : keys.canSeal ? await make(db, keys) : undefined
  return stored === undefined ? null : keys.open(stored, VALUE_KEY)
}

/**
 * Takes the key that is stored now: while processes run, a database may be restored, or a process with other keys may replace what no cap
 * needed. Two keys would count each value twice. A process that cannot decrypt it counts none, and refuses what caps on them cover.
 */
export async function refreshValueKey(db: Database, keys: SecretKeys, key: ValueKey): Promise<void> {
  const stored = await findStored(db)
  key.bytes = stored !== undefined && isReadable(keys, stored) ? keys.open(stored, VALUE_KEY) : null
}

async function make(db: Database, keys: SecretKeys): Promise<Uint8Array | undefined> {
  await db.query({
    text: sql`insert into service_key (shard, name, key) values ($1, $2, $3) on conflict do nothing`,
    values: [SHARD, VALUE_KEY, keys.seal(randomBytes(BYTES), VALUE_KEY)],
  })
  // Another process may have made it at the same time.
  return findStored(db)
}

/** Whether caps count values under a key that this process cannot decrypt. */
export async function isValueKeyLost(db: Queryable, keys: SecretKeys): Promise<boolean> {
  const stored = await findStored(db)
  if (stored === undefined || isReadable(keys, stored)) return false
  const [cap] = await db.query({
    text: sql`select from quota where per in ('recipient', 'tag') and deleted_at is null limit 1`,
  })
  return cap !== undefined
}

function isReadable(keys: SecretKeys, stored: Uint8Array): boolean {
  try {
    keys.open(stored, VALUE_KEY)
    return true
  } catch (error) {
    if (error instanceof UnreadableSecret) return false
    throw error
  }
}

/** Encrypts the key with the current one, if another has encrypted it. Without a current one it is plain, as other secrets are. */
export async function resealValueKey(db: Database, keys: SecretKeys): Promise<void> {
  const stored = await findStored(db)
  if (stored === undefined || keys.isCurrent(stored) || !isReadable(keys, stored)) return
  await db.query({
    text: sql`update service_key set key = $4 where shard = $1 and name = $2 and key = $3`,
    values: [SHARD, VALUE_KEY, stored, keys.seal(keys.open(stored, VALUE_KEY), VALUE_KEY)],
  })
}

/** Removes the key: the next start makes another, and what was counted under this one is not found any more. */
export async function discardValueKey(db: Database): Promise<void> {
  await db.query({ text: sql`delete from service_key where shard = $1 and name = $2`, values: [SHARD, VALUE_KEY] })
}
