import type { OutboxEvent } from '../../domain/outbox-event.ts'
import type { Allowance, Quota } from '../../domain/quota.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time.ts'
import type { PipelinedConnection } from '../pipelined-connection.ts'
import { parseTimestamptz } from '../values.ts'
import { jsons, numbers, texts } from './arrays.ts'
import type { LedgerCall } from './changes.ts'
import { text } from './rows.ts'

/**
 * The last statements of a transaction that has something to tell. The head of the shard's outbox is locked from its
 * step to the commit, so that the order of numbers is the order of commits: nobody takes it who has nothing to tell.
 */
export function eventSteps(shard: number, told: readonly OutboxEvent[], now: EpochMs): LedgerCall[] {
  if (told.length === 0) return []
  const head: LedgerCall = { name: 'take-numbers', values: [String(shard), String(told.length)] }
  return [head, writingStep(shard, told, now)]
}

/** Writes events whose numbers were taken by the statement before, which shows it what that one had to wait for. */
export function writingStep(shard: number, told: readonly OutboxEvent[], now: EpochMs): LedgerCall {
  const counts = new Map<number, number>()
  const rows = told.map((one, index) => {
    const nth = 1 + (counts.get(one.user_id) ?? 0)
    counts.set(one.user_id, nth)
    return { ...one, nth, behind: index + 1 - told.length }
  })
  return {
    name: 'add-events',
    values: [
      String(shard),
      numbers(rows, row => row.behind),
      numbers(rows, row => row.user_id),
      numbers(rows, row => row.nth),
      texts(rows, row => row.type),
      jsons(rows, row => row.data),
      formatTimestamp(now),
    ],
  }
}

/** Whole quotas: what decides about units is known, the rest is for people and read when they are told. */
export async function describe(
  connection: PipelinedConnection,
  shard: number,
  known: readonly Allowance[],
): Promise<Quota[]> {
  const ids = numbers(known, quota => quota.id)
  const [result] = await connection.run([{ name: 'describe-quotas', values: [String(shard), ids] }])
  const rows = new Map((result?.rows ?? []).map(cells => [Number(cells[0]), cells]))
  return known.map(quota => {
    const [, version, name, reference, metadata, created_at, created_by, updated_at, updated_by, told] =
      rows.get(quota.id) ?? []
    return {
      ...quota,
      version: Number(text(version)),
      name: name ?? null,
      external_ref: reference ?? null,
      metadata: JSON.parse(text(metadata)),
      created_at: parseTimestamptz(text(created_at)),
      created_by: text(created_by),
      updated_at: parseTimestamptz(text(updated_at)),
      updated_by: text(updated_by),
      expiry_emitted: told === 't',
    }
  })
}
