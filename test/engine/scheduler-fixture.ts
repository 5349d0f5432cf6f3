import {
  createScheduler,
  type RunningBatch,
  type Scheduler,
  type SchedulerOptions,
} from '../../src/engine/scheduler.ts'

/** A command of a test: `a1` is one of user `a`; `P:a1` is asked for by the principal `P`. */
export interface TestCommand {
  readonly name: string
  readonly user_id: number
  readonly origin?: { readonly principal: string }
}

/** The id of a user that tests name by a letter. */
export const idOf = (user: string) => user.charCodeAt(0)

export function commandOf(name: string): TestCommand {
  const [command = '', principal] = name.split(':').reverse()
  return { name, user_id: idOf(command), ...(principal === undefined ? {} : { origin: { principal } }) }
}

const namesOf = (commands: readonly TestCommand[]) => commands.map(({ name }) => name).join(' ')

/** A batch that the test ends, when and how it likes. */
interface Run {
  /** Its commands when it started, such as `a1 b1`; `isolated: a1` if it runs isolated. */
  readonly started: string
  readonly batch: RunningBatch<TestCommand>
  /** Leaves the commands of users, such as `ab`, to another batch, and returns the names of those that stay. */
  isolate(users: string): string
  answer(results?: readonly (string | Error)[]): void
  fail(error: unknown): void
}

/** A scheduler whose batches end only when the test ends them, and never stall unless the test says when. */
export function openScheduler(options: Partial<SchedulerOptions<TestCommand, string>> = {}) {
  const runs: Run[] = []
  const scheduler = createScheduler<TestCommand, string>({
    workers: 8,
    stallMs: 2 ** 31 - 1,
    batchSize: 1_000,
    batchShare: 1_000,
    queueCommands: 10_000,
    queueBytes: 1_000_000,
    difficultyOf: () => undefined,
    run: batch =>
      new Promise((resolve, reject) => {
        runs.push({
          started: `${batch.isIsolated ? 'isolated: ' : ''}${namesOf(batch.commands)}`,
          batch,
          isolate(users) {
            batch.isolate(new Set([...users].map(idOf)))
            return namesOf(batch.commands)
          },
          answer: (results = batch.commands.map(({ name }) => `${name}!`)) => resolve(results),
          fail: reject,
        })
      }),
    now: () => 0,
    ...options,
  })

  /** Sends commands, such as `a1 b1`, and collects their results and errors, in the order in which they complete. */
  function send(names: string, bytes = 1): string[] {
    const answers: string[] = []
    for (const name of names.split(' ')) {
      ask(scheduler, commandOf(name), bytes).then(
        result => answers.push(result),
        error => answers.push(`${name}: ${error instanceof Error ? error.message : error}`),
      )
    }
    return answers
  }

  /** The batches started since the last call. */
  let seen = 0
  function started(): string[] {
    const fresh = runs.slice(seen).map(run => run.started)
    seen = runs.length
    return fresh
  }

  function runAt(index: number): Run {
    const run = runs.at(index)
    if (run === undefined) throw new Error(`there was no batch ${index}`)
    return run
  }

  /** Ends a batch, and waits until the next ones have started. */
  async function end(index: number, how: (run: Run) => void = run => run.answer()): Promise<void> {
    how(runAt(index))
    await ticks(4)
  }

  return { scheduler, runAt, send, started, end }
}

/** Submits one command; the promise settles as it completes. */
export function ask<C, R>(scheduler: Scheduler<C, R>, command: C, bytes = 1): Promise<R> {
  return new Promise((resolve, reject) => scheduler.submit(command, bytes, { resolve, reject }))
}

/** One tick of the event loop, and the promise reactions that follow from it. One batch starts in it at most. */
export const tick = () => new Promise(resolve => setImmediate(resolve))

export async function ticks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await tick()
}
