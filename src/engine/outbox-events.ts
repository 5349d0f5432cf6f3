import type { PipelinedConnection } from '../db/connection/pipelined-connection.ts'
import { loadQuotaDetails } from '../db/ledger/load-quota-details.ts'
import type { Scope } from '../db/ledger/statement.ts'
import { EXHAUSTED } from '../domain/alerts.ts'
import { closingOf, type OutboxEvent, thresholdsOf } from '../domain/outbox-event.ts'
import type { BatchChanges } from './changes.ts'

/**
 * The events of a batch, in order. It reads the details of quotas that have reached thresholds, the only cost in a batch
 * of rare events. That read needs no lock: any change of those details gives the quota a new `seq`, which is guarded.
 */
export async function eventsOf(
  connection: PipelinedConnection,
  scope: Scope,
  { alerted, expired }: BatchChanges,
): Promise<OutboxEvent[]> {
  const events = expired.map(({ before, after }) => closingOf(before, after))
  const reached = alerted.filter(({ marks }) => marks.some(mark => mark !== EXHAUSTED))
  if (reached.length === 0) return events
  const quotas = await loadQuotaDetails(
    connection,
    scope,
    reached.map(({ quota }) => quota),
  )
  for (const [index, quota] of quotas.entries()) {
    events.push(...thresholdsOf(quota, reached[index]?.marks ?? [], scope.now))
  }
  return events
}
