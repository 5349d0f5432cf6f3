/**
 * What `replayed` tells the caller: whether the caller has asked before. The service cannot know that. It says so of each call
 * whose effect is there, also if an attempt of the same call has made it, whose answer was lost.
 *
 * | the answer says `replayed`, and                               | the caller sees |
 * |---------------------------------------------------------------|-----------------|
 * | no earlier attempt of this call may have taken effect          | true            |
 * | this client was called so before                               | true            |
 * | its reservation is not as this call would have left it         | true            |
 * | otherwise: an attempt of this call, or another process, was first | false        |
 */
import type { BatchReq, BatchResult } from './api.ts'
import { isUncertain, type UnavailableError } from './errors.ts'
import type { SenderOperation } from './route.ts'
import type { Input } from './transport.ts'
import { type MessageName, messageKey } from './user.ts'

/** Calls and messages that are remembered. They take some 5 MB each. */
const MAX_REMEMBERED = 50_000

export interface Repetitions {
  /** Notes a call. @returns whether this client was called so before */
  note(name: SenderOperation, input: Input): boolean
  /** Forgets a call that has had no effect. */
  forget(name: SenderOperation, input: Input): void
}

export function createRepetitions(max = MAX_REMEMBERED): Repetitions {
  /** The oldest first. */
  const called = new Set<string>()
  const keyOf = (name: SenderOperation, { userId, userRef, id }: Input) =>
    `${name} ${id} ${userRef === undefined ? userId : `ref:${userRef}`}`
  return {
    note(name, input) {
      if (name === 'check') return false
      const key = keyOf(name, input)
      if (called.has(key)) return true
      add(called, key, max)
      return false
    },
    forget(name, input) {
      called.delete(keyOf(name, input))
    },
  }
}

/** Messages that are remembered. */
export interface Messages {
  add(message: MessageName): void
  /** Forgets a message. @returns whether it was remembered */
  take(message: MessageName): boolean
}

export function createMessages(max = MAX_REMEMBERED): Messages {
  const remembered = new Set<string>()
  return {
    add: message => add(remembered, messageKey(message), max),
    take: message => remembered.delete(messageKey(message)),
  }
}

/** What this client knows of the sends that it has begun, for when the service is away and cannot tell. */
export interface Sends {
  note(message: MessageName, outcome: SendOutcome): void
  get(message: MessageName): SendOutcome | undefined
}

/** `unknown`: it is under way, or said that it cannot tell. */
type SendOutcome = 'sent' | 'unknown' | 'failed'

export function createSends(max = MAX_REMEMBERED): Sends {
  const outcomes = new Map<string, SendOutcome>()
  return {
    note(message, outcome) {
      const key = messageKey(message)
      outcomes.delete(key)
      outcomes.set(key, outcome)
      forgetOldest(outcomes, max)
    },
    get: message => outcomes.get(messageKey(message)),
  }
}

function forgetOldest(keyed: Map<string, unknown> | Set<string>, max: number): void {
  const [oldest] = keyed.keys()
  if (keyed.size > max && oldest !== undefined) keyed.delete(oldest)
}

function add(keys: Set<string>, key: string, max: number): void {
  keys.add(key)
  forgetOldest(keys, max)
}

/** The answer to a call that this client was not called so before, and of which an earlier attempt may have taken effect. */
export function asFirst(name: SenderOperation, answer: unknown): unknown {
  if (!isReplayed(answer) || !isAsLeft(name, answer)) return answer
  return { ...answer, replayed: false }
}

function asFirstResult<T extends { readonly body: unknown }>(name: SenderOperation, result: T): T {
  return { ...result, body: asFirst(name, result.body) }
}

interface Replayed {
  readonly replayed: true
}

function isReplayed(answer: unknown): answer is Replayed {
  return typeof answer === 'object' && answer !== null && 'replayed' in answer && answer.replayed === true
}

/** Whether a reservation is as the call would have left it. A settlement does not show it. */
function isAsLeft(name: SenderOperation, answer: Replayed): boolean {
  const has = (field: string, value: unknown) => new Map(Object.entries(answer)).get(field) === value
  if (name === 'reserve') return has('state', 'reserved') && has('committed', 0) && has('released', 0)
  return name !== 'consume' || (has('state', 'committed') && has('refunded', 0))
}

/** A denial is not remembered by the service either. */
export function isDenied(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'granted' in answer && answer.granted === false
}

/** Calls a batch that the caller has made itself. An operation that ends without an effect is forgotten. */
export async function callBatchAsFirst(
  repetitions: Repetitions,
  { operations }: Pick<BatchReq, 'operations'>,
  call: (onFailure: (error: UnavailableError) => void) => Promise<BatchResult>,
): Promise<BatchResult> {
  const asked = operations.map(({ op, ...input }) => ({ op, input, isRepeated: repetitions.note(op, input) }))
  const forget = ({ op, input, isRepeated }: (typeof asked)[number]) => !isRepeated && repetitions.forget(op, input)
  let mayBeRepeated = false
  const onFailure = (error: UnavailableError) => {
    mayBeRepeated ||= error.mayHaveTakenEffect
  }
  const answer = await call(onFailure).catch(error => {
    if (!isUncertain(error)) for (const operation of asked) forget(operation)
    throw error
  })
  const results = answer.results.map((result, index) => {
    const operation = asked[index]
    if (operation === undefined) return result
    if (isRefused(result.status) || isDenied(result.body)) forget(operation)
    return mayBeRepeated && !operation.isRepeated ? asFirstResult(operation.op, result) : result
  })
  return { ...answer, results }
}

const isRefused = (status: number): boolean => status >= 400 && status < 500
