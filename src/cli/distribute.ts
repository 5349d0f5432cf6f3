import { type Distribution, distribute as distributeTables } from '../db/schema/distribute.ts'
import { dropRootBeside } from '../drop-root.ts'
import { type Arguments, UsageError } from './arguments.ts'
import { readConfig } from './environment.ts'
import { table } from './help.ts'
import { createLog, reportFailure } from './on-database.ts'
import type { Terminal } from './terminal.ts'

/** The number of buckets: more shards would be empty. */
const MAX_SHARDS = 64

/** Distributes the tables over a cluster. Resolves to 0 if they are distributed now, 1 if not. */
export async function distribute(args: Arguments, terminal: Terminal): Promise<number> {
  const shards = readShards(args.one('shards'))
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('distribute the tables', config, async () => {
    const url = config.databaseUrl
    if (url === null) throw new Error('the database in DATA_DIR is no cluster; name the coordinator in DATABASE_URL')
    await dropRootBeside(config)
    const result = await distributeTables({ url, shards, isConfirmed: args.has('yes'), log: createLog() })
    process.stdout.write(reportOf(result))
    return result.outcome === 'done' ? 0 : 1
  })
}

function readShards(text: string | undefined): number | null {
  if (text === undefined) return null
  const shards = /^\d+$/.test(text) ? Number(text) : 0
  if (shards < 1 || shards > MAX_SHARDS)
    throw new UsageError(`--shards is a number from 1 to ${MAX_SHARDS}, not "${text}"`)
  return shards
}

function reportOf(result: Distribution): string {
  switch (result.outcome) {
    case 'faults': {
      const rows = result.faults.map(({ where, fault, fix }) => [where, `${fault}\nto mend it: ${fix}`])
      return `The cluster is not ready:\n${table(rows)}Nothing was changed.\n`
    }
    case 'planned':
      return `The cluster is ready. With --yes, the database is migrated, and over ${result.shards} shards are distributed: ${listOf(result.tables)}.
Each node gets the settings that the service needs.\n`
    case 'done':
      return `Distributed over ${result.shards} shards: ${listOf(result.tables)}.\nAll tables are in their places, and all nodes have their settings.\n`
  }
}

function listOf(tables: readonly string[] | null): string {
  if (tables === null) return 'all tables, which the migrations make'
  return tables.length === 0 ? 'no further table' : tables.join(', ')
}
