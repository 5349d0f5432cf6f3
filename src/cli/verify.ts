import { openDatabase } from '../db/connection/database.ts'
import { PROOFS, type ProofName } from '../db/verify/proof.ts'
import { type Proved, type Verification, verify as verifyLedger } from '../db/verify/verify.ts'
import type { Arguments } from './arguments.ts'
import { readConfig } from './environment.ts'
import { table } from './help.ts'
import { CLEAR_LINE, onDatabase, reportFailure } from './on-database.ts'
import type { Terminal } from './terminal.ts'
import { readUser } from './token.ts'

/** The number of differences listed: with more, something is wrong that no list explains. */
const MAX_DIFFERENCES = 20

/** Runs every proof. Resolves to 0 if there is no difference, 1 if there is one or the check failed. */
export async function verify(args: Arguments, terminal: Terminal): Promise<number> {
  const userId = readUser(args.one('user'))
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('verify', config, () => onDatabase(config, url => verifyOn(url, userId)))
}

/** Prints the report on stdout. Resolves to 0 if there is no difference, 1 if there is one. */
export async function verifyOn(url: string, userId: number | null): Promise<number> {
  const seen = await runProofs(url, userId)
  process.stdout.write(reportOf(seen, userId))
  return seen.differences.length === 0 ? 0 : 1
}

async function runProofs(url: string, userId: number | null): Promise<Verification> {
  const db = openDatabase({ url, maxConnections: 1, statementTimeout: 0 })
  try {
    return await verifyLedger(db, {
      ...(userId === null ? {} : { userId }),
      maxDifferences: MAX_DIFFERENCES,
      ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
    })
  } finally {
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE)
    await db.close()
  }
}

function showProgress({ proofs }: Verification, part: number): void {
  const percent = Math.floor(part * 100)
  const [windows, reservations] = [proofs.get('counters'), proofs.get('draws')].map(proved => proved?.checked ?? 0)
  process.stderr.write(`${CLEAR_LINE}${percent} %: ${windows} windows, ${reservations} reservations`)
}

/** What a proof compares, what holds if it finds no difference, and why some rows are not provable. */
interface ProofReport {
  unit: string
  holds: string
  notProvable?: string
}

const REPORTS: Readonly<Record<ProofName, ProofReport>> = {
  readable: {
    unit: 'columns of shards',
    holds: 'the service can read their times, numbers and time zones',
    notProvable: 'the tables of shards that cannot be read within a second',
  },
  counters: { unit: 'windows', holds: 'used and reserved equal the reservations and the archive' },
  limits: {
    unit: 'limited windows',
    holds: 'none is past its limit but by force, overage or a lowered limit',
    notProvable: 'because changes are removed, or an earlier version did not record how much was forced',
  },
  draws: { unit: 'reservations', holds: 'their draws cover their units' },
  rollover: {
    unit: 'closed windows',
    holds: 'what they carried is what the next window began with',
    notProvable:
      'because earlier windows or changes are removed, or an earlier version did not record how much was forced',
  },
  usage: {
    unit: 'quotas',
    holds: 'usage reports what their windows used',
    notProvable: 'because they or their earlier windows are removed, or too much usage is not rolled up yet',
  },
  transfers: {
    unit: 'transfers',
    holds: 'giver and receiver have what moved and what came back',
    notProvable: 'because the reservation of the giver or the creation of the quota is removed',
  },
  live: {
    unit: 'accounts',
    holds: 'their numbers of unexpired quotas are right',
    notProvable: 'because an earlier version did not record when it counted',
  },
  plans: { unit: 'quotas of plans', holds: 'they are what the plans say, but for changes by hand' },
  values: {
    unit: 'counters of recipients, countries and tags',
    holds: 'of the open windows, they equal the reservations',
  },
  profiles: { unit: 'references', holds: 'they name the users whose profiles have them' },
  sequences: { unit: 'events of users', holds: 'their sequences have no gap' },
  totals: {
    unit: 'quotas',
    holds: 'they are as many as the totals of their shards',
    notProvable: 'the shards whose quotas cannot be counted within a second',
  },
  events: { unit: 'events', holds: 'their numbers have no gap' },
}

function reportOf({ proofs, differences }: Verification, userId: number | null): string {
  const rows = PROOFS.flatMap(name => {
    const proved = proofs.get(name)
    if (proved === undefined) return userId === null ? [] : [[name, 'not checked: it concerns no single user']]
    const found = differences.filter(({ proof }) => proof === name)
    return [[name, reportOfProof(REPORTS[name], proved, found.length)]]
  })
  const messages = differences.map(({ message }) => `${message}\n`).join('')
  const whose = userId === null ? '' : ` for user ${userId}`
  const rest = differences.length < MAX_DIFFERENCES ? '' : '; the rest was not checked'
  return `${messages}${table(rows)}${count(differences.length)}${whose}${rest}.\n`
}

function reportOfProof(
  { unit, holds, notProvable: why }: ProofReport,
  { checked, notProvable }: Proved,
  found: number,
) {
  const result = `${checked} ${unit}: ${found > 0 ? count(found) : holds}`
  return notProvable > 0 ? `${result}\nnot provable: ${notProvable}${why === undefined ? '' : `, ${why}`}` : result
}

const count = (found: number) => `${found === 0 ? 'No' : found} ${found > 1 ? 'differences' : 'difference'}`
