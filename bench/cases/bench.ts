/** The input and the result of a benchmark case. */
import type { Sample } from '../measure.ts'
import type { Postgres } from '../servers/postgres.ts'
import type { Cleanup } from '../servers/processes.ts'

export interface Settings {
  rounds: number
  warmupMs: number
  measureMs: number
  /** Shorter times for light loads, whose figures vary less. */
  lightLoad: { warmupMs: number; measureMs: number }
  engineWarmupMs: number
  engineMs: number
  /** Past reservations in the database of the cases `growth` and `usage`. */
  pastReservations: number
  /** Quotas in the database of the case `lists`. */
  listedQuotas: number
  soakMinutes: number
  /** Users of the case `plans`. */
  planUsers: number
  isQuick: boolean
}

export interface Bench {
  settings: Settings
  postgres: Postgres
  /** The coordinator of a Citus cluster; null: none was named. */
  clusterUrl: string | null
  cleanup: Cleanup
  /** When the run began; the loaded data is as of this time. */
  now: number
  /** Prints progress to stderr. */
  say(text: string): void
  /** Node's flags for a process of this name: a CPU profile, with --profile. */
  flagsFor(name: string): string[]
}

/** A row of the table of goals: a figure of the service, the peer's, and their ratio. */
export interface Row {
  what: string
  peer: string
  ours: string
  theirs: string
  /** Null if not measured. */
  ratio: number | null
  goal: string
  isMet: boolean | null
}

export interface Detail {
  load: string
  side: string
  sample: Sample
}

export interface Findings {
  rows: Row[]
  details: Detail[]
  /** Additional lines of the report, in Markdown. */
  notes: string[]
}

interface Throughputs {
  ours: Pick<Sample, 'perSecond'> | undefined
  theirs: Pick<Sample, 'perSecond'> | undefined
  min: number
}

/** A row that compares throughputs: more is better. */
export function ratioRow(what: string, peer: string, { ours, theirs, min }: Throughputs): Row {
  const rate = (sample: Throughputs['ours']) =>
    sample === undefined ? 'not run' : `${Math.round(sample.perSecond).toLocaleString('en')}/s`
  const ratio = ours === undefined || theirs === undefined ? null : ours.perSecond / theirs.perSecond
  return {
    what,
    peer,
    ours: rate(ours),
    theirs: rate(theirs),
    ratio,
    goal: `≥ ${min}×`,
    isMet: ratio === null ? null : ratio >= min,
  }
}

/** A row that compares latencies: less is better. */
export function latencyRow(
  what: string,
  peer: string,
  { ours, theirs, max }: { ours: number | undefined; theirs: number | undefined; max: number },
): Row {
  const time = (value: number | undefined) => (value === undefined ? 'not run' : `${value.toFixed(2)} ms`)
  const ratio = ours === undefined || theirs === undefined ? null : ours / theirs
  return {
    what,
    peer,
    ours: time(ours),
    theirs: time(theirs),
    ratio,
    goal: `≤ ${max}×`,
    isMet: ratio === null ? null : ratio <= max,
  }
}

/** A row that compares seconds of CPU per thousand operations: less is better. */
export function cpuRow(
  what: string,
  peer: string,
  { ours, theirs, max }: { ours: number | null | undefined; theirs: number | null | undefined; max: number },
): Row {
  const cost = (value: number | null | undefined) => {
    if (value === undefined) return 'not run'
    return value === null ? 'unknown' : `${(value * 1000).toFixed(1)} µs of CPU`
  }
  const ratio = typeof ours !== 'number' || typeof theirs !== 'number' ? null : ours / theirs
  return {
    what,
    peer,
    ours: cost(ours),
    theirs: cost(theirs),
    ratio,
    goal: `≤ ${max}×`,
    isMet: ratio === null ? null : ratio <= max,
  }
}

export function detailsOf(load: string, samples: ReadonlyMap<string, Sample>): Detail[] {
  return [...samples].map(([side, sample]) => ({ load, side, sample }))
}
