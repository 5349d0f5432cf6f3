import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { OPERATIONS, OPTIONAL, REQUESTS, SENDER_OPS, type SenderOp, type SenderRequest } from '../../contract/sender.ts'
import { DEFAULT_TTL_SECONDS, isUint, MAX_SEGMENTS } from '../../domain/basics/bounds.ts'
import { type Measure, measureMessage } from '../../domain/messages/message.ts'
import type { SegmentRules } from '../../domain/messages/segment-rules.ts'
import { longestInWords, mayFitOneMessage, surelyFitsOneMessage } from '../../domain/messages/segments.ts'
import type { Command, DrawCommand, Origin } from '../../domain/units/command.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { principalOf } from '../auth/guard.ts'
import { type Check, compileCheck, firstIssues, type Issues } from '../platform/validation.ts'

/** A validated request as a command for the engine. */
export interface SenderCall {
  command: Command
  /** The segments and the country of the `message`; null without one. */
  measure: Measure | null
  /** The reference by which the request named the user; null if it named the id. */
  userRef: string | null
}

/** Who asks for the commands of a request. */
export function originOf(request: FastifyRequest): Origin {
  return { principal: principalOf(request).subject, requestId: request.id }
}

/**
 * Validates the body of an operation's own path, and drops optional fields that are null from it.
 *
 * @param segments how segments are counted at this time
 */
export function requestCheck(op: SenderOp, segments: () => SegmentRules): Check {
  return withFurtherRules(op, segments, compileCheck(REQUESTS[op]))
}

/** Validates an operation of a batch and returns its name, or its first issues. Optional fields that are null are dropped. */
export function createOperationCheck(
  segments: () => SegmentRules,
): (operation: unknown) => { op: SenderOp } | { issues: Issues } {
  const checkOp = compileCheck(Type.Object({ op: Type.Enum(SENDER_OPS) }))
  const checks = new Map<unknown, { op: SenderOp; check: Check }>(
    SENDER_OPS.map(op => [op, { op, check: withFurtherRules(op, segments, compileCheck(OPERATIONS[op])) }]),
  )
  return operation => {
    const known = isRecord(operation) ? checks.get(operation.op) : undefined
    const issues = (known?.check ?? checkOp)(operation)
    if (issues !== null) return { issues: firstIssues(issues) }
    if (known === undefined) throw new TypeError('an operation passed that no check is for')
    return { op: known.op }
  }
}

/** The settings that a command depends on. */
export interface SenderRules {
  requireCountry: boolean
  requireRecipient: boolean
  /** How segments are counted. */
  segments: SegmentRules
}

/**
 * The command of a validated request. Its numbers and switches are checked again: what counts units does not rely on the
 * schema alone.
 *
 * @param userId the user that the request names, by id or by reference; of a check, `NO_USER_ID` if that is not made yet
 * @throws TypeError if a field that was validated has another type
 * @throws Problem `invalid_request` if the country or the recipient is required and unknown
 */
export function commandOf(
  op: SenderOp,
  userId: number,
  request: SenderRequest,
  origin: Origin,
  rules: SenderRules,
): SenderCall {
  const id = textOf(request.id ?? '')
  const user_id = op === 'check' && Number.isNaN(userId) ? userId : integerOf(userId)
  switch (op) {
    case 'check':
    case 'reserve':
    case 'consume':
      return drawOf({ op, user_id, id, origin }, request, rules)
    case 'commit':
    case 'release':
    case 'refund': {
      const total_units = request.total_units === undefined ? null : integerOf(request.total_units)
      const { messages, total_segments: segments } = request
      return {
        command: {
          ...{
            op,
            user_id,
            id,
            total_units,
            force: request.force === true,
            verified: request.verified === true,
            origin,
          },
          ...(messages === undefined ? {} : { messages: integerOf(messages) }),
          ...(segments === undefined ? {} : { total_segments: integerOf(segments) }),
        },
        measure: null,
        userRef: request.user_ref ?? null,
      }
    }
    case 'feedback':
      return { command: { op, user_id, id, origin }, measure: null, userRef: request.user_ref ?? null }
  }
}

function drawOf(
  asked: Pick<DrawCommand, 'op' | 'user_id' | 'id'> & { origin: Origin },
  request: SenderRequest,
  { requireCountry, requireRecipient, segments }: SenderRules,
): SenderCall {
  const { message } = request
  const measure = message === undefined ? null : measureOf(message, segments)
  const country = measure === null ? (request.country ?? null) : measure.country
  const { recipient = message?.to, tag, messages = 1 } = request
  const [first, ...others] = [
    ...(requireCountry && country === null ? [noCountry(request)] : []),
    ...(requireRecipient && recipient === undefined ? [NO_RECIPIENT] : []),
  ]
  if (first !== undefined) throw invalidRequest([first, ...others])
  return {
    command: {
      ...asked,
      units: integerOf(measure?.units ?? request.units ?? 0),
      ...(measure === null ? {} : { segments: measure.segments }),
      country: country === null ? null : textOf(country),
      ...(measure === null || measure.otherCountries.length === 0 ? {} : { other_countries: measure.otherCountries }),
      ...(recipient === undefined ? {} : { recipient: textOf(recipient) }),
      ...(tag === undefined ? {} : { tag: textOf(tag) }),
      ...(messages === 1 ? {} : { messages: integerOf(messages) }),
      message_type: request.message_type === undefined ? null : textOf(request.message_type),
      ttl_ms: integerOf(request.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1000,
      on_expiry: request.on_expiry === 'commit' ? 'commit' : 'release',
      allow_partial: request.allow_partial === true,
      force: request.force === true,
      explain: request.explain === true,
    },
    measure,
    userRef: request.user_ref ?? null,
  }
}

/** @throws TypeError if it is no integer from 0 */
function integerOf(value: number): number {
  if (isUint(value)) return value
  throw new TypeError('a validated integer is not an integer from 0')
}

/** @throws TypeError if it is no string */
function textOf(value: string): string {
  if (typeof value === 'string') return value
  throw new TypeError('a validated text is not a string')
}

const NO_RECIPIENT: ValidationIssue = {
  path: '/recipient',
  message: 'is required by this service, so that caps on each recipient always apply',
}

function noCountry({ message }: SenderRequest): ValidationIssue {
  return message === undefined
    ? { path: '/country', message: 'is required by this service, so that quotas with countries always apply' }
    : { path: '/message/to', message: 'must be a number of a country, which this service requires' }
}

/** Adds the rules between fields, and the bound of a text in SMS, to those of the schema, so that all issues are reported together. */
function withFurtherRules(op: SenderOp, segments: () => SegmentRules, check: Check): Check {
  const optional = OPTIONAL[op]
  const draws = op === 'check' || op === 'reserve' || op === 'consume'
  return value => {
    if (isRecord(value)) dropNulls(value, optional)
    const issues = check(value)
    if (!isRecord(value)) return issues
    const further = draws ? furtherIssuesIn(value, segments()) : totalIssuesIn(value)
    return joined(userIssuesIn(value), joined(issues, further))
  }
}

/** Null unless both totals are given. */
function totalIssuesIn({ total_units, total_segments }: Record<string, unknown>): Issues | null {
  if (total_units === undefined || total_segments === undefined) return null
  return [{ path: '/total_segments', message: 'is not accepted together with total_units, which says as much' }]
}

function joined(one: Issues | null, other: Issues | null): Issues | null {
  return one === null || other === null ? (one ?? other) : [...one, ...other]
}

/** Null if the id or the reference of the user is given, and not both. */
function userIssuesIn({ user_id, user_ref }: Record<string, unknown>): Issues | null {
  if (user_id === undefined) {
    if (user_ref !== undefined) return null
    return [{ path: '/user_id', message: 'is required, unless user_ref names the user' }]
  }
  return user_ref === undefined
    ? null
    : [{ path: '/user_ref', message: 'is not accepted together with user_id, which names the user already' }]
}

/** Takes `null` for "not given", as many languages write it, and as this service's own answers do. */
function dropNulls(request: Record<string, unknown>, optional: ReadonlySet<string>): void {
  for (const name in request) if (request[name] === null && optional.has(name)) delete request[name]
}

/** Null if there are none, which is nearly always so. */
function furtherIssuesIn(request: Record<string, unknown>, segments: SegmentRules): Issues | null {
  const { units, message, country, recipient } = request
  if (message === undefined) {
    if (units !== undefined) return null
    return [{ path: '/units', message: 'is required, unless there is a message whose units the service counts' }]
  }
  const isLong = isTooLong(message, segments)
  if (units === undefined && country === undefined && recipient === undefined && !isLong) return null
  const determined = Object.entries({ units, country, recipient })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => ({ path: `/${name}`, message: 'is not accepted together with message, which determines it' }))
  const tooLong = isLong ? [{ path: '/message/text', message: `must fit into ${longestInWords(segments)}` }] : []
  const [first, ...others] = [...determined, ...tooLong]
  return first === undefined ? null : [first, ...others]
}

/** What long texts cost, by their messages: counting one takes milliseconds, and it is checked before it is charged. */
const measured = new WeakMap<object, { segments: SegmentRules; measure: Measure }>()

function measureOf(message: { to: string; text: string }, segments: SegmentRules): Measure {
  const known = measured.get(message)
  return known?.segments === segments ? known.measure : measureMessage(message.to, message.text, segments)
}

function isTooLong(message: unknown, segments: SegmentRules): boolean {
  if (!isRecord(message) || typeof message.text !== 'string') return false
  const { to, text } = message
  if (surelyFitsOneMessage(text, segments)) return false
  if (!mayFitOneMessage(text, segments)) return true
  const measure = measureMessage(typeof to === 'string' ? to : '', text, segments)
  measured.set(message, { segments, measure })
  return measure.segments > MAX_SEGMENTS
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
