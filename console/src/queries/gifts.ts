import { queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import type { UserLine } from '../../../src/domain/quotas/user-file.ts'
import { newIdempotencyKey } from '../api/http.ts'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { type GiveInput, giftRequest } from '../model/give-input.ts'
import type { UserRecord } from '../model/give-plan.ts'
import type { Failure } from '../model/job.ts'
import { call } from '../session/client.ts'
import { texts } from '../texts/texts.ts'
import { type Job, LOOKED_AT, recordsOf } from './many.ts'

/** Units for the users of a file: what they would get, the job that gives them, and what undoing it reads. */

type Quota = Api['SmsQuota']

interface Call {
  isDryRun: boolean
  /** Names the call, so that a repeated one gives nothing twice. */
  key: string
  signal: AbortSignal
}

/** What becomes of each user. @throws ApiProblem, Unreachable, Stopped */
async function* giveRecords(body: Api['GiveReq'], call: Call): AsyncGenerator<UserRecord, void> {
  const records = recordsOf('POST /admin/quota/give', {
    query: { dry_run: `${call.isDryRun}` },
    body: { ...body, name: texts.manyQuotas.extra.name('').trim() },
    idempotencyKey: call.key,
    signal: call.signal,
  })
  for await (const record of records) if ('user_id' in record) yield record
}

/** Users between two reports: a page that renders after each would be slow. */
const REPORTED = 50

/**
 * What each user of a file would get, also those who already got units.
 *
 * @param onProgress gets how many users are done
 */
export const giftPreviewQuery = (users: readonly UserLine[], input: GiveInput, onProgress: (done: number) => void) =>
  queryOptions({
    queryKey: ['gift-preview', users, input],
    queryFn: async ({ signal }) => {
      const found = new Map<number, UserRecord>()
      const body = { ...giftRequest(users, input), again: true }
      for await (const record of giveRecords(body, { isDryRun: true, key: newIdempotencyKey(), signal })) {
        found.set(record.user_id, record)
        if (found.size % REPORTED === 0) onProgress(found.size)
      }
      return found
    },
    ...LOOKED_AT,
  })

/** The job that gives units. */
export function giveJob(
  requests: readonly Api['GiveReq'][],
  key: string,
  /** Called for each user, again after a break. Returns why the user got nothing; null for one who got units. */
  onRecord: (record: UserRecord) => Failure | null,
): Job {
  const settled = new Map<number, Failure | null>()
  return async ({ report, signal }) => {
    const reportAll = () => {
      const failures = [...settled.values()].filter(failure => failure !== null)
      report({ done: settled.size, counts: {}, failed: failures.length, failures })
    }
    for (const [part, body] of requests.entries()) {
      for await (const record of giveRecords(body, { isDryRun: false, key: `${key}-${part}`, signal })) {
        settled.set(record.user_id, onRecord(record))
        if (settled.size % REPORTED === 0) reportAll()
      }
      reportAll()
    }
  }
}

/** Users that are looked up at the same time. */
const LOOKUPS = 4

/** The quotas of each user. @param onProgress gets how many users are done */
export const quotasOfUsersQuery = (users: readonly { user_id: number }[], onProgress: (done: number) => void) =>
  queryOptions({
    queryKey: ['quotas-of-users', users],
    queryFn: async ({ signal }) => {
      const found = new Map<number, readonly Quota[]>()
      const rest = users.values()
      const lookUp = async () => {
        for (const { user_id } of rest) {
          found.set(user_id, await quotasOf(user_id, signal))
          onProgress(found.size)
        }
      }
      await Promise.all(Array.from({ length: LOOKUPS }, lookUp))
      return found
    },
    ...LOOKED_AT,
  })

/** A user has at most 200 quotas that have not ended, and a page holds as many. */
async function quotasOf(user_id: number, signal: AbortSignal): Promise<readonly Quota[]> {
  const query = { user_id, page_size: MAX_PAGE_SIZE, sort: '-expires_at' } as const
  const { items } = await patiently(() => call('GET /admin/quota/list', { query, signal }))
  return items
}

/** Repeats a reading that the service refuses because there are too many, so that one user does not fail them all. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const delayMs = retryDelayOf(error)
    if (delayMs === null) throw error
    await new Promise(resolve => setTimeout(resolve, delayMs))
    return patiently(call)
  }
}
