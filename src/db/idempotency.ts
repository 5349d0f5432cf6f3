import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Adjustment, adjustQuota } from '../domain/adjust.ts'
import type { Quota, QuotaDraft } from '../domain/quota.ts'
import { SHARD_COUNT } from '../domain/shard.ts'
import { type Database, type Transaction, timestampParam, violatedUnique } from './database.ts'
import type { Author } from './quota-changes.ts'
import { addQuota, type Created, type Updated, type VersionCheck, writeChange } from './quotas.ts'

/** How long an answer is kept: twice what is promised, so that nobody has to be exact. */
const KEPT_MS = 48 * 60 * 60 * 1000

/** What a key that came before makes of a request. */
type Repeated =
  | { outcome: 'replayed'; quota: Quota }
  /** The key came with another request before; the fields that differ. */
  | { outcome: 'mismatch'; fields: string[] }

export type CreatedOnce = Created | Repeated
export type AdjustedOnce = Updated | Repeated

interface Remembered {
  request: Record<string, unknown>
  answer: Quota
}

/** Makes a quota, and with a key makes it only once. */
export function addQuotaOnce(
  db: Database,
  draft: QuotaDraft,
  author: Author,
  key: string | undefined,
): Promise<CreatedOnce> {
  return once(db, draft, author, key, tx => addQuota(tx, draft, author))
}

/**
 * Moves the limit of a quota, and with a key moves it only once. A repetition is not judged by `mayChange` again: it
 * was the first one that made the version what it is.
 */
export function adjustQuotaOnce(
  db: Database,
  id: number,
  adjustment: Adjustment & { reason: string },
  author: Author,
  mayChange: VersionCheck,
  key: string | undefined,
): Promise<AdjustedOnce> {
  return once(db, { id, ...adjustment }, author, key, tx =>
    writeChange(tx, id, quota => adjustQuota(quota, adjustment, author), author, mayChange, adjustment.reason),
  )
}

/**
 * The same key of the same principal with the same request gets the quota as it was answered. Only successes are
 * remembered, in the transaction that writes them.
 */
async function once<Done extends Created | Updated>(
  db: Database,
  request: object,
  author: Author,
  key: string | undefined,
  write: (tx: Transaction) => Promise<Done>,
): Promise<Done | Repeated> {
  if (key === undefined) return db.transaction(write)

  const attempt = () =>
    db.transaction(async tx => {
      const remembered = await recall(tx, author.actor, key)
      if (remembered !== undefined) return compare(remembered, request)
      const done = await write(tx)
      if ('quota' in done) await remember(tx, author, key, request, done.quota)
      return done
    })
  try {
    return await attempt()
  } catch (error) {
    // The same key at the same time: the other was first and is committed; its answer is ours.
    if (violatedUnique(error) !== 'idempotency_pkey') throw error
    return attempt()
  }
}

async function recall(tx: Transaction, principal: string, key: string): Promise<Remembered | undefined> {
  const [remembered] = await tx.query<Remembered>({
    text: 'select request, answer from idempotency where shard = $1 and principal = $2 and key = $3',
    values: [shardOfKey(principal, key), principal, key],
  })
  return remembered
}

async function remember(tx: Transaction, author: Author, key: string, request: object, quota: Quota): Promise<void> {
  const shard = shardOfKey(author.actor, key)
  await tx.query({
    text: 'delete from idempotency where shard = $1 and created_at < $2',
    values: [shard, timestampParam(author.now - KEPT_MS)],
  })
  await tx.query({
    text: `insert into idempotency (shard, principal, key, request, created_at, answer)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [shard, author.actor, key, JSON.stringify(request), timestampParam(author.now), JSON.stringify(quota)],
  })
}

function compare(remembered: Remembered, request: object): Repeated {
  const asked: Record<string, unknown> = JSON.parse(JSON.stringify(request))
  const names = new Set([...Object.keys(remembered.request), ...Object.keys(asked)])
  const fields = [...names].filter(name => !isDeepStrictEqual(remembered.request[name], asked[name]))
  return fields.length === 0 ? { outcome: 'replayed', quota: remembered.answer } : { outcome: 'mismatch', fields }
}

function shardOfKey(principal: string, key: string): number {
  return createHash('sha256').update(`${principal}\0${key}`).digest().readUInt8(0) % SHARD_COUNT
}
