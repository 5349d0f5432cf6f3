import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type BegunBulk, beginBulk, bulkStep, previewBulkStep } from '../../admin/bulk-change.ts'
import type { Repeated } from '../../admin/idempotency.ts'
import { BulkHeaders, BulkQuery, type BulkRecord, BulkReq } from '../../contract/bulk.ts'
import { DAY_MS, type EpochMs } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import type { RouteContext } from '../context.ts'
import { UNBUFFERED } from '../platform/headers.ts'
import { parseJsonBodies } from '../platform/json-body.ts'
import { changeResponses, operation } from '../platform/openapi.ts'
import { keyMismatch } from '../platform/problems.ts'
import { bulkOf } from './bulk.ts'
import { checkSelection, createChangeReader, selectedIds } from './bulk-requests.ts'
import { authorOf } from './requests.ts'
import type { Steps } from './step-pacer.ts'

const NDJSON = 'application/x-ndjson'

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
      const begun = isDryRun ? null : begunOrThrow(await beginBulk(db, key, { select, change }, author), author.now)
      const step = isDryRun ? previewBulkStep : bulkStep
      const records = bulkOf(selectedIds(db, select, begun?.begunAt ?? author.now, now), {
        author: () => ({ ...author, now: now(), ...(begun === null ? {} : { requestId: begun.id }) }),
        pacer,
        step: (ids, stepAuthor) => step(db, ids, change, stepAuthor),
        isDryRun,
        onStopped: error => request.log.error({ err: error }, 'http: bulk change stopped'),
      })
      const lines = async function* () {
        if (begun !== null) yield lineOf({ record: 'begin', bulk_id: begun.id })
        for await (const record of records) yield lineOf(record)
      }
      return reply.type(NDJSON).headers(UNBUFFERED).send(Readable.from(lines()))
    },
  )
}

const lineOf = (record: BulkRecord) => `${JSON.stringify(record)}\n`

/**
 * The bulk change of a key.
 *
 * @throws Problem `idempotency_mismatch` if the key came with another request, or so long ago that the history of a quota may
 *   not tell any more what the bulk change has done
 */
function begunOrThrow(begun: BegunBulk | Repeated<BegunBulk>, now: EpochMs): BegunBulk {
  if (begun.outcome === 'begun') return begun
  if (begun.outcome === 'mismatch') throw keyMismatch(begun.fields)
  if (begun.at > now - DAY_MS) return begun.answer
  const detail = 'This Idempotency-Key belongs to a bulk change that has begun more than 24 hours ago. Use a new key.'
  throw new Problem('idempotency_mismatch', detail, {
    members: { errors: [{ path: '/idempotency-key', message: 'is older than 24 hours' }] },
  })
}
