import { randomUUID } from 'node:crypto'
import { SEGMENTS_HEADER, writeSegmentRules } from '../../contract/segments-header.ts'
import { SENDER_OPS, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import { ERRORS, invalidRequest, Problem } from '../../errors.ts'
import type { Principal } from '../auth/claims.ts'
import type { VerificationLimit } from '../auth/guard.ts'
import type { ServerParts } from '../context.ts'
import type { Answer, TakePlainCall } from '../door/connection.ts'
import { MAX_PLAIN_BODY_BYTES, type PlainHead } from '../door/head.ts'
import type { AddressOf } from '../platform/client-address.ts'
import { type ErrorAnswers, problemHeaders } from '../platform/error-answers.ts'
import { isRequestId, PLAIN_HEADERS, STRICT_TLS } from '../platform/headers.ts'
import { parseJsonBytes } from '../platform/json-body.ts'
import { problemBody } from '../platform/problems.ts'
import type { ReportAnswer } from '../platform/request-log.ts'
import type { Check } from '../platform/validation.ts'
import { refusalOf } from './admission.ts'
import { type Answering, createSenderCalls, type SenderCalls } from './calls.ts'
import { requestCheck } from './requests.ts'

const ROUTES = '/api/sms/sender/quota'

interface PlainCallParts extends ServerParts {
  readonly verifications: VerificationLimit
  readonly errors: ErrorAnswers
  readonly reportAnswer: ReportAnswer
}

interface Operation {
  readonly method: string
  readonly route: string
  /** Does what a validated body asks for, or reads the reservation that the path names. @throws what it is refused with */
  run(call: Call, head: PlainHead, body: Buffer): void
}

/** What the calls have in common. */
interface Common extends Pick<PlainCallParts, 'errors' | 'reportAnswer'> {
  readonly calls: SenderCalls
  /** Lines of answers. */
  readonly headers: string
  readonly tls: object
  readonly namedRules: object
}

/** The senders' operations and reads behind the door: they do what their routes do, in the same order. */
export function createPlainCalls(parts: PlainCallParts): TakePlainCall {
  const { authenticator, verifications, listener, settings } = parts
  const tls = listener.certificate === undefined ? {} : STRICT_TLS
  const namedRules = { [SEGMENTS_HEADER]: writeSegmentRules(settings.segments) }
  const common: Common = {
    ...parts,
    calls: createSenderCalls(parts),
    headers: linesOf({ ...tls, ...PLAIN_HEADERS, ...namedRules, 'content-type': 'application/json; charset=utf-8' }),
    tls,
    namedRules,
  }
  const { calls } = common
  const operations = new Map<string, Operation>(
    SENDER_OPS.map(op => {
      const check = requestCheck(op, () => settings.segments)
      return [op, { method: 'POST', route: `${ROUTES}/${op}`, run: (call, _, body) => operate(op, check, call, body) }]
    }),
  )
  const find: Operation = {
    method: 'GET',
    route: `${ROUTES}/reservations/:user_id/:id`,
    run(call, { reservation }) {
      if (reservation === undefined) throw new TypeError('a path names no reservation')
      const { principal, requestId } = call
      const command = { op: 'find', ...reservation, origin: { principal: principal.subject, requestId } } as const
      calls.perform({ command, measure: null, userRef: null }, principal, call)
    },
  }

  function operate(op: SenderOp, check: Check, call: Call, body: Buffer): void {
    const read = parseJsonBytes(body)
    if ('refusal' in read) throw read.refusal
    const issues = check(read.value)
    if (issues !== null) throw invalidRequest(issues)
    calls.operate(op, read.value as SenderRequest, call, call)
  }

  function perform(call: Call, head: PlainHead, body: Buffer): void {
    try {
      const refusal = refusalOf(parts, call.principal)
      if (refusal !== undefined) throw refusal
      call.isAdmitted = true
      authenticator.require(call.principal, 'send')
      call.operation.run(call, head, body)
    } catch (error) {
      call.send(error)
    }
  }

  return ({ head, body, socket }, answer) => {
    const operation = head.reservation === undefined ? operations.get(head.operation) : find
    if (operation === undefined) return false
    const raw = { socket, headers: { 'x-forwarded-for': head.forwardedFor } }
    let principal: Principal | Promise<unknown>
    try {
      principal = authenticator.authenticate(head.authorization, () => verifications.check(raw))
    } catch {
      return false
    }
    if (principal instanceof Promise)
      return principal.catch(error => {
        if (error instanceof Problem && error.code === 'unauthenticated') verifications.countAhead(raw)
        throw error
      })
    const requestId = isRequestId(head.requestId) ? head.requestId : randomUUID()
    perform(new Call({ operation, raw, principal, requestId }, common, answer), head, body)
    return true
  }
}

interface Started {
  readonly operation: Operation
  readonly raw: Parameters<AddressOf>[0]
  readonly principal: Principal
  readonly requestId: string
}

/** A call until it is answered. */
class Call implements Answering, Started {
  readonly operation: Operation
  readonly raw: Started['raw']
  readonly principal: Principal
  readonly requestId: string
  isAdmitted = false
  private readonly startedAt = performance.now()
  private readonly common: Common
  private readonly answer: Answer

  constructor({ operation, raw, principal, requestId }: Started, common: Common, answer: Answer) {
    this.operation = operation
    this.raw = raw
    this.principal = principal
    this.requestId = requestId
    this.common = common
    this.answer = answer
  }

  send(answer: unknown): void {
    if (answer instanceof Error) {
      this.refuse(answer)
      return
    }
    this.answer(200, `${this.common.headers}x-request-id: ${this.requestId}\r\n`, JSON.stringify(answer))
    this.report(200, null)
  }

  private refuse(error: Error): void {
    const { problem, waiting } = this.common.errors.judge(error, this.described(), MAX_PLAIN_BODY_BYTES)
    const { status } = ERRORS[problem.code]
    const headers = {
      ...(this.isAdmitted ? this.common.namedRules : {}),
      ...this.common.tls,
      ...problemHeaders(problem, this.requestId),
    }
    const send = () => {
      this.answer(status, linesOf(headers), JSON.stringify(problemBody(problem, this.requestId)))
      this.report(status, problem)
    }
    if (waiting === undefined) send()
    else waiting.then(send)
  }

  private described() {
    const { requestId: id, raw, principal, operation } = this
    const { method, route } = operation
    return { id, method, route, isForMachines: true, raw, principal, traceparent: undefined }
  }

  private report(status: number, problem: Problem | null): void {
    const ms = performance.now() - this.startedAt
    this.common.reportAnswer({ ...this.described(), status, ms, problem })
  }
}

const linesOf = (headers: object): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
