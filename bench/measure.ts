/** A measurement: how many operations, how long each took, and what it cost each process. */
import { type Counted, MEASURED, MEASURING } from './load-generator/job.ts'
import type { Postgres } from './servers/postgres.ts'
import { cpuSeconds, type Running, type Worker } from './servers/processes.ts'

export interface Sample {
  perSecond: number
  p50: number
  p99: number
  /** Seconds of CPU per thousand operations, by process; null where the system does not say. */
  cpu: Readonly<Record<string, number | null>>
  walBytesPerOperation: number
}

export interface Watched {
  postgres: Postgres
  /** Processes whose CPU is told, beside PostgreSQL's. */
  processes: Readonly<Record<string, Running>>
}

/** Has a worker do a job that counts, and watches from the moment when it begins to count to its end. */
export async function measure(worker: Worker, job: object, { postgres, processes }: Watched): Promise<Sample> {
  const names = Object.keys(processes)
  const look = async () => ({
    wal: await postgres.walBytes(),
    cpu: await Promise.all([...Object.values(processes).map(({ pid }) => cpuSeconds(pid)), postgres.cpu()]),
  })
  let before = await look()
  let after = before
  const counted = await worker.ask<Counted>(job, async note => {
    if (note === MEASURING) before = await look()
    if (note === MEASURED) after = await look()
  })
  if (counted.refused > 0) throw new Error(`${counted.refused} were refused, such as: ${counted.firstRefusal}`)
  if (counted.operations === 0) throw new Error('nothing was answered in the time that was measured')
  const perThousand = (index: number) => {
    const [from, to] = [before.cpu[index] ?? null, after.cpu[index] ?? null]
    return from === null || to === null ? null : ((to - from) / counted.operations) * 1000
  }
  return {
    perSecond: counted.operations / counted.seconds,
    p50: counted.p50,
    p99: counted.p99,
    cpu: Object.fromEntries([...names, 'postgres'].map((name, index) => [name, perThousand(index)])),
    walBytesPerOperation: (after.wal - before.wal) / counted.operations,
  }
}

export interface Contestant {
  name: string
  run(round: number): Promise<Sample>
}

/** Lets them run in turn, the order reversed in every other round; answers the medians of each. */
export async function race(
  contestants: readonly Contestant[],
  rounds: number,
  say: (what: string) => void,
): Promise<Map<string, Sample>> {
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const sample = await run(round)
      say(`  ${name}: ${Math.round(sample.perSecond).toLocaleString('en')}/s`)
      samples.get(name)?.push(sample)
    }
  }
  return new Map([...samples].map(([name, all]) => [name, medianSample(all)]))
}

function medianSample(samples: readonly Sample[]): Sample {
  const of = (value: (sample: Sample) => number) => median(samples.map(value))
  const names = Object.keys(samples[0]?.cpu ?? {})
  const cpu = names.map(name => {
    const known = samples.map(sample => sample.cpu[name] ?? null).filter(value => value !== null)
    return [name, known.length === 0 ? null : median(known)] as const
  })
  return {
    perSecond: of(sample => sample.perSecond),
    p50: of(sample => sample.p50),
    p99: of(sample => sample.p99),
    cpu: Object.fromEntries(cpu),
    walBytesPerOperation: of(sample => sample.walBytesPerOperation),
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
