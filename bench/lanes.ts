/**
 * What the lanes themselves cost: commands per second and microseconds of CPU per command, with a `run` that only
 * answers in the next tick of the event loop. The figures include the `await` of the clients.
 *
 *     bin/node bench/lanes.ts
 */
import { createLanes, type Lanes } from '../src/engine/lanes.ts'

const ROUNDS = 5
const COMMANDS = 500_000
const LANES = 64

interface Case {
  name: string
  /** Clients that send, wait for the answer and send again. */
  clients: number
  laneOf(client: number): number
  commands: number
}

const CASES: readonly Case[] = [
  { name: 'uniform, 4,000 clients on 64 lanes', clients: 4000, laneOf: client => client % LANES, commands: COMMANDS },
  { name: 'hot, 4,000 clients on one lane', clients: 4000, laneOf: () => 0, commands: COMMANDS },
  { name: 'uniform, 64 clients on 64 lanes', clients: 64, laneOf: client => client, commands: COMMANDS },
  { name: 'hot, 64 clients on one lane', clients: 64, laneOf: () => 0, commands: COMMANDS },
  { name: 'lone client', clients: 1, laneOf: () => 0, commands: COMMANDS / 10 },
]

interface Result {
  perSecond: number
  cpuMicros: number
  batch: number
}

async function measure({ clients, laneOf, commands }: Case): Promise<Result> {
  let batches = 0
  const lanes = createLanes<object, object>({
    lanes: LANES,
    workers: 8,
    batchSize: 1000,
    queueCommands: 100_000,
    queueBytes: 100_000_000,
    run: (_lane, batch) => new Promise(resolve => setImmediate(resolve, batch)),
    splits: () => false,
    now: () => performance.now(),
    onLaneReport: () => {
      batches += 1
    },
  })
  const cpu = process.cpuUsage()
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      sendRepeatedly(lanes, laneOf(client), Math.ceil(commands / clients)),
    ),
  )
  await lanes.close()
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: commands / seconds, cpuMicros: (user + system) / commands, batch: commands / batches }
}

function ask<C, R>(lanes: Lanes<C, R>, lane: number, command: C): Promise<R> {
  return new Promise((resolve, reject) => lanes.submit(lane, command, 100, { resolve, reject }))
}

async function sendRepeatedly(lanes: Lanes<object, object>, lane: number, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await ask(lanes, lane, {})
}

/**
 * The median delay from `submit` to the start of a lone command's batch, and of one tick of an idle event loop, in µs.
 */
async function startDelay(): Promise<{ lanes: number; tick: number }> {
  const delays: number[] = []
  const ticks: number[] = []
  const lanes = createLanes<number, undefined>({
    lanes: LANES,
    workers: 8,
    batchSize: 1000,
    queueCommands: 1000,
    queueBytes: 1000,
    async run(_lane, [submitted = 0]) {
      delays.push(performance.now() - submitted)
      return [undefined]
    },
    splits: () => false,
    now: () => performance.now(),
  })
  for (let n = 0; n < 20_000; n++) {
    await ask(lanes, 0, performance.now())
    const before = performance.now()
    await new Promise(setImmediate)
    ticks.push(performance.now() - before)
  }
  return { lanes: 1000 * median(delays), tick: 1000 * median(ticks) }
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
  `a lone command starts after ${delay.lanes.toFixed(1)} µs; a tick of the loop takes ${delay.tick.toFixed(1)} µs`,
)
