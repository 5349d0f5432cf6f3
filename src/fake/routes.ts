/** The operations that the fake server has, with the service's own validation and answers. */
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { PauseParams, PauseReq } from '../contract/pauses.ts'
import { SummaryQuery } from '../contract/quota-summary.ts'
import { CreateQuotaReq, QuotaParams, UpdateQuotaReq } from '../contract/quotas.ts'
import { SEGMENTS_HEADER, writeSegmentRules } from '../contract/segments-header.ts'
import { BatchReq, ReservationParams, SENDER_OPS, type SenderOp, type SenderRequest } from '../contract/sender.ts'
import type { SegmentRules } from '../domain/messages/segment-rules.ts'
import { pauseViewOf } from '../domain/pauses/pause.ts'
import type { Quota } from '../domain/quotas/quota.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { viewOf } from '../domain/units/view.ts'
import { ERRORS, invalidRequest, Problem } from '../errors.ts'
import { etagOf, versionCheck } from '../http/changes/requests.ts'
import { draftOf as pauseDraftOf } from '../http/pauses/requests.ts'
import { keyMismatch, problemBody } from '../http/platform/problems.ts'
import { compileCheck, compileValidator, type Issues } from '../http/platform/validation.ts'
import { draftOf, patchOf } from '../http/quotas/requests.ts'
import { unknownUser } from '../http/references/references.ts'
import { commandOf, createOperationCheck, requestCheck } from '../http/sender/requests.ts'
import { answerOf } from '../http/sender/responses.ts'
import type { Ledger } from './ledger.ts'

export interface Call {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly ifMatch: string | undefined
  readonly idempotencyKey: string | undefined
  readonly requestId: string
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Undefined: no body. */
  readonly body?: object
}

/** @throws Problem */
type Handler = (call: Call, parameters: Readonly<Record<string, string>>) => Answer

type Once = (key: string | undefined, request: Record<string, unknown>, answerNow: () => Answer) => Answer

export interface Route {
  readonly method: string
  /** With a named group for each parameter. */
  readonly path: RegExp
  readonly handle: Handler
}

/** The fake has no profiles. */
const NAMELESS = { user_ref: null, user_name: null }

const SENDER = '/api/sms/sender/quota'
const ADMIN = '/api/sms/admin/quota'
const PAUSES = '/api/sms/admin/pauses'

export function createRoutes(ledger: Ledger, now: () => EpochMs, segments: SegmentRules): Route[] {
  const once = createOnce()
  return [...senderRoutes(ledger, segments), ...adminRoutes(ledger, now, once), ...pauseRoutes(ledger, now, once)]
}

function senderRoutes(ledger: Ledger, segments: SegmentRules): Route[] {
  const checkOperation = createOperationCheck(() => segments)
  const checkBatch = compileCheck(BatchReq)
  const readReservation = reader(ReservationParams)
  const headers = { [SEGMENTS_HEADER]: writeSegmentRules(segments) }

  function perform(op: SenderOp, request: unknown, requestId: string): object {
    const origin = { principal: 'fake', requestId }
    const body = request as SenderRequest
    // No reference names a user here.
    if (body.user_id === undefined) throw unknownUser(body.user_ref ?? '', undefined, false)
    const call = commandOf(op, body.user_id, body, origin, { requireCountry: false, requireRecipient: false, segments })
    return answerOf(call, ledger.perform(call.command), true)
  }

  function performInBatch(operation: unknown, requestId: string): object {
    try {
      const checked = checkOperation(operation)
      if ('issues' in checked) throw invalidRequest(checked.issues)
      return { status: 200, body: perform(checked.op, operation, requestId) }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { status: ERRORS[error.code].status, body: problemBody(error, requestId) }
    }
  }

  const single = SENDER_OPS.map((op): Route => {
    const check = requestCheck(op, () => segments)
    return {
      method: 'POST',
      path: pathOf(`${SENDER}/${op}`),
      handle({ body, requestId }) {
        assertValid(check(body))
        return { status: 200, headers, body: perform(op, body, requestId) }
      },
    }
  })
  const batch: Route = {
    method: 'POST',
    path: pathOf(`${SENDER}/batch`),
    handle({ body, requestId }) {
      assertValid(checkBatch(body))
      const { operations } = body as { operations: unknown[] }
      const results = operations.map(operation => performInBatch(operation, requestId))
      return { status: 200, headers, body: { results } }
    },
  }
  const find: Route = {
    method: 'GET',
    path: pathOf(`${SENDER}/reservations/{user_id}/{id}`),
    handle(_call, parameters) {
      const command = { op: 'find', ...(readReservation(parameters) as { user_id: number; id: string }) } as const
      return { status: 200, body: answerOf({ command, measure: null, userRef: null }, ledger.perform(command), true) }
    },
  }
  return [...single, batch, find]
}

function adminRoutes(ledger: Ledger, now: () => EpochMs, once: Once): Route[] {
  const [checkCreate, checkUpdate] = [compileCheck(CreateQuotaReq), compileCheck(UpdateQuotaReq)]
  const [readQuota, readSummary] = [reader(QuotaParams), reader(SummaryQuery)]
  const idOf = (parameters: Readonly<Record<string, string>>) => (readQuota(parameters) as { id: number }).id

  const shown = (quota: Quota, status = 200): Answer => ({
    status,
    headers: { etag: etagOf(quota.version) },
    body: { ...viewOf(quota, now()), ...NAMELESS },
  })
  const one = `${ADMIN}/{id}`
  return [
    {
      method: 'POST',
      path: pathOf(ADMIN),
      handle(call) {
        assertValid(checkCreate(call.body))
        const draft = draftOf(call.body as CreateQuotaReq)
        return once(call.idempotencyKey, { ...draft }, () => shown(ledger.create(draft), 201))
      },
    },
    {
      method: 'GET',
      path: pathOf(`${ADMIN}/summary`),
      handle({ query }) {
        const { user_id } = readSummary(Object.fromEntries(query)) as SummaryQuery
        return { status: 200, body: { ...ledger.summary(user_id), ...NAMELESS, default_plan: null } }
      },
    },
    { method: 'GET', path: pathOf(one), handle: (_call, parameters) => shown(ledger.find(idOf(parameters))) },
    {
      method: 'PUT',
      path: pathOf(one),
      handle(call, parameters) {
        assertValid(checkUpdate(call.body))
        const [id, patch] = [idOf(parameters), patchOf(call.body as UpdateQuotaReq)]
        const change = () => shown(ledger.update(id, patch, versionCheck(call.ifMatch)))
        return once(call.idempotencyKey, { operation: 'updateQuota', id, ...patch }, change)
      },
    },
    {
      method: 'DELETE',
      path: pathOf(one),
      handle({ ifMatch }, parameters) {
        ledger.remove(idOf(parameters), versionCheck(ifMatch))
        return { status: 204 }
      },
    },
  ]
}

function pauseRoutes(ledger: Ledger, now: () => EpochMs, once: Once): Route[] {
  const check = compileCheck(PauseReq)
  const read = reader(PauseParams)
  return [
    {
      method: 'POST',
      path: pathOf(PAUSES),
      handle({ body, idempotencyKey }) {
        assertValid(check(body))
        const draft = pauseDraftOf(body as PauseReq)
        return once(idempotencyKey, { operation: 'createPause', ...draft }, () => {
          const pause = pauseViewOf(ledger.pause(draft), now())
          return { status: 201, body: draft.user_id === null ? pause : { ...pause, ...NAMELESS } }
        })
      },
    },
    {
      method: 'DELETE',
      path: pathOf(`${PAUSES}/{id}`),
      handle(_call, parameters) {
        ledger.liftPause((read(parameters) as { id: number }).id)
        return { status: 204 }
      },
    },
  ]
}

/** Answers a repeated key as before. It forgets nothing: a test is short. */
function createOnce(): Once {
  const before = new Map<string, { request: Record<string, unknown>; answer: Answer }>()
  return (key, request, answerNow) => {
    const earlier = key === undefined ? undefined : before.get(key)
    if (earlier === undefined) {
      const answer = answerNow()
      if (key !== undefined) before.set(key, { request, answer })
      return answer
    }
    const names = [...new Set([...Object.keys(earlier.request), ...Object.keys(request)])]
    const differing = names.filter(name => !isDeepStrictEqual(earlier.request[name], request[name]))
    if (differing.length > 0) throw keyMismatch(differing)
    return earlier.answer
  }
}

function pathOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/** Reads the parameters of a path or a query. */
function reader(schema: TSchema): (values: Readonly<Record<string, string>>) => unknown {
  const validate = compileValidator({ schema, method: '', url: '', httpPart: 'querystring' })
  return values => {
    const read = validate({ ...values })
    if (typeof read === 'object' && read !== null && 'value' in read) return read.value
    throw typeof read === 'object' && read !== null && 'error' in read ? read.error : new TypeError('not validated')
  }
}

function assertValid(issues: Issues | null): void {
  if (issues !== null) throw invalidRequest(issues)
}
