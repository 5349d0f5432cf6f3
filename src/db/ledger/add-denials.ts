import type { ExplainedDenial } from '../../domain/units/denial.ts'
import { explanationViewOf } from '../../domain/units/explanation.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { bigints, booleans, ints, jsons, texts, timestamps } from './arrays.ts'
import { nextNumber, USER_SHARD } from './keys.ts'
import { ledgerStatement, NOW } from './statement.ts'

/** A denial as it is written; `sender` is an id of the dictionary of principals, null if the sender has none. */
export type DenialRow = ExplainedDenial & { readonly sender: number | null }

const VALUES = {
  user_id: bigints<ExplainedDenial>(denial => denial.user_id),
  id: texts<ExplainedDenial>(denial => denial.id),
  op: texts<ExplainedDenial>(denial => denial.op),
  units: bigints<ExplainedDenial>(denial => denial.units),
  country: texts<ExplainedDenial>(denial => denial.country),
  message_type: texts<ExplainedDenial>(denial => denial.message_type),
  allow_partial: booleans<ExplainedDenial>(denial => denial.allow_partial),
  reason: texts<ExplainedDenial>(denial => denial.reason),
  remaining: bigints<ExplainedDenial>(denial => denial.remaining),
  limiting_quota_id: bigints<ExplainedDenial>(denial => denial.limiting_quota_id),
  retry_at: timestamps<ExplainedDenial>(denial => denial.retry_at),
  skipped: bigints<ExplainedDenial>(denial => denial.skipped),
}

/** The columns of a denial beside its key, its sender and its explanation. */
export const DENIAL_COLUMNS = Object.keys(VALUES).map(sqlName)

/** Adds denials to the log. The rows are the batch's own: it waits for no lock. */
export const addDenials = ledgerStatement<DenialRow>(
  'add-denials',
  {
    ...USER_SHARD,
    number: bigints(nextNumber),
    ...VALUES,
    sender: ints(({ sender }) => sender),
    explanation: jsons(({ explanation }) => explanation.map(explanationViewOf)),
  },
  ({ k, bind }) => sql`insert into denial (shard, number, at, ${joinSql(DENIAL_COLUMNS)}, sender, explanation)
    select k.shard, k.number, ${bind(NOW)}::timestamptz,
      ${joinSql(DENIAL_COLUMNS.map(name => sql`k.${name}`))}, k.sender, k.explanation::jsonb
    from ${k}`,
)
