import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { OPERATIONS, REQUESTS, SENDER_OPS, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import { DEFAULT_TTL_SECONDS } from '../../domain/bounds.ts'
import type { Command, Origin } from '../../domain/command.ts'
import { type Measure, measureMessage } from '../../domain/message.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { principalOf } from '../auth/guard.ts'
import { type Check, compileCheck } from '../platform/validation.ts'

/** A validated request as a command for the engine. */
export interface SenderCall {
  command: Command
  /** The segments and the country of the `message`; null without one. */
  measure: Measure | null
}

/** Who asks for the commands of a request. */
export function originOf(request: FastifyRequest): Origin {
  return { principal: principalOf(request).subject, requestId: request.id }
}

/** Validates the body of an operation's own path. */
export function requestCheck(op: SenderOp): Check {
  return withContradictions(op, compileCheck(REQUESTS[op]))
}

/** Validates an operation of a batch and returns its name. */
export function createOperationCheck(): (
  operation: unknown,
) => { op: SenderOp } | { issues: readonly ValidationIssue[] } {
  const checkOp = compileCheck(Type.Object({ op: Type.Enum(SENDER_OPS) }))
  const checks = new Map<unknown, { op: SenderOp; check: Check }>(
    SENDER_OPS.map(op => [op, { op, check: withContradictions(op, compileCheck(OPERATIONS[op])) }]),
  )
  return operation => {
    const known = isRecord(operation) ? checks.get(operation.op) : undefined
    if (known === undefined) return { issues: checkOp(operation) }
    const issues = known.check(operation)
    return issues.length === 0 ? { op: known.op } : { issues }
  }
}

/**
 * The command of a validated request.
 * @throws Problem `invalid_request` if the country is required and unknown
 */
export function commandOf(
  op: SenderOp,
  request: SenderRequest,
  { origin, requireCountry }: { origin: Origin; requireCountry: boolean },
): SenderCall {
  const { user_id, id = '' } = request
  switch (op) {
    case 'check':
    case 'reserve':
    case 'consume':
      return drawOf(op, request, origin, requireCountry)
    case 'commit':
    case 'release':
    case 'refund': {
      const { total_units = null, force = false, messages = 1 } = request
      return { command: { op, user_id, id, total_units, force, messages, origin }, measure: null }
    }
  }
}

function drawOf(
  op: 'check' | 'reserve' | 'consume',
  request: SenderRequest,
  origin: Origin,
  requireCountry: boolean,
): SenderCall {
  const { message } = request
  const measure = message === undefined ? null : measureMessage(message.to, message.text)
  const country = measure === null ? (request.country ?? null) : measure.country
  if (requireCountry && country === null) throw invalidRequest([noCountry(request)])
  return {
    command: {
      op,
      user_id: request.user_id,
      id: request.id ?? '',
      units: measure?.units ?? request.units ?? 0,
      country,
      message_type: request.message_type ?? null,
      ttl_ms: (request.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1000,
      on_expiry: request.on_expiry ?? 'release',
      allow_partial: request.allow_partial ?? false,
      force: request.force ?? false,
      explain: request.explain ?? false,
      origin,
    },
    measure,
  }
}

function noCountry({ message }: SenderRequest): ValidationIssue {
  return message === undefined
    ? { path: '/country', message: 'is required by this service, so that quotas with countries always apply' }
    : { path: '/message/to', message: 'must be a number of a country, which this service requires' }
}

/** Adds the rules between fields to those of the schema, so that all issues are reported together. */
function withContradictions(op: SenderOp, check: Check): Check {
  if (op !== 'check' && op !== 'reserve' && op !== 'consume') return check
  return value => {
    const issues = check(value)
    const further = isRecord(value) ? contradictionsIn(value) : null
    return further === null ? issues : [...issues, ...further]
  }
}

/** Null if there are none, which is nearly always so. */
function contradictionsIn({ units, message, country }: Record<string, unknown>): ValidationIssue[] | null {
  if (message === undefined) {
    if (units !== undefined) return null
    return [{ path: '/units', message: 'is required, unless there is a message whose units the service counts' }]
  }
  if (units === undefined && country === undefined) return null
  const issues: ValidationIssue[] = []
  if (units !== undefined)
    issues.push({ path: '/units', message: 'is not accepted together with message, which determines it' })
  if (country !== undefined)
    issues.push({ path: '/country', message: 'is not accepted together with message, which determines it' })
  return issues
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
