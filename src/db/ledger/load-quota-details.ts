import type { Allowance, Quota } from '../../domain/quota.ts'
import type { PipelinedConnection } from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { QUOTA_KEY } from './keys.ts'
import { boolean, json, number, selectionOf, text, textOrNull, timestamp } from './rows.ts'
import { ledgerStatement, type Scope } from './statement.ts'

const COLUMNS = {
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
}

const { list, at: AT } = selectionOf(COLUMNS, sql`q`)

export const selectQuotaDetails = ledgerStatement<Allowance>(
  sql`select-quota-details`,
  QUOTA_KEY,
  ({ k }) => sql`select ${list} from ${k} join quota q on q.shard = k.shard and q.id = k.id`,
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
  const rows = new Map((result?.rows ?? []).map(cells => [COLUMNS.id.read(cells[AT.id]), cells]))
  return quotas.map(quota => {
    const cells = rows.get(quota.id) ?? []
    return {
      ...quota,
      version: COLUMNS.version.read(cells[AT.version]),
      name: COLUMNS.name.read(cells[AT.name]),
      external_ref: COLUMNS.external_ref.read(cells[AT.external_ref]),
      metadata: COLUMNS.metadata.read(cells[AT.metadata]),
      created_at: COLUMNS.created_at.read(cells[AT.created_at]),
      created_by: COLUMNS.created_by.read(cells[AT.created_by]),
      updated_at: COLUMNS.updated_at.read(cells[AT.updated_at]),
      updated_by: COLUMNS.updated_by.read(cells[AT.updated_by]),
      expiry_emitted: COLUMNS.expiry_emitted.read(cells[AT.expiry_emitted]),
    }
  })
}
