/** What the responses to all bulk changes have in common: how they begin, and their lines. */
import type { Author } from '../../admin/author.ts'
import { type BegunBulk, beginBulk } from '../../admin/bulk-change.ts'
import type { Database } from '../../db/connection/database.ts'
import { DAY_MS } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import { refusal } from './outcomes.ts'

export const NDJSON = 'application/x-ndjson'

/** The lines of a response: the first one names the bulk change, if one has begun. */
export async function* linesOf(begun: BegunBulk | null, records: AsyncIterable<object>): AsyncGenerator<string, void> {
  if (begun !== null) yield lineOf({ record: 'begin', bulk_id: begun.id })
  for await (const record of records) yield lineOf(record)
}

const lineOf = (record: object) => `${JSON.stringify(record)}\n`

/**
 * The bulk change of a key.
 *
 * @throws Problem `idempotency_mismatch` if the key came with another request, or so long ago that the history of a quota may
 *   not tell any more what the bulk change has done
 */
export async function beginOf(
  db: Database,
  key: string,
  asked: Parameters<typeof beginBulk>[2],
  author: Author,
): Promise<BegunBulk> {
  const begun = await beginBulk(db, key, asked, author)
  if (begun.outcome === 'begun') return begun
  if (begun.outcome === 'mismatch') throw refusal(begun)
  if (begun.at > author.now - DAY_MS) return begun.answer
  const detail = 'This Idempotency-Key belongs to a bulk change that has begun more than 24 hours ago. Use a new key.'
  throw new Problem('idempotency_mismatch', detail, {
    members: { errors: [{ path: '/idempotency-key', message: 'is older than 24 hours' }] },
  })
}
