import type { Changes } from '../db/ledger/changes.ts'
import { describe } from '../db/ledger/outbox-events.ts'
import type { PipelinedConnection } from '../db/pipelined-connection.ts'
import { closingOf, type OutboxEvent, thresholdsOf } from '../domain/outbox-event.ts'
import type { EpochMs } from '../domain/time.ts'

/**
 * What a batch has to tell, mostly nothing, at no cost. What people see of a quota is read when a percent of it is
 * reached; it is guarded like all that the decisions looked at, for whatever changes it gives the quota a new `seq`.
 */
export async function eventsOf(
  connection: PipelinedConnection,
  shard: number,
  { alerted, expired }: Changes,
  now: EpochMs,
): Promise<OutboxEvent[]> {
  const told = expired.map(({ before, after }) => closingOf(before, after))
  if (alerted.length === 0) return told
  const quotas = await describe(
    connection,
    shard,
    alerted.map(({ quota }) => quota),
  )
  for (const [index, quota] of quotas.entries()) told.push(...thresholdsOf(quota, alerted[index]?.percents ?? [], now))
  return told
}
