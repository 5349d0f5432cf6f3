/** The end of a command in the engine: its outcome, or a failure. */
import type { EpochMs } from '../domain/time/time.ts'

/**
 * Receives what became of a command: exactly one of the two is called, once, and must not throw. It is not a promise: a
 * promise and its reactions weigh more than a command, and tens of thousands of commands wait at a time.
 */
export interface Completion<R> {
  resolve(result: R): void
  reject(error: unknown): void
}

/** The reason why the engine did not decide a command. The same command may be submitted again, with the same id. */
export abstract class EngineFailure extends Error {}

/** The queue is full, or the principal has its share of it. The command was not accepted. */
export class Overloaded extends EngineFailure {
  override readonly name = 'Overloaded'
}

/** The engine is closing and accepts no more commands. */
export class Closed extends EngineFailure {
  override readonly name = 'Closed'
}

/**
 * The store could not decide the command in time: the database is away, or a lock is held. The command may have taken
 * effect; submitting it again shows whether it did. `cause` is the database's error, if there was one.
 */
export class Unavailable extends EngineFailure {
  override readonly name = 'Unavailable'

  constructor(cause?: unknown) {
    super('the store cannot decide this command now', { cause })
  }
}

/** The time of a clock. @throws Unavailable while it is not trusted: no request is served, and no job runs */
export function trustedTime(clock: { now(): EpochMs | null }): EpochMs {
  const now = clock.now()
  if (now === null) throw new Unavailable(new Error('the clock and the database have jumped apart'))
  return now
}
