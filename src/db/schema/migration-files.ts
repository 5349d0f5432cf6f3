/** Reads the files of migrations, and what their headers say: the comment lines before the first statement. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Sql, trustedSql } from '../connection/sql.ts'

/** The index that the statement of a migration without a transaction creates or drops. */
export interface ConcurrentIndex {
  readonly index: string
  readonly creates: boolean
}

export interface Migration {
  readonly number: number
  /** The file's name, `0001_baseline.sql`. */
  readonly name: string
  readonly checksum: string
  /** In their order. A cluster takes one statement at a time. */
  readonly statements: readonly Sql[]
  /**
   * The oldest version of the service that may run on the schema that this migration leaves (`-- serves: 0.1.0`).
   * Null for the first migrations: version 0.1.0 counts them, and runs on no others.
   */
  readonly servesFrom: string | null
  /** Set if the migration runs outside of a transaction (`-- transaction: none`). */
  readonly concurrent: ConcurrentIndex | null
}

const OWN_MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url))

/**
 * Reads the migrations of a folder, by default the service's own. Throws if a name is out of line, or if a header says
 * what cannot be done.
 */
export async function readMigrations(directory = OWN_MIGRATIONS): Promise<Migration[]> {
  const names = (await readdir(directory)).filter(name => name.endsWith('.sql')).sort()
  const migrations = await Promise.all(
    names.map(async (name, index) => {
      const number = Number(/^(\d{4})_\w+\.sql$/.exec(name)?.[1])
      if (number !== index + 1) {
        const expected = String(index + 1).padStart(4, '0')
        throw new Error(`${directory}: the next migration must be ${expected}_….sql, but there is ${name}`)
      }
      return parseMigration(number, name, await readFile(`${directory}/${name}`, 'utf8'))
    }),
  )
  const first = migrations.findIndex(({ servesFrom }) => servesFrom !== null)
  const silent = first < 0 ? undefined : migrations.slice(first).find(({ servesFrom }) => servesFrom === null)
  if (silent !== undefined) {
    throw new Error(`migration ${silent.name} must say who may run on its schema: add a line "-- serves: <version>"`)
  }
  return migrations
}

const VERSION = /^\d+\.\d+\.\d+$/

function parseMigration(number: number, name: string, sql: string): Migration {
  const header = /^(?:\s*(?:--.*)?\n)*/.exec(sql)?.[0] ?? ''
  const servesFrom = /^-- serves: *(.*?) *$/m.exec(header)?.[1] ?? null
  if (servesFrom !== null && !VERSION.test(servesFrom)) {
    throw new Error(`migration ${name}: "-- serves: ${servesFrom}" is no version; accepted: three numbers, as in 0.1.0`)
  }
  const transaction = /^-- transaction: *(.*?) *$/m.exec(header)?.[1] ?? null
  if (transaction !== null && transaction !== 'none') {
    throw new Error(`migration ${name}: "-- transaction: ${transaction}" is unknown; accepted: none`)
  }
  const concurrent = transaction === null ? null : parseConcurrent(name, sql.slice(header.length))
  return {
    number,
    name,
    checksum: createHash('sha256').update(sql).digest('hex'),
    statements: statementsOf(sql),
    servesFrom,
    concurrent,
  }
}

/** Text in which a semicolon ends nothing: comments, strings, quoted names, and bodies between dollars. */
const OPAQUE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1/

const PARTS = new RegExp(`(?:${OPAQUE.source}|[^;])+`, 'g')

/** The statements of a text, without those that are empty or only a comment. */
export function statementsOf(text: string): Sql[] {
  return [...text.matchAll(PARTS)]
    .map(([statement]) => statement.trim())
    .filter(statement => statement.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== '')
    .map(trustedSql)
}

/** Only statements that can be repeated after a crash, one a file: nothing rolls back what ran before it. */
function parseConcurrent(name: string, statement: string): ConcurrentIndex {
  const [, creates, drops] =
    /^create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)\s+on\s[^;]+;?\s*$|^drop\s+index\s+concurrently\s+if\s+exists\s+(\w+)\s*;?\s*$/i.exec(
      statement,
    ) ?? []
  const index = creates ?? drops
  if (index === undefined) {
    throw new Error(
      `migration ${name}: without a transaction, accepted is one statement "create index concurrently <name> on …" or "drop index concurrently if exists <name>"`,
    )
  }
  return { index, creates: creates !== undefined }
}

/** Whether version `a` is older than version `b`. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [a, b].map(version => version.split(/[.-]/).slice(0, 3).map(Number))
  for (const [index, number] of (left ?? []).entries()) {
    const other = right?.[index] ?? 0
    if (number !== other) return number < other
  }
  return false
}
