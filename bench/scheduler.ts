/**
 * What the queue and the batches themselves cost: commands per second and microseconds of CPU per command, with a `run`
 * that only answers in the next tick of the event loop. The figures include the `await` of the clients.
 *
 *     bin/node bench/scheduler.ts
 */
import { createScheduler, type Scheduler } from '../src/engine/scheduler.ts'

const ROUNDS = 5
const COMMANDS = 500_000
/** As in the service. */
const LIMITS = { workers: 8, concurrency: 2, stallMs: 3, stallMsPerCommand: 0.05 }

interface Case {
  name: string
  /** Clients that send, wait for the answer and send again. */
  clients: number
  userOf(client: number): number
  commands: number
}

const CASES: readonly Case[] = [
  { name: '4,000 clients, a user each', clients: 4000, userOf: client => client, commands: COMMANDS },
  { name: '4,000 clients, one user', clients: 4000, userOf: () => 0, commands: COMMANDS },
  { name: '64 clients, a user each', clients: 64, userOf: client => client, commands: COMMANDS },
  { name: '64 clients, one user', clients: 64, userOf: () => 0, commands: COMMANDS },
  { name: 'lone client', clients: 1, userOf: () => 0, commands: COMMANDS / 10 },
]

interface Result {
  perSecond: number
  cpuMicros: number
  batch: number
}

interface Command {
  readonly user_id: number
}

async function measure({ clients, userOf, commands }: Case): Promise<Result> {
  let batches = 0
  const scheduler = createScheduler<Command, number>({
    ...LIMITS,
    batchSize: 1000,
    batchShare: 64,
    queueCommands: 100_000,
    queueBytes: 100_000_000,
    run: batch => new Promise(resolve => setImmediate(() => resolve(batch.commands.map(() => 0)))),
    difficultyOf: () => undefined,
    now: () => performance.now(),
    onQueueReport: () => {
      batches += 1
    },
  })
  const cpu = process.cpuUsage()
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      sendRepeatedly(scheduler, { user_id: userOf(client) }, Math.ceil(commands / clients)),
    ),
  )
  await scheduler.close()
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: commands / seconds, cpuMicros: (user + system) / commands, batch: commands / batches }
}

function ask<C, R>(scheduler: Scheduler<C, R>, command: C): Promise<R> {
  return new Promise((resolve, reject) => scheduler.submit(command, 100, { resolve, reject }))
}

async function sendRepeatedly(scheduler: Scheduler<Command, number>, command: Command, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await ask(scheduler, command)
}

/**
 * The median delay from `submit` to the start of a lone command's batch, and of one tick of an idle event loop, in µs.
 */
async function startDelay(): Promise<{ start: number; tick: number }> {
  const delays: number[] = []
  const ticks: number[] = []
  const scheduler = createScheduler<Command & { submitted: number }, number>({
    ...LIMITS,
    batchSize: 1000,
    batchShare: 64,
    queueCommands: 1000,
    queueBytes: 1000,
    async run({ commands: [command] }) {
      delays.push(performance.now() - (command?.submitted ?? 0))
      return [0]
    },
    difficultyOf: () => undefined,
    now: () => performance.now(),
  })
  for (let n = 0; n < 20_000; n++) {
    await ask(scheduler, { user_id: 1, submitted: performance.now() })
    const before = performance.now()
    await new Promise(setImmediate)
    ticks.push(performance.now() - before)
  }
  return { start: 1000 * median(delays), tick: 1000 * median(ticks) }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

for (const one of CASES) {
  const results: Result[] = []
  await measure(one)
  for (let round = 0; round < ROUNDS; round++) results.push(await measure(one))
  const perSecond = Math.round(median(results.map(result => result.perSecond)))
  const cpuMicros = median(results.map(result => result.cpuMicros))
  const batch = median(results.map(result => result.batch))
  console.log(
    `${one.name.padEnd(36)} ${perSecond.toLocaleString('en').padStart(10)} commands/s ` +
      `${cpuMicros.toFixed(2).padStart(6)} µs CPU per command, ${batch.toFixed(0).padStart(4)} in a batch`,
  )
}
const delay = await startDelay()
console.log(
  `a lone command starts after ${delay.start.toFixed(1)} µs; a tick of the loop takes ${delay.tick.toFixed(1)} µs`,
)
