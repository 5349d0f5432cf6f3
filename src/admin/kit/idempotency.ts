import { isDeepStrictEqual } from 'node:util'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { withNumbers } from '../../db/connection/sequences.ts'
import {
  deleteAnswers,
  findAnswer,
  insertAnswer,
  isKeyTaken,
  type RememberedAnswer,
  shardOfKey,
} from '../../db/quotas/idempotency.ts'
import { DAY_MS, type EpochMs, removalTime } from '../../domain/time/time.ts'
import { Problem } from '../../errors.ts'
import type { Author } from './author.ts'
import { undoRefused } from './refused.ts'

/** How long an answer is kept: twice the promised day, so that no caller has to be exact. */
const KEPT_MS = 2 * DAY_MS

/** A call that takes effect once under its key. */
export interface KeyedCall<Done, Answer> {
  /** Undefined: each call takes effect. */
  key: string | undefined
  /**
   * What a repetition must ask for again. Its `operation` tells the calls apart; creations and adjustments of quotas have
   * none, because they were the first to have keys.
   */
  request: { operation?: string; [field: string]: unknown }
  /** What is remembered of a success, as JSON; undefined for a refusal. */
  answerOf(done: Done): Answer | undefined
  /** Whether a refusal undoes what the change has written before it. */
  undoesRefusals?: boolean
}

/** The answer to a request whose key came before. */
export type Repeated<Answer> =
  /** The first call's answer, and when it was given. */
  | { outcome: 'replayed'; answer: Answer; at: EpochMs }
  /** The key came with another request before; the fields that differ. */
  | { outcome: 'mismatch'; fields: string[] }

type Caller = Pick<Author, 'now' | 'actor'>

/**
 * Runs `change` in a transaction. If the same principal repeats the same request under the same key, it gets the answer
 * of the first call. Only successes are remembered, in the transaction that writes them.
 */
export async function once<Done, Answer extends object>(
  db: Pick<Database, 'transaction' | 'query'>,
  { key, request, answerOf, undoesRefusals = false }: KeyedCall<Done, Answer>,
  caller: Caller,
  change: (tx: Transaction) => Promise<Done>,
): Promise<Done | Repeated<Answer>> {
  const findIn = async (tx: Transaction) =>
    key === undefined ? undefined : findRepeated<Answer>(tx, caller, key, request)
  const find = async () => (key === undefined ? undefined : db.transaction(findIn))

  const attempt = () =>
    undoRefused<Done | Repeated<Answer>>(
      db,
      async (tx, refuse) => {
        const before = await findIn(tx)
        if (before !== undefined) return before
        const done = await change(tx)
        const answer = answerOf(done)
        if (answer !== undefined) {
          if (key !== undefined) await remember(tx, caller, key, request, answer)
          return done
        }
        // The first call may have committed while this one waited for the user's lock, and may be what it is refused for.
        return undoesRefusals ? refuse(done) : ((await findIn(tx)) ?? done)
      },
      async refusal => (await find()) ?? refusal,
    )
  try {
    return await withNumbers(db, attempt)
  } catch (error) {
    // Another call with the same key committed first: its answer is the answer, also where this one was refused because of it.
    if (key !== undefined && isKeyTaken(error)) return withNumbers(db, attempt)
    const before = error instanceof Problem ? await find() : undefined
    if (before === undefined) throw error
    return before
  }
}

/**
 * Like `once`, for work in several transactions of its own, which may be done twice without harm. Calls that overlap may
 * both do it; all get the answer of the one that ends first.
 */
export async function onceInSteps<Done, Answer extends object>(
  db: Database,
  call: KeyedCall<Done, Answer>,
  caller: Caller,
  work: () => Promise<Done>,
): Promise<Done | Repeated<Answer>> {
  const { key, request } = call
  if (key === undefined) return work()
  const before = await db.transaction(tx => findRepeated<Answer>(tx, caller, key, request))
  if (before !== undefined) return before
  const done = await work()
  return once(db, call, caller, async () => done)
}

async function remember(tx: Transaction, caller: Caller, key: string, request: object, answer: object): Promise<void> {
  const { actor, now } = caller
  await deleteAnswers(tx, shardOfKey(actor, key), removalTime(now) - KEPT_MS)
  await insertAnswer(tx, actor, key, request, answer, now)
}

async function findRepeated<Answer>(
  tx: Transaction,
  { actor }: Caller,
  key: string,
  request: object,
): Promise<Repeated<Answer> | undefined> {
  const remembered = await findAnswer<Answer>(tx, actor, key)
  return remembered && compare(remembered, request)
}

function compare<Answer>(
  { request: earlier, answer, created_at }: RememberedAnswer<Answer>,
  request: object,
): Repeated<Answer> {
  // As JSON, because the earlier request was stored as JSON.
  const asked: Record<string, unknown> = JSON.parse(JSON.stringify(request))
  // The fields of another operation mean something else.
  const isOther = earlier.operation !== asked.operation
  const names = isOther ? ['operation'] : new Set([...Object.keys(earlier), ...Object.keys(asked)])
  const fields = [...names].filter(name => !isDeepStrictEqual(earlier[name], asked[name]))
  return fields.length === 0 ? { outcome: 'replayed', answer, at: created_at } : { outcome: 'mismatch', fields }
}
