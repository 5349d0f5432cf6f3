import { createLanes, type Lanes, type LanesOptions } from '../../src/engine/lanes.ts'

/** A batch that the test ends, when and how it likes. */
interface Run {
  readonly lane: number
  readonly commands: readonly string[]
  reportBlocked(): void
  answer(results?: readonly string[]): void
  fail(error: Error): void
}

/** An error that makes the lanes halve the batch. */
export class Poison extends Error {}

/** Lanes whose batches end only when the test ends them. */
export function openLanes(options: Partial<LanesOptions<string, string>> = {}) {
  const runs: Run[] = []
  const lanes = createLanes<string, string>({
    lanes: 8,
    workers: 8,
    batchSize: 1000,
    queueCommands: 10_000,
    queueBytes: 1_000_000,
    run: (lane, commands, { reportBlocked }) =>
      new Promise((resolve, reject) => {
        const answer = (results = commands.map(command => `${command}!`)) => resolve(results)
        runs.push({ lane, commands, reportBlocked, answer, fail: reject })
      }),
    splits: error => error instanceof Poison,
    now: () => 0,
    ...options,
  })

  /** Sends commands and collects their results and errors, in the order in which they complete. */
  function send(lane: number, commands: Iterable<string>, bytes = 1): string[] {
    const answers: string[] = []
    for (const command of commands) {
      ask(lanes, lane, command, bytes).then(
        result => answers.push(result),
        error =>
          answers.push(`${command}: ${error instanceof Error ? error.message || error.constructor.name : error}`),
      )
    }
    return answers
  }

  /** The batches started since the last call, as `lane:commands`. */
  let seen = 0
  function started(): string[] {
    const fresh = runs.slice(seen).map(({ lane, commands }) => `${lane}:${commands.join('')}`)
    seen = runs.length
    return fresh
  }

  async function end(index: number, how: (run: Run) => void = run => run.answer()): Promise<void> {
    const run = runs.at(index)
    if (run === undefined) throw new Error(`there was no batch ${index}`)
    how(run)
    // In the first tick the batch ends, in the second one the next batches start.
    await tick()
    await tick()
  }

  return { lanes, runs, send, started, end }
}

/** Submits one command; the promise settles as it completes. */
export function ask<C, R>(lanes: Lanes<C, R>, lane: number, command: C, bytes = 1): Promise<R> {
  return new Promise((resolve, reject) => lanes.submit(lane, command, bytes, { resolve, reject }))
}

/** One tick of the event loop, and the promise reactions that follow from it. */
export const tick = () => new Promise(resolve => setImmediate(resolve))
