/** A send with enforcement: reserve, commit, send, and refund if that fails. */
import type { Denied, Granted, ReserveReq, Settled } from './api.ts'
import type { Debt, DebtSettler, Journal, OnUnavailable } from './debts.ts'
import { isUncertain, UnavailableError } from './errors.ts'
import type { OutageLeases, PayableMessage } from './outage-leases.ts'
import type { Messages, Sends } from './repetitions.ts'
import { type Sent, UnknownIfSent } from './sent.ts'
import type { Settler } from './settler.ts'
import type { CallOptions, OwnCallOptions } from './transport.ts'
import { type MessageName, messageOf } from './user.ts'

export interface ReservationOptions extends CallOptions {
  /** In place of the client's. */
  onUnavailable?: OnUnavailable
  /**
   * What it means that an earlier call with this id, perhaps of another process, has reserved units and not committed them:
   * `unknown`, if left out, sends nothing and says so; `send` sends.
   */
  onRepeated?: 'unknown' | 'send'
}

/** What the client adds. */
interface Policy {
  onUnavailable: OnUnavailable
  debts: { readonly journal: Journal; readonly debtSettler: DebtSettler } | undefined
  leases: OutageLeases | undefined
  settler: Settler
  /** The messages that this client has asked for in vain, so that nothing was sent. */
  unsent: Messages
  sends: Sends
}

export interface ReservationCalls {
  reserve(input: ReserveReq, options?: OwnCallOptions): Promise<Granted | Denied>
  commit(input: MessageName, options?: CallOptions): Promise<Settled>
  release(input: MessageName): Promise<Settled>
  refund(input: MessageName): Promise<Settled>
}

type Send<T> = (reservation: Granted | null) => Promise<T> | T

/**
 * Reserves, commits, and sends. A reservation is released when it expires, so that one whose answer is lost costs nothing. Its units
 * are committed before the send begins, so that a message that was sent is never free, and refunded if `send` throws.
 *
 * With `onExpiry: 'release'` the units are committed after the send: a message whose process ends during the send is free.
 *
 * What the service does not confirm is settled in the background. The options are those of the calls before the send: what
 * follows it is not aborted.
 */
export async function withReservation<T>(
  calls: ReservationCalls,
  input: ReserveReq,
  send: Send<T>,
  { onRepeated = 'unknown', ...policy }: ReservationOptions & Policy,
): Promise<Sent<T>> {
  assertPossible(input, policy)
  const known = knownBefore(input, policy, onRepeated)
  if (known !== undefined) return known
  if (policy.debts?.journal.find(input) !== undefined || policy.leases?.isOpen(input)) {
    const message = 'the message was sent for, or paid, while the service was away, and that is not settled yet'
    const reason = new UnavailableError(message, { mayHaveTakenEffect: true })
    return sendInstead(await beginInstead(input, policy, reason), remembered(input, send, policy.sends), reason)
  }
  policy.settler.assertRoom()
  return sendReserved(calls, input, remembered(input, send, policy.sends), { onRepeated, ...policy })
}

/** Notes what becomes of a send. */
function remembered<T>(input: ReserveReq, send: Send<T>, sends: Sends): Send<T> {
  return async reservation => {
    sends.note(input, 'unknown')
    try {
      const value = await send(reservation)
      sends.note(input, 'sent')
      return value
    } catch (error) {
      if (!(error instanceof UnknownIfSent)) sends.note(input, 'failed')
      throw error
    }
  }
}

/** What is known of a message without asking the service. @throws UnavailableError while its units are given back */
function knownBefore(
  input: ReserveReq,
  { debts, leases, settler }: Policy,
  onRepeated: 'unknown' | 'send',
): Sent<never> | undefined {
  const unsettled = settler.find(input)
  if (unsettled?.outcome === 'not-sent') {
    const message = 'the units of an earlier attempt are being given back'
    throw new UnavailableError(message, { mayHaveTakenEffect: true, isOutage: false })
  }
  const debt = debts?.journal.find(input)
  if (unsettled !== undefined || debt?.outcome === 'sent' || leases?.isSent(input)) {
    return { granted: true, sent: 'before', reservation: null }
  }
  return debt?.outcome === 'unknown' && onRepeated === 'unknown' ? unknownBefore(null) : undefined
}

/**
 * What this client has made of the message before: asked in an outage, the service cannot tell.
 *
 * @throws the reason if its send has failed: the units were given back, and nothing more can be charged to its id
 */
function sentBefore(
  input: ReserveReq,
  { sends, onRepeated }: Pick<Policy, 'sends'> & { onRepeated: 'unknown' | 'send' },
  reason: unknown,
): Sent<never> | undefined {
  if (!(reason instanceof UnavailableError && reason.isOutage)) return undefined
  const outcome = sends.get(input)
  if (outcome === 'failed') throw reason
  const isCharged = outcome === 'sent' || (outcome === 'unknown' && input.onExpiry !== 'release')
  if (isCharged) return { granted: true, sent: 'before', reservation: null }
  return outcome === 'unknown' && onRepeated === 'unknown' ? unknownBefore(null) : undefined
}

function unknownBefore(reservation: Granted | null): Sent<never> {
  const message = 'an earlier call with this id has not said whether it sent the message'
  return { granted: true, sent: 'unknown', error: new UnknownIfSent(message), reservation }
}

async function sendReserved<T>(
  calls: ReservationCalls,
  input: ReserveReq,
  send: Send<T>,
  { onRepeated, ...policy }: Policy & CallOptions & { onRepeated: 'unknown' | 'send' },
): Promise<Sent<T>> {
  const { onUnavailable, debts, leases, settler, unsent, sends, ...options } = policy
  let reservation: Granted | Denied
  let isLost = false
  const onFailure = (error: UnavailableError) => {
    isLost ||= error.mayHaveTakenEffect
  }
  try {
    reservation = await calls.reserve({ ...input, onExpiry: 'release' }, { ...options, onFailure })
  } catch (error) {
    const before = sentBefore(input, { sends, onRepeated }, error)
    if (before !== undefined) return before
    const instead = await beginInstead(input, policy, error).catch(reason => {
      if (isUncertain(error)) unsent.add(input)
      throw reason
    })
    return sendInstead(instead, send, error)
  }
  if (!reservation.granted) {
    // The request may still arrive.
    if (isLost) unsent.add(input)
    return reservation
  }
  // A call in vain says nothing of an earlier one that has begun to send.
  const wasUnsent = unsent.take(input) && sends.get(input) === undefined
  if (reservation.replayed) {
    if (reservation.state !== 'reserved') return { granted: true, sent: 'before', reservation }
    if (onRepeated === 'unknown' && !wasUnsent) return unknownBefore(reservation)
  }
  const hold = () => onUnavailable === 'lease' && leases?.hold(input)
  if (input.onExpiry === 'release') {
    hold()
    return sendAndCommit(calls, reservation, send, settler)
  }
  const message = messageOf(reservation)
  let settled: Settled
  try {
    settled = await calls.commit(message, options)
  } catch (error) {
    const instead = await beginInstead(input, policy, error, true).catch(reason => {
      if (isUncertain(error)) settler.giveBack({ ...message, mayBeCommitted: true, isMaker: !reservation.replayed })
      else unsent.add(input)
      throw reason
    })
    return sendInstead(instead, send, error)
  }
  hold()
  if (settled.replayed) return committedBefore(reservation, settled)
  return sendCommitted(calls, { reservation, settled }, send, settler)
}

/** Of what was committed in between: by another call, or by this commit itself, which a proxy has repeated. */
function committedBefore(reservation: Granted, settled: Settled): Sent<never> {
  const message = 'another call with this id has committed it, or the network has repeated the commit of this one'
  const committed: Granted = { ...reservation, ...settled, replayed: false }
  return { granted: true, sent: 'unknown', error: new UnknownIfSent(message), reservation: committed }
}

/** Sends what is charged. */
async function sendCommitted<T>(
  calls: ReservationCalls,
  { reservation, settled }: { reservation: Granted; settled: Settled },
  send: Send<T>,
  settler: Settler,
): Promise<Sent<T>> {
  const message = messageOf(reservation)
  const { replayed } = reservation
  const committed: Granted = { ...reservation, ...settled, replayed }
  try {
    return { granted: true, sent: true, value: await send(committed), settled }
  } catch (error) {
    if (error instanceof UnknownIfSent) return { granted: true, sent: 'unknown', error, reservation: committed }
    await calls.refund(message).catch(() => settler.giveBack({ ...message, mayBeCommitted: true }))
    throw error
  }
}

/** Sends, and charges after that. */
async function sendAndCommit<T>(
  calls: ReservationCalls,
  reservation: Granted,
  send: Send<T>,
  settler: Settler,
): Promise<Sent<T>> {
  const message = messageOf(reservation)
  let value: T
  try {
    value = await send(reservation)
  } catch (error) {
    if (error instanceof UnknownIfSent) return { granted: true, sent: 'unknown', error, reservation }
    await calls.release(message).catch(() => settler.giveBack({ ...message, mayBeCommitted: false }))
    throw error
  }
  try {
    return { granted: true, sent: true, value, settled: await calls.commit(message) }
  } catch (error) {
    settler.charge(message)
    return { granted: true, sent: true, value, settled: null, error, isDebt: false, isLeased: false }
  }
}

/** How a message is sent without the service. */
interface Instead {
  readonly isDebt: boolean
  end(outcome: Debt['outcome']): Promise<void>
}

/**
 * @param isReserved whether the message has a reservation for certain
 * @throws the reason if the message is not sent without the service, and UnavailableError if the journal cannot take it
 */
async function beginInstead(
  input: ReserveReq,
  { onUnavailable, debts, leases }: Policy,
  reason: unknown,
  isReserved = false,
): Promise<Instead> {
  if (!(reason instanceof UnavailableError && reason.isOutage)) throw reason
  const mayBeCommitted = isReserved && reason.mayHaveTakenEffect
  if (debts !== undefined && (onUnavailable === 'allow-with-debt' || debts.journal.find(input))) {
    const end = await debts.journal.begin(input, mayBeCommitted).catch(cause => {
      if (cause instanceof UnavailableError) throw cause
      const message = 'the service did not answer, and the journal cannot be written'
      throw new UnavailableError(message, { mayHaveTakenEffect: true, cause })
    })
    return {
      isDebt: true,
      async end(outcome) {
        await end(outcome)
        debts.debtSettler.wake()
      },
    }
  }
  const mayExist = isReserved || reason.mayHaveTakenEffect
  const mayPay = (onUnavailable === 'lease' || leases?.isOpen(input)) && isPayable(input)
  const paid = mayPay ? leases?.pay(input, { mayExist, mayBeCommitted }) : undefined
  if (paid === undefined) throw reason
  return {
    isDebt: false,
    async end(outcome) {
      if (outcome === 'not-sent') paid.takeBack()
    },
  }
}

async function sendInstead<T>({ isDebt, end }: Instead, send: Send<T>, reason: unknown): Promise<Sent<T>> {
  let value: T
  try {
    value = await send(null)
  } catch (error) {
    await end(error instanceof UnknownIfSent ? 'unknown' : 'not-sent')
    if (error instanceof UnknownIfSent) return { granted: true, sent: 'unknown', error, reservation: null }
    throw error
  }
  await end('sent')
  return { granted: true, sent: true, value, settled: null, error: reason, isDebt, isLeased: !isDebt }
}

/** Refuses what would fail in an outage only. @throws TypeError */
function assertPossible(
  input: ReserveReq,
  { onUnavailable, debts, leases }: Pick<Policy, 'onUnavailable' | 'debts' | 'leases'>,
): void {
  if (onUnavailable === 'allow-with-debt' && debts === undefined) {
    throw new TypeError(
      'onUnavailable: allow-with-debt needs a journal: createClient({ journal: await openJournal(…) })',
    )
  }
  if (onUnavailable === 'lease' && leases === undefined) {
    throw new TypeError('onUnavailable: lease needs units to hold: createClient({ outageLease: { units: … } })')
  }
  if (onUnavailable === 'lease' && !isPayable(input)) {
    throw new TypeError(
      'onUnavailable: lease needs a message with `units`, and with `country` if quotas have countries: only the service counts a text',
    )
  }
}

function isPayable(input: ReserveReq): input is PayableMessage {
  return input.units !== undefined
}
