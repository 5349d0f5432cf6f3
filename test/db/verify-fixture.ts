/** What `verify` says of users, and histories of users in which it must find nothing. */
import { expect } from 'vitest'
import { updateQuota } from '../../src/admin/quotas/change-quota.ts'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { removeSettled } from '../../src/db/reservations/retention.ts'
import { batchShardsOf, rollUpUsage } from '../../src/db/usage/rollup.ts'
import type { ProofName } from '../../src/db/verify/proof.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import type { QuotaPatch } from '../../src/domain/quotas/quota.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { type Bench, draw, reserve, settle, someone } from '../support/engine.ts'
import { seededRandom } from '../support/ledger.ts'

export const RIGHT = { messages: [], notProvable: {} }

export function judgeOf(bench: Bench) {
  const { db, clock } = bench
  const engine = bench.engine()

  /** Removes a user's settled reservations to the archive. */
  const retire = (user: number) => removeSettled(db, shardOf(user), Number.NEGATIVE_INFINITY, clock.now)

  /** Rolls up the usage of a user, with that of others whose batches are in the same page. */
  const rollUp = async (user: number) => {
    for (const shard of batchShardsOf(shardOf(user))) await rollUpUsage(db, shard, [])
  }

  const update = (quota: number, patch: QuotaPatch) => updateQuota(db, quota, patch, bench.author(), () => true)

  /** What verify says of a user, with the proofs that could not be completed. */
  async function judge(user: number): Promise<{ messages: string[]; notProvable: Partial<Record<ProofName, number>> }> {
    const { proofs, differences } = await verify(db, { userId: user })
    const open = [...proofs].filter(([, proved]) => proved.notProvable > 0)
    return {
      messages: differences.map(({ proof, message }) => `${proof}: ${message}`),
      notProvable: Object.fromEntries(open.map(([name, proved]) => [name, proved.notProvable])),
    }
  }

  /** Sends, changes, revivals, retention and clocks that lag, at random. */
  async function expectRightInHistories(seeds: readonly number[]): Promise<void> {
    const lagging = bench.engine({ now: () => clock.now - 400 })
    const observing = bench.engine({ observe: true })
    for (const seed of seeds) {
      const random = seededRandom(seed)
      const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T
      const user = someone()
      const quotas: number[] = []
      const add = async () => {
        const kind = pick(['grant', 'grant', 'cap'] as const)
        const period = pick([null, 'hour', 'day'] as const)
        const isRolling = kind === 'grant' && period !== null
        const { id } = await bench.quota({
          user_id: user,
          kind,
          period,
          limit: pick([0, 5, 20]),
          rollover_limit: isRolling ? pick([0, 5, 30]) : 0,
          overage_limit: kind === 'grant' ? pick([0, 4]) : 0,
          opening_used: pick([0, 0, 3, 30]),
          starts_at: clock.now + pick([-1, 0, 2]) * HOUR_MS,
          expires_at: pick([null, clock.now + 6 * HOUR_MS]),
          time_zone: pick(['UTC', 'Asia/Kolkata']),
        })
        quotas.push(id)
      }
      const alter = async () => {
        const id = pick(quotas)
        const patch = pick<QuotaPatch>([
          { limit: pick([0, 3, 10, 40]), allow_below_usage: true },
          { limit: pick([0, 3, 10, 40]) },
          { overage_limit: pick([0, 2, 9]), allow_below_usage: true },
          { rollover_limit: pick([0, 2, 11, 50]) },
          { rollover_limit: pick([0, 2, 11, 50]), limit: pick([1, 30]), allow_below_usage: true },
          { expires_at: pick([null, clock.now - HOUR_MS, clock.now + HOUR_MS]), rollover_limit: pick([0, 7]) },
          { starts_at: clock.now + HOUR_MS },
          { enabled: random() < 0.8 },
        ])
        await update(id, patch)
      }
      for (let n = 0; n < 2; n++) await add()
      for (let n = 0; n < 60; n++) {
        clock.now += Math.floor(random() * pick([0, 60_000, HOUR_MS, 5 * HOUR_MS, 30 * HOUR_MS]))
        const id = `m${Math.floor(random() * 10)}`
        const units = 1 + Math.floor(random() * 12)
        const ttl = { ttl_ms: pick([60_000, 3 * HOUR_MS]), on_expiry: pick(['release', 'commit'] as const) }
        const sent = pick([engine, engine, lagging, observing])
        await pick<() => Promise<unknown>>([
          () => sent.submit(reserve(user, id, units, { allow_partial: random() < 0.5, ...ttl })),
          () => sent.submit(reserve(user, id, units, { allow_partial: random() < 0.5, ...ttl })),
          () => sent.submit(draw('consume', user, id, units, { force: random() < 0.2 })),
          () => sent.submit({ ...settle('commit', user, id, pick([null, 1, 4])), force: random() < 0.5 }),
          () => sent.submit(settle('refund', user, id, pick([null, 1, 2]))),
          () => sent.submit(settle('release', user, id, pick([null, 1]))),
          () => sent.submit({ op: pick(['expire', 'feedback'] as const), user_id: user, id }),
          alter,
          alter,
          () => (quotas.length < 6 ? add() : deleteQuota(db, pick(quotas), bench.author(), () => true)),
          () => retire(user),
          () => rollUp(user),
        ])()
        if (n % 15 === 14) expect(await judge(user), `seed ${seed}, step ${n}`).toEqual(RIGHT)
      }
    }
  }

  return { engine, retire, rollUp, update, judge, expectRightInHistories }
}
