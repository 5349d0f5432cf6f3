import { namedValues } from '../../domain/basics/named-values.ts'
import type { Allowance, Quota } from '../../domain/quotas/quota.ts'
import type { FormerSlot, QuotaPlan } from '../../domain/quotas/quota-plan.ts'
import { DETAIL_NAMES, type DetailName, QUOTA_SETTINGS, type ValueType } from '../../domain/quotas/quota-settings.ts'
import type { Cells, PipelinedConnection } from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { QUOTA_KEY } from './keys.ts'
import {
  boolean,
  type CellColumn,
  json,
  jsonOrNull,
  number,
  numberOrNull,
  numbers,
  selectListOf,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
  wordsOrNull,
} from './rows.ts'
import { ledgerStatement, type Scope } from './statement.ts'

const COLUMNS_BY_TYPE: Record<ValueType, CellColumn<unknown>> = {
  text: textOrNull,
  number: numberOrNull,
  boolean,
  time: timestampOrNull,
  texts: wordsOrNull,
  numbers,
  map: json(),
}
const DETAILS = namedValues<Record<DetailName, CellColumn<unknown>>>(
  DETAIL_NAMES,
  name => COLUMNS_BY_TYPE[QUOTA_SETTINGS[name].type],
)

const COLUMNS = {
  id: number,
  version: number,
  ...DETAILS,
  created_at: timestamp,
  created_by: text,
  updated_at: timestamp,
  updated_by: text,
  expiry_emitted: boolean,
  expiry_anchor: textOrNull,
  plan: jsonOrNull<QuotaPlan>(),
  former: jsonOrNull<FormerSlot>(),
}

const { list, at: AT } = selectListOf(COLUMNS, sql`q`)

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
      ...detailsIn(cells),
      created_at: COLUMNS.created_at.read(cells[AT.created_at]),
      created_by: COLUMNS.created_by.read(cells[AT.created_by]),
      updated_at: COLUMNS.updated_at.read(cells[AT.updated_at]),
      updated_by: COLUMNS.updated_by.read(cells[AT.updated_by]),
      expiry_emitted: COLUMNS.expiry_emitted.read(cells[AT.expiry_emitted]),
      expiry_anchor: COLUMNS.expiry_anchor.read(cells[AT.expiry_anchor]),
      plan: COLUMNS.plan.read(cells[AT.plan]),
      former: COLUMNS.former.read(cells[AT.former]),
    }
  })
}

function detailsIn(cells: Cells): Pick<Quota, DetailName> {
  return namedValues<Pick<Quota, DetailName>>(DETAIL_NAMES, name => DETAILS[name].read(cells[AT[name]]))
}
