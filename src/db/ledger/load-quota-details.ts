import type { Allowance, Quota } from '../../domain/quota.ts'
import type { PipelinedConnection } from '../pipelined-connection.ts'
import { bigints } from './arrays.ts'
import { boolean, json, number, selectionOf, text, textOrNull, timestamp } from './rows.ts'
import { ledgerStatement, type Scope } from './statement.ts'

const { list, read } = selectionOf({
  id: number,
  version: number,
  name: textOrNull,
  external_ref: textOrNull,
  metadata: json<Quota['metadata']>(),
  created_at: timestamp,
  created_by: text,
  updated_at: timestamp,
  updated_by: text,
  expiry_emitted: boolean,
})

export const selectQuotaDetails = ledgerStatement<Allowance>(
  'select-quota-details',
  { id: bigints(quota => quota.id) },
  ({ shard, arrays: ids }) => `select ${list} from quota where shard = ${shard} and id = any(${ids})`,
)

/**
 * Completes quotas with what does not decide about units, which is read only for events. It answers them in the order
 * given.
 */
export async function loadQuotaDetails(
  connection: PipelinedConnection,
  scope: Scope,
  quotas: readonly Allowance[],
): Promise<Quota[]> {
  const [result] = await connection.run([selectQuotaDetails.call(scope, quotas)])
  const rows = new Map((result?.rows ?? []).map(cells => [read.id(cells), cells]))
  return quotas.map(quota => {
    const cells = rows.get(quota.id) ?? []
    return {
      ...quota,
      version: read.version(cells),
      name: read.name(cells),
      external_ref: read.external_ref(cells),
      metadata: read.metadata(cells),
      created_at: read.created_at(cells),
      created_by: read.created_by(cells),
      updated_at: read.updated_at(cells),
      updated_by: read.updated_by(cells),
      expiry_emitted: read.expiry_emitted(cells),
    }
  })
}
