/** Keeps the order of the operations of each user while one of them waits for units of a lease. */

export interface Turns {
  /**
   * Runs an operation when its turn has come and it is prepared: at once, if no earlier one of its user waits and it has
   * nothing to wait for. The next one's turn comes when this one has begun to run.
   *
   * @param prepare undefined if there is nothing to wait for
   * @param run gets what `prepare` has rejected with, in place of null
   */
  take<T>(
    userId: number,
    prepare: () => Promise<unknown> | undefined,
    run: (failure: unknown) => Promise<T>,
  ): Promise<T>
}

export function createTurns(): Turns {
  /** Of each user with an operation that waits: resolves when the last one has begun to run. */
  const last = new Map<number, Promise<void>>()
  return {
    take(userId, prepare, run) {
      const before = last.get(userId)
      const prepared = before === undefined ? prepare() : before.then(prepare)
      if (prepared === undefined) return run(null)
      const failure = prepared.then(
        () => null,
        (error: unknown) => error,
      )
      const result = failure.then(run)
      // Behind `run`, which is called first.
      const begun = failure.then(() => {
        if (last.get(userId) === begun) last.delete(userId)
      })
      last.set(userId, begun)
      return result
    },
  }
}
