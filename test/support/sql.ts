import { type Sql, trustedSql } from '../../src/db/connection/sql.ts'

/** The tag for statements of tests and benchmarks, in which any value may stand: numbers, names, other text. */
export function rawSql(strings: TemplateStringsArray, ...parts: readonly unknown[]): Sql {
  return trustedSql(strings.reduce((text, string, index) => `${text}${parts[index - 1]}${string}`))
}
