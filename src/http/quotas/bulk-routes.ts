import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { bulkStep, previewBulkStep } from '../../admin/bulk-change.ts'
import { type GiveTerms, giveStep, monthZoneOf, previewGiveStep } from '../../admin/give-units.ts'
import { BulkHeaders, BulkQuery, BulkReq } from '../../contract/bulk.ts'
import { GiveHeaders, GiveQuery, GiveReq } from '../../contract/give.ts'
import { beginOf, linesOf, NDJSON } from '../changes/bulk-lines.ts'
import { authorOf } from '../changes/requests.ts'
import type { Steps } from '../changes/step-pacer.ts'
import type { RouteContext } from '../context.ts'
import { UNBUFFERED } from '../platform/headers.ts'
import { parseJsonBodies } from '../platform/json-body.ts'
import { changeResponses, operation } from '../platform/openapi.ts'
import { bulkOf } from './bulk.ts'
import { checkSelection, createChangeReader, selectedIds } from './bulk-requests.ts'
import { giveOf, giveRequestOf, needsMonthZone } from './give.ts'

/** The maximum size of a body, in bytes: 10,000 ids of 17 characters, and the rest. */
const MAX_BODY_BYTES = 256 * 1024

/** The same change of many quotas. Its scope must be its own, because its bodies may be larger. */
export function bulkRoute(server: FastifyInstance, { db, now }: RouteContext, { pacer, slots }: Steps): void {
  const readChange = createChangeReader()
  parseJsonBodies(server, server.bodyReader, MAX_BODY_BYTES)

  server.withTypeProvider<TypeBoxTypeProvider>().post(
    '/bulk',
    {
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        ...operation(
          'Administrator',
          'bulkChangeQuotas',
          'Change many quotas at once',
          'Makes one change to all quotas that are selected, in small steps, each a transaction, and reports progress and failures as newline-delimited JSON. A quota that cannot be changed does not affect the others. If the call breaks off, whole steps have taken effect: repeat it with the same `Idempotency-Key`, and each quota is changed at most once. Check that the last line of the response is `end`.',
        ),
        querystring: BulkQuery,
        headers: BulkHeaders,
        body: BulkReq,
        response: {
          ...changeResponses({}, ['idempotency_mismatch', 'overloaded']),
          200: {
            description: 'One JSON object a line.',
            content: { [NDJSON]: { schema: Type.Ref('BulkRecord#') } },
          },
        },
      },
    },
    async (request, reply) => {
      const { select } = request.body
      checkSelection(select)
      const change = readChange(request.body.change)
      slots.hold(reply)
      const author = authorOf(request, now())
      const isDryRun = request.query.dry_run === 'true'
      const key = request.headers['idempotency-key']
      const asked = { operation: 'bulkChangeQuotas', select, change }
      const begun = isDryRun ? null : await beginOf(db, key, asked, author)
      const step = isDryRun ? previewBulkStep : bulkStep
      const records = bulkOf(selectedIds(db, select, begun?.begunAt ?? author.now, now), {
        author: () => ({ ...author, now: now(), ...(begun === null ? {} : { requestId: begun.id }) }),
        pacer,
        step: (ids, stepAuthor) => step(db, ids, change, stepAuthor),
        isDryRun,
        onStopped: error => server.requestLog.stopped(request, 'bulk change', error),
      })
      return reply
        .type(NDJSON)
        .headers(UNBUFFERED)
        .send(Readable.from(linesOf(begun, records)))
    },
  )
}

/** The maximum size of a body, in bytes: 10,000 users with units, and the rest. */
const MAX_GIVE_BYTES = 768 * 1024

/** More units for many users. Its scope must be its own, because its bodies may be larger. */
export function giveRoute(server: FastifyInstance, { db, now }: RouteContext, { pacer, slots }: Steps): void {
  parseJsonBodies(server, server.bodyReader, MAX_GIVE_BYTES)

  server.withTypeProvider<TypeBoxTypeProvider>().post(
    '/give',
    {
      bodyLimit: MAX_GIVE_BYTES,
      schema: {
        ...operation(
          'Administrator',
          'giveUnits',
          'Give many users more units',
          'Gives each user units on the grant with the chosen period, in small steps, each a transaction, and reports what becomes of each user as newline-delimited JSON: a line for each, in the order of the request. A user without a fitting grant is left out. If the call breaks off, whole steps have taken effect: repeat it with the same `Idempotency-Key`, and each user gets the units at most once. Check that the last line of the response is `end`.',
        ),
        querystring: GiveQuery,
        headers: GiveHeaders,
        body: GiveReq,
        response: {
          ...changeResponses({}, ['idempotency_mismatch', 'overloaded']),
          200: {
            description: 'One JSON object a line.',
            content: { [NDJSON]: { schema: Type.Ref('GiveRecord#') } },
          },
        },
      },
    },
    async (request, reply) => {
      const { receivers, terms: asked } = giveRequestOf(request.body)
      slots.hold(reply)
      const author = authorOf(request, now())
      const isDryRun = request.query.dry_run === 'true'
      const key = request.headers['idempotency-key']
      const userIds = receivers.map(({ user_id }) => user_id)
      const computed = asked.monthZone === null && needsMonthZone(asked)
      const monthZone = asked.monthZone ?? (computed ? await monthZoneOf(db, userIds, author.now) : 'UTC')
      const terms: GiveTerms = { ...asked, monthZone }
      const call = { operation: 'giveUnits', select: { users: receivers }, ...asked }
      const begun = isDryRun ? null : await beginOf(db, key, call, author)
      const records = giveOf(receivers, {
        now,
        pacer,
        step: part =>
          begun === null
            ? previewGiveStep(db, part, terms, { ...author, now: now() })
            : giveStep(db, part, terms, { ...author, now: now(), requestId: begun.id }, begun.begunAt),
        onStopped: error => server.requestLog.stopped(request, 'gift of units', error),
      })
      return reply
        .type(NDJSON)
        .headers(UNBUFFERED)
        .send(Readable.from(linesOf(begun, records)))
    },
  )
}
