import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Quota, QuotaDraft } from '../domain/quota.ts'
import { SHARD_COUNT } from '../domain/shard.ts'
import { type Database, instantParam, type Transaction, violatedUnique } from './database.ts'
import { addQuota, type Created } from './quotas.ts'
import type { Author } from './records.ts'

/** How long an answer is kept: twice what is promised, so that nobody has to be exact. */
const KEPT_MS = 48 * 60 * 60 * 1000

export type CreatedOnce =
  | Created
  | { outcome: 'replayed'; quota: Quota }
  /** The key came with another body before; the fields that differ. */
  | { outcome: 'mismatch'; fields: string[] }

interface Remembered {
  request: Record<string, unknown>
  answer: Quota
}

/**
 * Makes a quota, and with a key makes it only once: the same key of the same principal with the same draft gets the
 * quota as it was created. Only successes are remembered, in the transaction that makes the quota.
 */
export async function addQuotaOnce(
  db: Database,
  draft: QuotaDraft,
  author: Author,
  key: string | undefined,
): Promise<CreatedOnce> {
  if (key === undefined) return db.transaction(tx => addQuota(tx, draft, author))

  const attempt = () =>
    db.transaction(async tx => {
      const remembered = await recall(tx, author.actor, key)
      if (remembered !== undefined) return compare(remembered, draft)
      const created = await addQuota(tx, draft, author)
      if (created.outcome === 'created') await remember(tx, author, key, draft, created.quota)
      return created
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

async function remember(tx: Transaction, author: Author, key: string, draft: QuotaDraft, quota: Quota): Promise<void> {
  const shard = shardOfKey(author.actor, key)
  await tx.query({
    text: 'delete from idempotency where shard = $1 and created_at < $2',
    values: [shard, instantParam(author.now - KEPT_MS)],
  })
  await tx.query({
    text: `insert into idempotency (shard, principal, key, request, created_at, answer)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [shard, author.actor, key, JSON.stringify(draft), instantParam(author.now), JSON.stringify(quota)],
  })
}

function compare(remembered: Remembered, draft: QuotaDraft): CreatedOnce {
  const asked: Record<string, unknown> = JSON.parse(JSON.stringify(draft))
  const names = new Set([...Object.keys(remembered.request), ...Object.keys(asked)])
  const fields = [...names].filter(name => !isDeepStrictEqual(remembered.request[name], asked[name]))
  return fields.length === 0 ? { outcome: 'replayed', quota: remembered.answer } : { outcome: 'mismatch', fields }
}

function shardOfKey(principal: string, key: string): number {
  return createHash('sha256').update(`${principal}\0${key}`).digest().readUInt8(0) % SHARD_COUNT
}
