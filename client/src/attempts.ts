/** The attempts of a call: which process each goes to, how long it may take, and what became of it. */
import { AnswerTooLong, ForeignAnswer } from './answers.ts'
import { UnavailableError } from './errors.ts'
import type { Outcome, Process, Processes } from './processes.ts'
import type { Attempt } from './retries.ts'
import type { UserKey } from './user.ts'

export interface AttemptOptions {
  readonly processes: Processes
  readonly fetch: typeof fetch
  readonly isFinal: (error: unknown) => boolean
  readonly now: () => number
}

/** What an attempt brought, before it is known whether another process may answer. */
type Answered<T> =
  | Exclude<Attempt<T>, { failure: unknown }>
  | {
      readonly failure: Extract<Attempt<T>, { failure: unknown }>['failure'] & {
        /** Whether its time was over. */
        readonly isLate?: boolean
        /** Whether no other attempt at the same process is worth it. */
        readonly isFinal?: boolean
      }
    }

type Read<T> = (response: Response) => Promise<Attempt<T>>

interface Call {
  /** Undefined if it names none. */
  readonly user: UserKey | undefined
  readonly deadline: number
  readonly signal: AbortSignal | undefined
  /** Whether the first attempt leaves half of the time to another process; false if left out. */
  readonly isShared?: boolean
}

/**
 * Makes the attempts of a call, at the processes in turn, beginning with the user's own.
 *
 * @throws UnavailableError if no further attempt is worth it, or the reason of the signal
 */
export function createAttempts<T>(
  options: AttemptOptions,
  { user, deadline, signal, isShared = false }: Call,
  read: Read<T>,
): (path: string, init: RequestInit) => Promise<Attempt<T>> {
  const { processes, now } = options
  let failed: Process | undefined
  return async (path: string, init: RequestInit): Promise<Attempt<T>> => {
    const process = processes.take(user, failed)
    const startedAt = now()
    // So that there is time for another process.
    const isPart = isShared && failed === undefined && processes.hasOther(process)
    const until = isPart ? startedAt + (deadline - startedAt) / 2 : deadline
    const result = await attempt(options, [process.base + path, init], { deadline: until, signal }, read)
    processes.note(process, outcomeOf(result), startedAt)
    if (!('failure' in result) || !result.failure.error.isOutage) return result
    failed = process
    const { isLate = false, isFinal = false } = result.failure
    const hasOther = processes.hasOther(process)
    if (isFinal && !hasOther) throw result.failure.error
    return { failure: { ...result.failure, other: hasOther ? (isLate ? 'soon' : 'now') : 'none' } }
  }
}

/** One exchange, until its response is read. */
async function attempt<T>(
  { fetch, isFinal, now }: AttemptOptions,
  [address, init]: readonly [string, RequestInit],
  { deadline, signal }: Pick<Call, 'deadline' | 'signal'>,
  read: Read<T>,
): Promise<Answered<T>> {
  const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(deadline - now())))
  try {
    const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
    // The service never redirects. Elsewhere, bodies with numbers and texts of messages would reach any host that a proxy names.
    return await read(await fetch(address, { ...init, redirect: 'manual', signal: either }))
  } catch (error) {
    if (error instanceof AnswerTooLong)
      throw new UnavailableError(error.message, { mayHaveTakenEffect: true, isOutage: false, cause: error })
    signal?.throwIfAborted()
    const reason = error instanceof ForeignAnswer ? error.message : 'the service cannot be reached'
    const message = timeout.aborted ? 'the service did not answer in time' : reason
    const unavailable = new UnavailableError(message, { mayHaveTakenEffect: true, cause: error })
    const { failure } = silence(unavailable)
    return { failure: { ...failure, isLate: timeout.aborted, isFinal: isFinal(error) } }
  }
}

function outcomeOf(result: Answered<unknown>): Outcome {
  if (!('failure' in result && result.failure.error.isOutage)) return 'answered'
  return result.failure.isLate === true ? 'late' : 'away'
}

export const silence = (error: UnavailableError) => ({ failure: { error, isSilent: true, retryAfterMs: 0 } })
