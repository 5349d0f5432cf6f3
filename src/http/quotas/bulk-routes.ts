/** Changes of many quotas, in steps. The scope of each must be its own, because its bodies may be larger. */
import type { FastifyInstance } from 'fastify'
import { type BulkOutcome, bulkStep, previewBulkStep } from '../../admin/many/bulk-change.ts'
import { type GiveTerms, giveStep, monthZoneOf, previewGiveStep } from '../../admin/quotas/give-units.ts'
import { BulkQuery, type BulkRecord, BulkReq } from '../../contract/bulk.ts'
import { GiveQuery, GiveReq } from '../../contract/give.ts'
import { ManyHeaders } from '../../contract/many.ts'
import { MAX_LISTED_FAILURES, MAX_SAMPLES } from '../../domain/basics/bounds.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { viewOf } from '../../domain/units/view.ts'
import { sendMany } from '../changes/many.ts'
import { refusal } from '../changes/outcomes.ts'
import type { RouteContext } from '../context.ts'
import { parseJsonBodies } from '../platform/json-body.ts'
import { operation } from '../platform/openapi.ts'
import { change } from '../platform/routes.ts'
import { checkSelection, createChangeReader, selectedIds } from './bulk-requests.ts'
import { giveRequestOf, needsMonthZone, recordOf } from './give.ts'
import { quotaOf } from './responses.ts'

/** The maximum size of a body, in bytes: 10,000 ids of 17 characters, and the rest. */
const MAX_BODY_BYTES = 256 * 1024

/** The same change of many quotas. */
export function bulkRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  const readChange = createChangeReader()
  parseJsonBodies(server, server.bodyReader, MAX_BODY_BYTES)

  change(server, 'POST', '/bulk', {
    ...operation(
      'Administrator',
      'bulkChangeQuotas',
      'Change many quotas at once',
      'Makes one change to all quotas that are selected, in small steps, each a transaction, and reports progress and failures as newline-delimited JSON. A quota that cannot be changed does not affect the others. If the call breaks off, whole steps have taken effect: repeat it with the same `Idempotency-Key`, and each quota is changed at most once. Check that the last line of the response is `end`.',
    ),
    bodyLimit: MAX_BODY_BYTES,
    query: BulkQuery,
    headers: ManyHeaders,
    body: BulkReq,
    answer: 'BulkRecord',
    isLines: true,
    errors: ['idempotency_mismatch', 'overloaded'],
    handler: async (request, reply) => {
      const { select } = request.body
      checkSelection(select)
      const asked = readChange(request.body.change)
      const isDryRun = request.query.dry_run === 'true'
      const step = isDryRun ? previewBulkStep : bulkStep
      const counts = { changed: 0, changed_before: 0, unchanged: 0, failed: 0 }
      return sendMany(context, reply, {
        what: 'bulk change',
        isDryRun,
        key: request.headers['idempotency-key'],
        asked: { operation: 'bulkChangeQuotas', select, change: asked },
        select: begunAt => selectedIds(db, select, begunAt, now),
        step: (ids, author) => step(db, ids, asked, author()),
        linesOf(id: number, outcome) {
          const record = bulkRecordOf(id, outcome, now())
          counts[outcome.outcome in counts ? (outcome.outcome as keyof typeof counts) : 'failed'] += 1
          return record === null || (record.record === 'sample' && !isDryRun) ? [] : [record]
        },
        listed: { failed: MAX_LISTED_FAILURES, sample: MAX_SAMPLES },
        counts,
      })
    },
  })
}

/** What is said of a quota; null: it only counts. */
function bulkRecordOf(quota_id: number, outcome: BulkOutcome, now: EpochMs): BulkRecord | null {
  switch (outcome.outcome) {
    case 'changed':
      return { record: 'sample', before: viewOf(outcome.before, now), after: viewOf(outcome.after, now) }
    case 'changed_before':
    case 'unchanged':
      return null
    default: {
      const { code, message } = outcome.outcome === 'not_found' ? refusal(outcome, quotaOf(quota_id)) : refusal(outcome)
      return { record: 'failed', quota_id, user_id: 'userId' in outcome ? outcome.userId : null, code, detail: message }
    }
  }
}

/** The maximum size of a body, in bytes: 10,000 users with units, and the rest. */
const MAX_GIVE_BYTES = 768 * 1024

/** More units for many users. */
export function giveRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  parseJsonBodies(server, server.bodyReader, MAX_GIVE_BYTES)

  change(server, 'POST', '/give', {
    ...operation(
      'Administrator',
      'giveUnits',
      'Give many users more units',
      'Gives each user units on the grant with the chosen period, in small steps, each a transaction, and reports what becomes of each user as newline-delimited JSON: a line for each, in the order of the request. A user without a fitting grant is left out. If the call breaks off, whole steps have taken effect: repeat it with the same `Idempotency-Key`, and each user gets the units at most once. Check that the last line of the response is `end`.',
    ),
    bodyLimit: MAX_GIVE_BYTES,
    query: GiveQuery,
    headers: ManyHeaders,
    body: GiveReq,
    answer: 'GiveRecord',
    isLines: true,
    errors: ['idempotency_mismatch', 'overloaded'],
    handler: async (request, reply) => {
      const { receivers, terms: asked } = giveRequestOf(request.body)
      const isDryRun = request.query.dry_run === 'true'
      const terms: GiveTerms = { ...asked, monthZone: asked.monthZone ?? 'UTC' }
      const counts = { given: 0, given_before: 0, left_out: 0, failed: 0 }
      return sendMany(context, reply, {
        what: 'gift of units',
        isDryRun,
        key: request.headers['idempotency-key'],
        asked: { operation: 'giveUnits', select: { users: receivers }, ...asked },
        async *select() {
          const userIds = receivers.map(({ user_id }) => user_id)
          if (asked.monthZone === null && needsMonthZone(asked)) terms.monthZone = await monthZoneOf(db, userIds, now())
          yield receivers
        },
        step: (part, author, begunAt) =>
          isDryRun ? previewGiveStep(db, part, terms, author()) : giveStep(db, part, terms, author(), begunAt),
        linesOf({ user_id }, outcome) {
          const record = recordOf(user_id, outcome, now())
          counts[record.record] += 1
          return [record]
        },
        listed: {},
        counts,
      })
    },
  })
}
