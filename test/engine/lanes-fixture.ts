import { createLanes, type Lanes, type LanesOptions } from '../../src/engine/lanes.ts'

/** A batch in the hands of the test, which says when and how it ends. */
interface Run {
  readonly lane: number
  readonly commands: readonly string[]
  slow(): void
  answer(results?: readonly string[]): void
  fail(error: Error): void
}

/** Makes a batch be halved. */
export class Poison extends Error {}

/** Lanes that carry out nothing by themselves. */
export function openLanes(options: Partial<LanesOptions<string, string>> = {}) {
  const runs: Run[] = []
  const lanes = createLanes<string, string>({
    lanes: 8,
    workers: 8,
    batchSize: 1000,
    queueCommands: 10_000,
    queueBytes: 1_000_000,
    run: (lane, commands, { slow }) =>
      new Promise((resolve, reject) => {
        const answer = (results = commands.map(command => `${command}!`)) => resolve(results)
        runs.push({ lane, commands, slow, answer, fail: reject })
      }),
    splits: error => error instanceof Poison,
    now: () => 0,
    ...options,
  })

  /** Sends commands and collects what their callers are told, in the order in which they are told. */
  function send(lane: number, commands: Iterable<string>, bytes = 1): string[] {
    const told: string[] = []
    for (const command of commands) {
      ask(lanes, lane, command, bytes).then(
        result => told.push(result),
        error => told.push(`${command}: ${error instanceof Error ? error.message || error.constructor.name : error}`),
      )
    }
    return told
  }

  /** The batches since the last look, as `lane:commands`. */
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
    // The first sees the batch end, the second what starts thereupon.
    await turn()
    await turn()
  }

  return { lanes, runs, send, started, end }
}

/** What one caller is told. */
export function ask<C, R>(lanes: Lanes<C, R>, lane: number, command: C, bytes = 1): Promise<R> {
  return new Promise((resolve, reject) => lanes.submit(lane, command, bytes, { resolve, reject }))
}

/** One turn of the event loop, and all that follows from it in promises. */
export const turn = () => new Promise(resolve => setImmediate(resolve))
