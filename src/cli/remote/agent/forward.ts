/** Passes a sender's operation on to the service, to a lease or to the journal, and makes an answer of what comes back. */
import { hasCode } from '../../../../client/src/errors.ts'
import { type Client, QuotaError, UnavailableError } from '../../../../client/src/main.ts'
import { toCamel, toSnake } from '../../../../client/src/names.ts'
import { userKey } from '../../../../client/src/user.ts'
import type { SenderOp, SenderRequest } from '../../../contract/sender.ts'
import { ERRORS, Problem } from '../../../errors.ts'
import { problemBody, problemOf } from '../../../http/platform/problems.ts'
import type { Debts } from './debts.ts'
import type { Leases } from './leases.ts'
import { messageNameOf } from './message-name.ts'
import type { OutageLog } from './outage-log.ts'

/** The maximum size of an operation, in bytes: that of the service's bodies. */
export const MAX_OPERATION_BYTES = 64 * 1024

export interface Answer {
  readonly status: number
  /** As the service answers it: a problem if the status is 400 or more. */
  readonly body: object
}

/** @param request a valid body of the operation. The promise does not reject. */
export type Forward = (op: SenderOp, request: SenderRequest, requestId: string) => Promise<Answer>

interface ForwardParts {
  readonly client: Client
  /** Undefined: nothing is allowed while the service is away. */
  readonly debts: Debts | undefined
  /** Undefined: each message is passed on to the service. */
  readonly leases: Leases | undefined
  /** Whether callers may book past any limit, if the token may. */
  readonly allowForce: boolean
  readonly outages: OutageLog
  /** Gets lines for the operator. */
  readonly log: (line: string) => void
}

export function createForward({ client, debts, leases, allowForce, outages, log }: ForwardParts): Forward {
  const turns = createTurns()
  let isTokenAccepted = true

  async function ask(op: SenderOp, request: SenderRequest): Promise<object> {
    // The request is checked against the schema of the operation, so these are the client's fields.
    const call = client[op] as (input: unknown) => Promise<object>
    const answer = toSnake(await call(toCamel(request))) as object
    isTokenAccepted = true
    return answer
  }

  async function perform(op: SenderOp, request: SenderRequest): Promise<object> {
    // Callers show no token, so the agent's right would be that of every program on this machine.
    if (!allowForce && request.force === true) throw forceRefused()
    const settled = () => leases?.answer(op, request) ?? debts?.answer(op, request)
    const unitsFor = () => (debts?.has(request) === true ? undefined : leases?.awaitUnits(op, request))
    return turns.take(userKey(messageNameOf(request)), unitsFor, async failure => {
      // Nothing may come between this look and what follows.
      const known = settled()
      if (known !== undefined) return known
      try {
        if (failure !== null) throw failure
        const paid = leases?.pay(op, request)
        if (paid !== undefined) return paid
        const answer = await ask(op, request)
        outages.note(null)
        return answer
      } catch (error) {
        outages.note(error)
        // An answer that asks to try later is no outage.
        const isOutage = error instanceof UnavailableError && error.isOutage
        const allowed = isOutage ? debts?.allow(op, request) : undefined
        if (allowed === undefined) throw error
        const answer = await allowed
        outages.noteDebt()
        return answer
      }
    })
  }

  /** Callers have no token, so only the operator can do something about it. One line, until the service accepts it again. */
  function noteRefusedToken(error: unknown): void {
    if (!(error instanceof QuotaError) || error.code !== 'unauthenticated' || !isTokenAccepted) return
    isTokenAccepted = false
    log(`the service does not accept the token: ${error.problem.detail}`)
  }

  return (op, request, requestId) =>
    perform(op, request).then(
      body => ({ status: 200, body }),
      error => {
        noteRefusedToken(error)
        return problemAnswer(error, requestId)
      },
    )
}

/** The problem that answers an error: the service's own, or one of the agent. */
export function problemAnswer(error: unknown, requestId: string): Answer {
  if (error instanceof QuotaError) return { status: error.status, body: toSnake(error.problem) as object }
  const problem = error instanceof UnavailableError ? noAnswer(error) : problemOf(error, MAX_OPERATION_BYTES)
  return { status: ERRORS[problem.code].status, body: problemBody(problem, requestId) }
}

function forceRefused(): Problem {
  const detail =
    'This agent books no units past a limit (force) for its callers: it was not started with --allow-force.'
  return new Problem('forbidden', detail)
}

function noAnswer({ message, mayHaveTakenEffect, cause }: UnavailableError): Problem {
  const reason = `The agent got no final answer from the service (${message}).`
  if (mayHaveTakenEffect) {
    return new Problem('unavailable', `${reason} The call may or may not have taken effect; repeat the call.`)
  }
  const code = (['overloaded', 'rate_limited'] as const).find(busy => hasCode(cause, busy)) ?? 'unavailable'
  return new Problem(code, `${reason} Nothing was done; repeat the call.`)
}

/** Keeps the order of the operations of each user while one of them waits for units of a lease. */
interface Turns {
  /**
   * Runs an operation when its turn has come and it is prepared: at once, if no earlier one of its user waits and it has
   * nothing to wait for. The next one's turn comes when this one has begun to run.
   *
   * @param user its key
   * @param prepare undefined if there is nothing to wait for
   * @param run gets what `prepare` has rejected with, in place of null
   */
  take<T>(user: string, prepare: () => Promise<unknown> | undefined, run: (failure: unknown) => Promise<T>): Promise<T>
}

function createTurns(): Turns {
  /** Of each user with an operation that waits: resolves when the last one has begun to run. */
  const last = new Map<string, Promise<void>>()
  return {
    take(user, prepare, run) {
      const before = last.get(user)
      const prepared = before === undefined ? prepare() : before.then(prepare)
      if (prepared === undefined) return run(null)
      const failure = prepared.then(
        () => null,
        (error: unknown) => error,
      )
      const result = failure.then(run)
      // Behind `run`, which is called first.
      const begun = failure.then(() => {
        if (last.get(user) === begun) last.delete(user)
      })
      last.set(user, begun)
      return result
    },
  }
}
