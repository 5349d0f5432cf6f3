import type { Allowance } from '../../domain/quota.ts'
import { sql } from '../connection/sql.ts'
import { bigints } from './arrays.ts'
import { QUOTA_KEY } from './keys.ts'
import type { Stored } from './rows.ts'
import { COUNT, ledgerStatement } from './statement.ts'

/** Fails unless quotas that the decisions read and did not change are as they were read. */
export const checkQuotas = ledgerStatement<Stored<Allowance>>(
  'check-quotas',
  { ...QUOTA_KEY, seq: bigints(quota => quota.seq) },
  ({ k, bind }) => sql`select 1 / ((
      select count(*) from ${k}
      join quota q on q.shard = k.shard and q.id = k.id and q.seq = k.seq
    ) = ${bind(COUNT)}::int)::int`,
)
