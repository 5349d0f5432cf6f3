import { isDeepStrictEqual } from 'node:util'
import type { Database, Transaction } from '../db/database.ts'
import {
  deleteAnswers,
  findAnswer,
  insertAnswer,
  isKeyTaken,
  type RememberedAnswer,
  shardOfKey,
} from '../db/idempotency.ts'
import type { Quota } from '../domain/quota.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Author } from './author.ts'

/** How long an answer is kept: twice the promised day, so that no caller has to be exact. */
const KEPT_MS = 2 * DAY_MS

/** What a key that came before makes of a request. */
export type Repeated =
  | { outcome: 'replayed'; quota: Quota }
  /** The key came with another request before; the fields that differ. */
  | { outcome: 'mismatch'; fields: string[] }

/**
 * Runs `change` in a transaction. If the same principal repeats the same request under the same key, it gets the quota
 * as the first call got it. Only successes are remembered, in the transaction that writes them.
 */
export async function once<Done extends { outcome: string; quota?: Quota }>(
  db: Database,
  request: object,
  author: Author,
  key: string | undefined,
  change: (tx: Transaction) => Promise<Done>,
): Promise<Done | Repeated> {
  if (key === undefined) return db.transaction(change)

  const attempt = () =>
    db.transaction(async tx => {
      const remembered = await findAnswer(tx, author.actor, key)
      if (remembered !== undefined) return compare(remembered, request)
      const done = await change(tx)
      if (done.quota !== undefined) {
        await remember(tx, author, key, request, done.quota)
        return done
      }
      // The first call may have committed while this one waited for the user's lock, and may be what it is refused for.
      const committed = await findAnswer(tx, author.actor, key)
      return committed === undefined ? done : compare(committed, request)
    })
  try {
    return await attempt()
  } catch (error) {
    // Another call with the same key committed first: its answer is the answer.
    if (!isKeyTaken(error)) throw error
    return attempt()
  }
}

async function remember(tx: Transaction, author: Author, key: string, request: object, answer: Quota): Promise<void> {
  const { actor, now } = author
  await deleteAnswers(tx, shardOfKey(actor, key), now - KEPT_MS)
  await insertAnswer(tx, actor, key, request, answer, now)
}

function compare({ request: earlier, answer }: RememberedAnswer, request: object): Repeated {
  // As JSON, because the earlier request was stored as JSON.
  const asked: Record<string, unknown> = JSON.parse(JSON.stringify(request))
  const names = new Set([...Object.keys(earlier), ...Object.keys(asked)])
  const fields = [...names].filter(name => !isDeepStrictEqual(earlier[name], asked[name]))
  return fields.length === 0 ? { outcome: 'replayed', quota: answer } : { outcome: 'mismatch', fields }
}
