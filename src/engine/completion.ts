/**
 * Receives what became of a command: exactly one of the two is called, once, and must not throw. It is not a promise: a
 * promise and its reactions weigh more than a command, and tens of thousands of commands wait at a time.
 */
export interface Completion<R> {
  resolve(result: R): void
  reject(error: unknown): void
}
