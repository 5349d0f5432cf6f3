/** Renders the findings as Markdown, for the terminal and for docs/benchmarks.md. */
import { cpus, loadavg, totalmem } from 'node:os'
import type { Bench, Detail, Findings, Row } from './cases/bench.ts'

export interface Facts {
  date: string
  machine: string
  versions: string
  load: string
  seconds: number
  rounds: number
}

export async function factsOf({ postgres, settings }: Bench, seconds: number): Promise<Facts> {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`,
    versions: `Node.js ${process.versions.node}, PostgreSQL ${postgres.version}`,
    load: loadavg()
      .map(load => load.toFixed(1))
      .join(', '),
    seconds,
    rounds: settings.rounds,
  }
}

export function render(findings: readonly Findings[], facts: Facts): string {
  const rows = findings.flatMap(found => found.rows)
  const details = findings.flatMap(found => found.details)
  const notes = findings.flatMap(found => found.notes)
  return `# Benchmarks

Written by \`npm run bench\` on ${facts.date}: ${facts.machine}, ${facts.versions}; load average at the end ${facts.load}. All
processes, including the load generator, share the machine: compare only the ratios of two sides in the same run.
Medians of ${facts.rounds} rounds, with the sides alternating. Duration: ${Math.round(facts.seconds)} s.
The PostgreSQL is that of the npm package, unless \`DATABASE_URL\` names another: [how it is built](decisions/packages.md#nodejs-and-postgresql-from-npm).
${rows.length === 0 ? '' : `\n## Goals\n\n${table(['case', 'peer in the same run', 'sms-quota', 'peer', 'ratio', 'goal', 'met'], rows.map(cellsOf))}`}
${details.length === 0 ? '' : `## Figures\n\np50 and p99 in milliseconds per call; CPU in seconds per thousand operations; WAL in bytes per operation.\n\n${table(['load', 'side', 'operations/s', 'p50', 'p99', 'CPU total', 'CPU server', 'CPU PostgreSQL', 'CPU Redis', 'CPU load generator', 'WAL'], details.map(figuresOf))}`}
${notes.join('\n')}
`
}

function cellsOf({ what, peer, ours, theirs, ratio, goal, isMet }: Row): string[] {
  return [what, peer, ours, theirs, ratio === null ? 'not run' : `${ratio.toFixed(2)}×`, goal, metText(isMet)]
}

function metText(isMet: boolean | null): string {
  if (isMet === null) return '–'
  return isMet ? 'yes' : '**no**'
}

function figuresOf({ load, side, sample }: Detail): string[] {
  const { perSecond, p50, p99, cpu, walBytesPerOperation } = sample
  const seconds = (name: string) => cpu[name]?.toFixed(3) ?? '–'
  // `service`, or `service0` and `service1` where there are two; the engine alone is named after its side.
  const servers = Object.entries(cpu).filter(([name]) => name.startsWith('service') || name === side)
  return [
    load,
    side,
    Math.round(perSecond).toLocaleString('en'),
    p50.toFixed(2),
    p99.toFixed(2),
    total(Object.values(cpu)),
    total(servers.map(([, value]) => value)),
    seconds('postgres'),
    seconds('redis'),
    seconds('loadGenerator'),
    Math.round(walBytesPerOperation).toLocaleString('en'),
  ]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return `${[line(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n')}\n`
}

function total(parts: readonly (number | null)[]): string {
  const known = parts.filter(part => part !== null)
  return known.length === 0 ? '–' : known.reduce((sum, part) => sum + part, 0).toFixed(3)
}
