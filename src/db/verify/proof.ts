/** The proofs of `verify`, and the form in which a statement reports its result. */
import { joinSql, type Sql, sql, sqlName, sqlText } from '../connection/sql.ts'

export const PROOFS = [
  'readable',
  'counters',
  'limits',
  'draws',
  'rollover',
  'usage',
  'transfers',
  'live',
  'plans',
  'values',
  'profiles',
  'sequences',
  'totals',
  'events',
] as const
export type ProofName = (typeof PROOFS)[number]

/** Something that should not be so, in words for the operator. */
export interface Difference {
  proof: ProofName
  /** Null if it concerns a shard, or a quota that does not exist. */
  user_id: number | null
  quota_id: number | null
  message: string
}

/** A row of each statement of `verify`: what one proof came to for what the statement covers. */
export interface Conclusion {
  proof: ProofName
  /** The number of rows that it compared: windows, reservations and so on. */
  checked: number
  /** The number of those that it could neither confirm nor refute. */
  not_provable: number
  /** The first ones. */
  differences: Omit<Difference, 'proof'>[]
}

/** A proof over a range of users. Its SQL reads the tables of `ledger.ts` and the parameters of its statement. */
export interface RangeProof {
  readonly name: ProofName
  /** An expression: how many rows the proof compares. */
  readonly checked: Sql
  /**
   * A query of `user_id`, `quota_id` and `message`: a row for each difference, and one without a message for each row that
   * is not provable.
   */
  readonly exceptions: Sql
}

const exceptionsOf = ({ name }: RangeProof) => sqlName(`${name}_exceptions`)

/** The statement of the proofs over a range: `$1` the shard, users above `$2` and up to `$3`, `$4` differences a proof. */
export function rangeStatement(tables: Sql, proofs: readonly RangeProof[]): Sql {
  const exceptions = proofs.map(proof => sql`${exceptionsOf(proof)} as materialized (${proof.exceptions})`)
  const conclusions = proofs.map(
    proof => sql`
    select ${sqlText(proof.name)} as proof, ${proof.checked} as checked,
      (select count(*) from ${exceptionsOf(proof)} where message is null) as not_provable,
      (select coalesce(json_agg(d), '[]') from (
        select * from ${exceptionsOf(proof)} where message is not null order by user_id, quota_id, message limit $4
      ) d) as differences`,
  )
  return sql`with ${joinSql(
    [tables, ...exceptions],
    sql`,
`,
  )}${joinSql(conclusions, sql` union all `)}`
}
