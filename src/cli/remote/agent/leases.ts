/**
 * Pays messages of users who send often from leases, without a round trip. Only `consume` is answered so, since its answer
 * asks for no further call: what a `reserve` promises must outlive the agent. What follows on a paid message is decided by
 * the rules of the service, on the reservation that the message would be there.
 */
import type { LeaseCalls, OwnLease } from '../../../../client/src/lease.ts'
import { createLeasePool, type LeaseScope, scopeKey } from '../../../../client/src/lease-pool.ts'
import { UnavailableError } from '../../../../client/src/main.ts'
import type { Timers } from '../../../../client/src/timers.ts'
import { userOf } from '../../../../client/src/user.ts'
import type { SenderOp, SenderRequest } from '../../../contract/sender.ts'
import { MAX_SEGMENTS } from '../../../domain/basics/bounds.ts'
import { DEFAULT_SEGMENT_RULES, type SegmentRules } from '../../../domain/messages/segment-rules.ts'
import type { Command, DrawCommand, Outcome } from '../../../domain/units/command.ts'
import { decide } from '../../../domain/units/decide.ts'
import { createDraft } from '../../../domain/units/draft.ts'
import type { Reservation } from '../../../domain/units/reservation.ts'
import { Problem } from '../../../errors.ts'
import { commandOf, type SenderCall } from '../../../http/sender/requests.ts'
import { answerOf } from '../../../http/sender/responses.ts'
import { createKnownMessages, KNOWN_MS, type PaidMessage } from './known-messages.ts'
import { messageNameOf } from './message-name.ts'

const MAX_LEASES = 1_000
/** No one is recorded for what the service does not see. */
const UNSEEN = { principal: '', requestId: '' }
/** In the place of the id of a user that a request names by a reference, until a lease has paid: the service names it with each slice. */
const UNKNOWN_USER = 0

export interface LeaseOptions {
  /** The types of messages that leases pay. */
  readonly types: readonly string[] | 'all'
  /** What a lease reserves at a time. */
  readonly units: number
}

export interface Leases {
  /**
   * Answers an operation on a message that a lease has paid; undefined if none has.
   *
   * @throws Problem
   */
  answer(op: SenderOp, request: SenderRequest): object | undefined
  /**
   * Resolves when the lease of a message has what it asks for at this time; undefined if it has enough or does not ask.
   * Passed on now, the message would meet quotas from which the lease has just taken the last units.
   *
   * @throws UnavailableError
   */
  awaitUnits(op: SenderOp, request: SenderRequest): Promise<unknown> | undefined
  /** Pays a message; undefined if it has to be passed on to the service. Call it for each message that is not known. */
  pay(op: SenderOp, request: SenderRequest): object | undefined
  /** Gives back what the leases hold. */
  close(): Promise<void>
}

interface Dependencies {
  readonly calls: LeaseCalls
  /** How the service counts segments; null if that is not known: then leases pay for no text. */
  readonly segments: () => SegmentRules | null
  /** Gets lines for the operator. */
  readonly log: (line: string) => void
  readonly timers: Timers
}

/** A message that a lease may pay. */
interface Payable {
  readonly scope: LeaseScope
  readonly call: SenderCall
  /** Its user is `UNKNOWN_USER` if the request names it by a reference. */
  readonly command: DrawCommand
  /** By which its text is counted. */
  readonly segments: SegmentRules
}

export function createLeases({ types, units }: LeaseOptions, { calls, segments, log, timers }: Dependencies): Leases {
  // As long as a message is known, it can be refunded to its lease.
  const pool = createLeasePool({ calls, lease: { units }, maxLeases: MAX_LEASES, idleMs: KNOWN_MS, timers })
  const isBusy = createBusyScopes(timers.now)
  const known = createKnownMessages({
    now: timers.now,
    onFull: () => log('too many messages within ten minutes to know them all: leases pay none until they are fewer'),
  })

  /** Whether it is a message for leases, which is not known. */
  function isNew(op: SenderOp, request: SenderRequest): boolean {
    if (op !== 'consume' && op !== 'reserve') return false
    if (types !== 'all' && !types.includes(request.message_type ?? '')) return false
    return known.find(messageNameOf(request)) === undefined
  }

  function payFrom({ scope, command, segments }: Payable): PaidMessage | null {
    if (!known.mayPay()) return null
    const pooled = pool.find(scope) ?? (isBusy(scope) ? pool.open(scope) : undefined)
    if (pooled === undefined) return null
    const { lease } = pooled
    if (!canPay(lease, command)) return null
    const { units, country, message_type: messageType } = command
    const userId = lease.userId()
    if (userId !== undefined && lease.held() >= units && lease.trySpend(units))
      return { lease: pooled, userId, units, country, messageType, segments, refunded: 0 }
    // The message goes first: it shall not meet quotas that the slice has emptied.
    queueMicrotask(() => pooled.isOpen && lease.prepare())
    return null
  }

  return {
    answer(op, request) {
      const paid = request.id === undefined ? undefined : known.find(messageNameOf(request))
      if (paid === undefined || paid === null) return undefined
      if (op === 'feedback' || request.verified === true) throw notKnownThere()
      return answerFor(callOf(op, paid.userId, request, paid.segments), paid)
    },

    awaitUnits(op, request) {
      const asked = isNew(op, request) ? payableOf(op, request, segments()) : undefined
      if (asked === undefined) return undefined
      const lease = pool.find(asked.scope)?.lease
      if (lease === undefined || !canPay(lease, asked.command)) return undefined
      if (lease.held() >= asked.command.units) return undefined
      return lease.refilling()?.catch(error => {
        if (!(error instanceof UnavailableError)) return
        // It may become a debt, which the service gets.
        const message = messageNameOf(request)
        if (known.find(message) === undefined) known.add(message, null)
        throw withoutEffect(error)
      })
    },

    pay(op, request) {
      if (!isNew(op, request)) return undefined
      const asked = payableOf(op, request, segments())
      const paid = asked === undefined ? null : payFrom(asked)
      known.add(messageNameOf(request), paid)
      if (asked === undefined || paid === null) return undefined
      const command = { ...asked.command, user_id: paid.userId }
      return answerWith({ ...asked.call, command }, grantedOf(command, paid))
    },

    async close() {
      const unsettled = await pool.close()
      if (unsettled > 0) log(`${unsettled} leases could not be settled: what they hold is charged when it expires`)
    },
  }
}

/** Undefined for what leases do not pay. @param rules how the service counts segments; null if that is not known */
function payableOf(op: SenderOp, request: SenderRequest, rules: SegmentRules | null): Payable | undefined {
  const segments = request.message === undefined ? DEFAULT_SEGMENT_RULES : rules
  if (segments === null) return undefined
  const call = callOf(op, request.user_id ?? UNKNOWN_USER, request, segments)
  const { command, measure } = call
  // The length of the text was checked by the rules of that time.
  if (!isPlainConsume(command) || (measure?.segments ?? 0) > MAX_SEGMENTS) return undefined
  return { scope: scopeOf(request, command), call, command, segments }
}

/** Whether the service requires a country, it says when a slice is reserved. */
function callOf(op: SenderOp, userId: number, request: SenderRequest, segments: SegmentRules): SenderCall {
  return commandOf(op, userId, request, UNSEEN, { requireCountry: false, requireRecipient: false, segments })
}

/** Usage counts a code for a reservation, and a slice pays many messages. */
function notKnownThere(): Problem {
  return new Problem(
    'not_found',
    'A lease paid the message, so the service has no reservation of it, and counts no code.',
  )
}

/** The same failure, of a message that no lease has paid. */
function withoutEffect({ message, isOutage, cause }: UnavailableError): UnavailableError {
  return new UnavailableError(message, { mayHaveTakenEffect: false, isOutage, cause })
}

/** A lease is of one country, so caps of the others that a number may belong to are asked by the service alone. */
function isPlainConsume(command: Command): command is DrawCommand {
  if (command.op !== 'consume' || command.other_countries !== undefined) return false
  return !command.force && !command.allow_partial && !command.explain
}

/** Where caps count messages, slices would reach them early: the service counts each. */
function canPay(lease: OwnLease, command: DrawCommand): boolean {
  return !lease.countsMessages() && lease.canPayFor(command)
}

function scopeOf(request: SenderRequest, { country, message_type }: DrawCommand): LeaseScope {
  return {
    ...userOf(messageNameOf(request)),
    ...(country === null ? {} : { country }),
    ...(message_type === null ? {} : { messageType: message_type }),
  }
}

/** @throws Problem */
function answerFor(call: SenderCall, paid: PaidMessage): object {
  const { command } = call
  const draft = createDraft(command.user_id, [], [reservationOf(command, paid)])
  const outcome = decide(draft, command, 0, { observe: false })
  const refunded = draft.reservations.get(command.id)?.refunded ?? 0
  if (refunded > paid.refunded) {
    if (!paid.lease.isOpen) {
      const detail = 'The lease that paid the message is closed, so its units cannot be given back.'
      throw new Problem('reservation_closed', detail)
    }
    paid.lease.lease.giveBack(refunded - paid.refunded, refunded === paid.units)
    paid.refunded = refunded
  }
  if (refunded < paid.refunded) takeAgain(paid, refunded)
  return answerWith(call, outcome)
}

/** For a forced commit after a refund. A lease counts messages as a whole. @throws Problem */
function takeAgain(paid: PaidMessage, refunded: number): void {
  const { lease, isOpen } = paid.lease
  const isTaken = isOpen && paid.refunded === paid.units && lease.trySpend(paid.refunded - refunded)
  if (!isTaken) {
    const detail =
      'The lease that paid the message cannot pay its refunded units again. Consume them with force and another id.'
    throw new Problem('reservation_closed', detail)
  }
  paid.refunded = refunded
}

/** The reservation that a paid message would be at the service. */
function reservationOf({ user_id, id }: Command, { units, country, messageType, refunded }: PaidMessage): Reservation {
  return {
    user_id,
    id,
    op: 'consume',
    asked: units,
    country,
    message_type: messageType,
    allow_partial: false,
    force: false,
    would_deny: null,
    units,
    committed: units,
    released: 0,
    refunded,
    on_expiry: 'release',
    expired: false,
    verified: false,
    draws: [],
    created_at: 0,
    expires_at: 0,
  }
}

function grantedOf(command: Command, paid: PaidMessage): Outcome {
  const reservation = reservationOf(command, paid)
  return { outcome: 'granted', reservation, remaining: null, replayed: false, would_deny: null, explanation: null }
}

/** @throws Problem */
function answerWith(call: SenderCall, outcome: Outcome): object {
  try {
    return marked(answerOf(call, outcome, false))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { reservation } = error.members
    const members = { ...error.members, ...(isObject(reservation) ? { reservation: marked(reservation) } : {}) }
    throw new Problem(error.code, error.message, { members })
  }
}

/** The slices have the draws, and only the service knows what remains. */
function marked(answer: object): object {
  return { ...answer, unfunded: 0, ...('remaining' in answer ? { remaining: null } : {}), lease: true }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** This many messages in this many milliseconds. A lease costs three operations a slice, which lives for half a minute. */
const BUSY_MESSAGES = 10
const BUSY_MS = 10_000
/** Users, countries and types that are counted at a time. */
const MAX_COUNTED = 10_000

interface Count {
  messages: number
  readonly until: number
}

/** @returns counts a message, and says whether its user sends so often there that a lease is worth its calls */
function createBusyScopes(now: () => number): (scope: LeaseScope) => boolean {
  /** The oldest count first. */
  const counts = new Map<string, Count>()
  return scope => {
    const key = scopeKey(scope)
    const known = counts.get(key)
    if (known !== undefined && known.until > now()) {
      known.messages += 1
      return known.messages >= BUSY_MESSAGES
    }
    counts.delete(key)
    const [oldest] = counts.keys()
    if (counts.size >= MAX_COUNTED && oldest !== undefined) counts.delete(oldest)
    counts.set(key, { messages: 1, until: now() + BUSY_MS })
    return false
  }
}
