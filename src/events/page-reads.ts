/** Runs reads a few at a time, in the order of arrival, and lets equal ones share one. */
export interface PageReads<Page> {
  /** With a key, joins a read of that key that has not ended. */
  run(key: string | null, read: () => Promise<Page>): Promise<Page>
}

/** @param concurrency how many reads run at a time */
export function createPageReads<Page>(concurrency: number): PageReads<Page> {
  const shared = new Map<string, Promise<Page>>()
  const queue: (() => void)[] = []
  let running = 0

  async function runInTurn(read: () => Promise<Page>): Promise<Page> {
    if (running < concurrency) running += 1
    // The read that ends passes its place on.
    else await new Promise<void>(resolve => queue.push(resolve))
    try {
      return await read()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  return {
    run(key, read) {
      if (key === null) return runInTurn(read)
      const joined = shared.get(key) ?? runInTurn(read).finally(() => shared.delete(key))
      shared.set(key, joined)
      return joined
    },
  }
}
