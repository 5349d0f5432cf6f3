import type { Allowance } from '../../domain/quota.ts'
import { bigints } from './arrays.ts'
import type { Stored } from './rows.ts'
import { COUNT, ledgerStatement } from './statement.ts'

/** Fails unless quotas that the decisions read and did not change are as they were read. */
export const checkQuotas = ledgerStatement<Stored<Allowance>>(
  'check-quotas',
  {
    user_id: bigints(quota => quota.user_id),
    id: bigints(quota => quota.id),
    seq: bigints(quota => quota.seq),
  },
  ({ shard, k, bind }) => `select 1 / ((
      select count(*) from ${k}
      join quota q on q.user_id = k.user_id and q.id = k.id and q.seq = k.seq where q.shard = ${shard}
    ) = ${bind(COUNT)}::int)::int`,
)
