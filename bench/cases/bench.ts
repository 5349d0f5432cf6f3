/** What a case works with, and what it finds. */
import type { Sample } from '../measure.ts'
import type { Postgres } from '../servers/postgres.ts'
import type { Cleanup } from '../servers/processes.ts'

export interface Settings {
  rounds: number
  warmupMs: number
  measureMs: number
  /** The same where the load is light, and less time tells as much. */
  calm: { warmupMs: number; measureMs: number }
  engineWarmupMs: number
  engineMs: number
  /** Past reservations that growth is shown at. */
  pastReservations: number
  soakMinutes: number
  isQuick: boolean
}

export interface Bench {
  settings: Settings
  postgres: Postgres
  cleanup: Cleanup
  /** When the benchmark began; what is loaded is as of this moment. */
  now: number
  say(what: string): void
  /** Node's flags for a process of this name: a CPU profile, if one was asked for. */
  flagsFor(name: string): string[]
}

/** A row of the table of goals. */
export interface Row {
  what: string
  peer: string
  ours: string
  theirs: string
  /** Null if it was not measured. */
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
  /** Further lines, in Markdown. */
  notes: string[]
}

interface Throughputs {
  ours: Sample | undefined
  theirs: Sample | undefined
  least: number
}

/** How many times the peer's throughput. */
export function ratioRow(what: string, peer: string, { ours, theirs, least }: Throughputs): Row {
  const rate = (sample: Sample | undefined) =>
    sample === undefined ? 'not run' : `${Math.round(sample.perSecond).toLocaleString('en')}/s`
  const ratio = ours === undefined || theirs === undefined ? null : ours.perSecond / theirs.perSecond
  return {
    what,
    peer,
    ours: rate(ours),
    theirs: rate(theirs),
    ratio,
    goal: `≥ ${least}×`,
    isMet: ratio === null ? null : ratio >= least,
  }
}

/** How the peer's latency compares: less is better. */
export function latencyRow(
  what: string,
  peer: string,
  { ours, theirs, most }: { ours: number | undefined; theirs: number | undefined; most: number },
): Row {
  const time = (value: number | undefined) => (value === undefined ? 'not run' : `${value.toFixed(2)} ms`)
  const ratio = ours === undefined || theirs === undefined ? null : ours / theirs
  return {
    what,
    peer,
    ours: time(ours),
    theirs: time(theirs),
    ratio,
    goal: `≤ ${most}×`,
    isMet: ratio === null ? null : ratio <= most,
  }
}
