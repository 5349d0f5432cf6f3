/** Measures operations per second, latencies, and the cost in CPU time and write-ahead log. */
import { type Counts, MEASURED, MEASURING } from './load-generator/job.ts'
import type { Postgres } from './servers/postgres.ts'
import { cpuSeconds, type Running, type Worker } from './servers/processes.ts'

export interface Sample {
  /** Operations with the expected outcome. */
  perSecond: number
  /** The others, as a share of all: 0 unless `Watched` allows refusals. */
  refusedShare: number
  p50: number
  p99: number
  /** Seconds of CPU per thousand operations, by process; null where the system does not report it. */
  cpu: Readonly<Record<string, number | null>>
  walBytesPerOperation: number
}

export interface Watched {
  postgres: Postgres
  /** Processes whose CPU time is reported, in addition to PostgreSQL's. */
  processes: Readonly<Record<string, Running>>
  /** Called when the measurement begins and ends, with MEASURING and MEASURED. */
  onNote?(note: string): Promise<void>
  /** Reports refused operations in the sample. By default they fail the measurement. */
  allowsRefusals?: boolean
}

/** Runs a job in a worker, and reads CPU and log positions when its measurement begins and ends. */
export async function measure(
  worker: Worker,
  job: object,
  { postgres, processes, onNote, allowsRefusals = false }: Watched,
): Promise<Sample> {
  const names = Object.keys(processes)
  const readCounters = async () => ({
    wal: await postgres.walBytes(),
    cpu: await Promise.all([...Object.values(processes).map(({ pid }) => cpuSeconds(pid)), postgres.cpu()]),
  })
  let before = await readCounters()
  let after = before
  const counts = await worker.ask<Counts>(job, async note => {
    if (note === MEASURING) before = await readCounters()
    if (note === MEASURED) after = await readCounters()
    await onNote?.(note)
  })
  if (counts.refused > 0 && !allowsRefusals)
    throw new Error(`${counts.refused} operations had another outcome than expected; the first: ${counts.firstRefusal}`)
  const operations = counts.operations - counts.refused
  if (operations === 0) throw new Error('no call was carried out during the measurement')
  const perThousand = (index: number) => {
    const [from, to] = [before.cpu[index] ?? null, after.cpu[index] ?? null]
    return from === null || to === null ? null : ((to - from) / operations) * 1000
  }
  return {
    perSecond: operations / counts.seconds,
    refusedShare: counts.refused / counts.operations,
    p50: counts.p50,
    p99: counts.p99,
    cpu: Object.fromEntries([...names, 'postgres'].map((name, index) => [name, perThousand(index)])),
    walBytesPerOperation: (after.wal - before.wal) / operations,
  }
}

/** One side of a comparison. */
export interface Candidate {
  name: string
  run(round: number): Promise<Sample>
}

/** Runs all candidates once per round, in reversed order every other round. Returns each candidate's medians. */
export async function measureRounds(
  candidates: readonly Candidate[],
  rounds: number,
  say: (text: string) => void,
): Promise<Map<string, Sample>> {
  const samples = new Map<string, Sample[]>(candidates.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? candidates : candidates.toReversed()) {
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
    refusedShare: of(sample => sample.refusedShare),
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
