import { randomUUID } from 'node:crypto'
import { SEGMENTS_HEADER, writeSegmentRules } from '../../contract/segments-header.ts'
import { SENDER_OPS, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import { ERRORS, invalidRequest, Problem } from '../../errors.ts'
import type { Principal } from '../auth/claims.ts'
import type { VerificationLimit } from '../auth/guard.ts'
import type { ServerParts } from '../context.ts'
import type { Answer, TakePlainCall } from '../door/connection.ts'
import { MAX_PLAIN_BODY_BYTES } from '../door/head.ts'
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

interface PlainCallParts extends ServerParts {
  readonly verifications: VerificationLimit
  readonly errors: ErrorAnswers
  readonly reportAnswer: ReportAnswer
}

interface Operation {
  readonly op: SenderOp
  readonly route: string
  readonly check: Check
}

/** What the calls have in common. */
interface Common extends Pick<PlainCallParts, 'errors' | 'reportAnswer'> {
  readonly calls: SenderCalls
  /** Lines of answers. */
  readonly headers: string
  readonly tls: object
  readonly namedRules: object
}

/** The senders' operations behind the door: they do what their routes do, in the same order. */
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
  const operations = new Map<string, Operation>(
    SENDER_OPS.map(op => {
      const check = requestCheck(op, () => settings.segments)
      return [op, { op, route: `/api/sms/sender/quota/${op}`, check }]
    }),
  )

  function perform(call: Call, body: Buffer): void {
    try {
      const refusal = refusalOf(parts, call.principal)
      if (refusal !== undefined) throw refusal
      call.isAdmitted = true
      authenticator.require(call.principal, 'send')
      const read = parseJsonBytes(body)
      if ('refusal' in read) throw read.refusal
      const issues = call.operation.check(read.value)
      if (issues !== null) throw invalidRequest(issues)
      common.calls.operate(call.operation.op, read.value as SenderRequest, call, call)
    } catch (error) {
      call.send(error)
    }
  }

  return ({ head, body, socket }, answer) => {
    const operation = operations.get(head.operation)
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
    perform(new Call({ operation, raw, principal, requestId }, common, answer), body)
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
    return { id, method: 'POST', route: operation.route, isForMachines: true, raw, principal, traceparent: undefined }
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
