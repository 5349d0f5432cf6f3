import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Repeated } from '../../admin/kit/idempotency.ts'
import { type Moved, returnOnce, transferOnce } from '../../admin/quotas/transfer.ts'
import { QuotaParams } from '../../contract/quotas.ts'
import { ReturnReq, TransferHeaders, TransferParams, TransferReq, TransfersQuery } from '../../contract/transfers.ts'
import { findTransfer, listTransfers } from '../../db/quotas/transfers.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { viewOf } from '../../domain/units/view.ts'
import { accepted, found } from '../changes/outcomes.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { quotaOf } from '../quotas/responses.ts'
import { getList, listOf } from '../resource/list.ts'
import { transferView } from './responses.ts'

const shownAnswer = Type.Ref('TransferAnswer#')

/** `POST /api/sms/admin/quota/{id}/transfer`. */
export function transferRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'POST', '/:id/transfer', {
    ...operation(
      'Administrator',
      'transferUnits',
      'Move units to another user',
      'Units of the current window of a grant, neither used nor reserved, become a one-time grant of the receiver for the same messages. Both sides change in one transaction: units are neither made nor lost. Caps do not count it, and it is no message in usage.',
    ),
    params: QuotaParams,
    headers: TransferHeaders,
    body: TransferReq,
    answer: { 201: shownAnswer },
    errors: [
      'not_found',
      'not_transferable',
      'not_enough_units',
      'too_many_quotas',
      'idempotency_mismatch',
      'being_erased',
    ],
    handler: async (request, reply) => {
      const { id } = request.params
      const { to_user_id, units, reason = null, expires_at = null } = request.body
      const terms = { to_user_id, units, reason, expires_at: expires_at === null ? null : timestampOf(expires_at) }
      const author = authorOf(request, now())
      const done = await transferOnce(db, id, terms, author, request.headers['idempotency-key'])
      const answer = answerOf(accepted(done, quotaOf(id)), author.now)
      reply.code(201).header('location', `/api/sms/admin/transfers/${answer.transfer.id}`)
      return answer
    },
  })
}

const transfers = listOf({ query: TransfersQuery, key: cursorInteger, read: listTransfers, view: transferView })

/** `/api/sms/admin/transfers`. */
export function transferRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  getList(server, '', context, transfers, {
    ...operation('Administrator', 'listTransfers', 'List transfers', 'Newest first. The cursor fixes the filter.'),
    answer: 'TransferPage',
  })

  get(server, '/:id', {
    ...operation('Administrator', 'getTransfer', 'Read a transfer'),
    params: TransferParams,
    answer: 'Transfer',
    errors: ['not_found'],
    handler: async ({ params: { id } }) => transferView(found(await findTransfer(db, id), transferOf(id))),
  })

  change(server, 'POST', '/:id/return', {
    ...operation(
      'Administrator',
      'returnUnits',
      'Give units of a transfer back',
      'What the receiver has neither used nor reserved goes back to the very window that it came from. If that window is over, its history shows it.',
    ),
    params: TransferParams,
    headers: TransferHeaders,
    body: ReturnReq,
    answer: { 200: shownAnswer },
    errors: ['not_found', 'not_transferable', 'not_enough_units', 'idempotency_mismatch'],
    handler: async request => {
      const { id } = request.params
      const author = authorOf(request, now())
      const key = request.headers['idempotency-key']
      const { units = null, reason = null } = request.body
      const done = await returnOnce(db, id, { units, reason }, author, key)
      return answerOf(accepted(done, transferOf(id)), author.now)
    },
  })
}

/** What a call has moved, as of `now` unless it repeats an earlier one. */
function answerOf(done: Moved | Extract<Repeated<Moved>, { answer: Moved }>, now: EpochMs) {
  const [{ transfer, quota }, at] = 'answer' in done ? [done.answer, done.at] : [done, now]
  return { transfer: transferView(transfer), quota: viewOf(quota, at) }
}

const transferOf = (id: number) => ({ what: 'transfer', id })
