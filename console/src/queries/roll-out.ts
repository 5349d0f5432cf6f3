import { queryOptions } from '@tanstack/react-query'
import { isOutdated } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { type Failure, NOTHING_DONE } from '../model/job.ts'
import {
  type ConfirmedRollOut,
  endAfterBreak,
  type ListedUser,
  progressOf,
  progressOfList,
  type RollOutCall,
  type RollOutCounts,
} from '../model/roll-out.ts'
import { texts } from '../texts/texts.ts'
import { refetchAfter } from './calls.ts'
import { type Job, LOOKED_AT, reasonOf, recordsOf } from './many.ts'
import { findUserId } from './profile.ts'

/** Giving the current version of a plan to many, whose answer is a stream of records. */

type RollOutRecord = Api['RollOutRecord']

/** What the earlier quotas of a user have used. */
type UsedBefore = Extract<RollOutRecord, { record: 'carried' | 'again' }>

export type RollOutSample = Extract<RollOutRecord, { record: 'sample' }>

/** What a dry run found. */
export interface RollOutPreview extends RollOutCounts {
  failures: readonly Failure[]
  /** The first users who would have nothing left of a quota. */
  exhaustedUsers: readonly number[]
  /** The first users whose earlier quotas have used units, which count in new ones, or which they get again. */
  usedBefore: readonly UsedBefore[]
  /** The first users who would change. */
  samples: readonly RollOutSample[]
}

function rollOutRecords({ plan_id, version, select, key }: RollOutCall, isDryRun: boolean, signal: AbortSignal) {
  return recordsOf('POST /admin/plans/{id}/roll-out', {
    id: plan_id,
    body: { ...select, dry_run: isDryRun },
    ifMatch: version,
    idempotencyKey: key,
    signal,
  })
}

/** Asks what a roll-out would do. */
export const rollOutPreviewQuery = (call: RollOutCall) =>
  queryOptions({
    queryKey: ['roll-out-preview', call],
    queryFn: ({ signal }) =>
      preview(call, signal).catch(error => {
        // The page is stale. With the plan as it is now, it asks again.
        if (isOutdated(error)) void refetchAfter('POST /admin/plans/{id}/roll-out')
        throw error
      }),
    ...LOOKED_AT,
  })

/** @throws ApiProblem, Unreachable, Stopped */
async function preview(call: RollOutCall, signal: AbortSignal): Promise<RollOutPreview> {
  const failures: Failure[] = []
  const exhaustedUsers: number[] = []
  const usedBefore: UsedBefore[] = []
  const samples: RollOutSample[] = []
  for await (const record of rollOutRecords(call, true, signal)) {
    if (record.record === 'failed') failures.push(failureOf(record))
    if (record.record === 'exhausted') exhaustedUsers.push(record.user_id)
    if (record.record === 'carried' || record.record === 'again') usedBefore.push(record)
    if (record.record === 'sample') samples.push(record)
    if (record.record === 'end') return { ...record, failures, exhaustedUsers, usedBefore, samples }
  }
  throw new Error('the records have no end')
}

/** The ids of listed users, each once, and the references that no user has. */
export async function idsOf(users: readonly ListedUser[]): Promise<{ ids: number[]; unknown: string[] }> {
  const ids = new Set<number>()
  const unknown: string[] = []
  for (const user of users) {
    const id = 'user_id' in user ? user.user_id : await findUserId(user.ref)
    if (id !== null) ids.add(id)
    else if ('ref' in user) unknown.push(user.ref)
  }
  return { ids: [...ids], unknown }
}

/**
 * The job that gives the current version. After a break it goes on with those who do not have it yet.
 *
 * @param isBegun whether it goes on after a reload
 */
export function rollOutJob(confirmed: ConfirmedRollOut, isBegun: boolean): Job {
  const { call, total } = confirmed
  let before = NOTHING_DONE
  let isFirst = !isBegun
  return async ({ report, signal }) => {
    const failures: Failure[] = []
    let progress = before
    try {
      for await (const record of rollOutRecords(call, false, signal)) {
        if (record.record === 'failed') failures.push(failureOf(record))
        if (!('users' in record)) continue
        progress =
          call.select.users === undefined
            ? progressOf(before, record, failures)
            : progressOfList(confirmed, record, failures)
        if (record.record === 'end' && !isFirst) progress = endAfterBreak(progress, total)
        report(progress)
      }
    } finally {
      before = progress
      isFirst = false
    }
  }
}

function failureOf(record: Extract<RollOutRecord, { record: 'failed' }>): Failure {
  return { place: texts.plans.rollOut.user(record.user_id), reason: reasonOf(record), subject: record.user_id }
}
