import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ClosedWindow, Quota, QuotaDraft } from '../../src/domain/quotas/quota.ts'
import { balanceOf, createQuota, roll } from '../../src/domain/quotas/quota.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { decideReturn, decideTransfer, type Transfer, type TransferTerms } from '../../src/domain/units/transfer.ts'
import { runs } from '../support/runs.ts'

const NOW = Date.UTC(2026, 2, 15, 12)
const ACTOR = 'ada'
const TERMS: TransferTerms = { to_user_id: 8, units: 4, reason: null, expires_at: null }

let lastId = 0
function quotaOf(draft: Partial<QuotaDraft> = {}, now = NOW): Quota {
  const created = createQuota({ user_id: 7, limit: 10, ...draft }, { id: ++lastId, now, actor: ACTOR })
  if ('issues' in created) throw new Error(JSON.stringify(created.issues))
  return created.quota
}

const give = (quota: Quota, terms: Partial<TransferTerms> = {}, now = NOW) =>
  decideTransfer(quota, { ...TERMS, ...terms }, { id: 99, now, actor: ACTOR })

describe('a transfer', () => {
  test.each<[string, Partial<QuotaDraft>, number | null]>([
    ['ends with the window', { period: 'day' }, Date.UTC(2026, 2, 16)],
    ['ends with the grant, if that comes first', { period: 'day', expires_at: NOW + HOUR_MS }, NOW + HOUR_MS],
    ['ends with a one-time grant', { expires_at: NOW + 9 * DAY_MS }, NOW + 9 * DAY_MS],
    ['of a grant without an end does not end', {}, null],
  ])('%s', (_, draft, end) => {
    expect(give(quotaOf(draft))).toMatchObject({ outcome: 'transferred', draft: { expires_at: end } })
  })

  test('may end earlier than the units, and not later', () => {
    const [end, quota] = [Date.UTC(2026, 2, 16), quotaOf({ period: 'day' })]
    expect(give(quota, { expires_at: end })).toMatchObject({ outcome: 'transferred', draft: { expires_at: end } })
    for (const expires_at of [NOW, end + 1])
      expect(give(quota, { expires_at })).toMatchObject({ outcome: 'invalid', issues: [{ path: '/expires_at' }] })
  })

  test('counts in the window of its time, with what rolled over', () => {
    const quota = quotaOf({ period: 'day', rollover_limit: 5 })
    const done = give({ ...quota, used: 7 }, { units: 13 }, NOW + DAY_MS)
    expect(done).toMatchObject({ giver: { window_no: 1, rolled_over: 3, used: 13 }, closed: [{ used: 7, carried: 3 }] })
    expect(give({ ...quota, used: 7 }, { units: 14 }, NOW + DAY_MS)).toEqual({
      outcome: 'not_enough_units',
      available: 13,
    })
  })

  test('is judged as a message is, where the clock is behind that of another process', () => {
    expect(give(quotaOf({}, NOW + 1))).toMatchObject({ outcome: 'transferred' })
    // Of a window that has begun there, an earlier end is over. The receiver must not get units that outlive it.
    const { quota } = roll(quotaOf({ period: 'day' }), NOW + DAY_MS)
    expect(give({ ...quota, expires_at: NOW + HOUR_MS })).toMatchObject({ outcome: 'not_transferable' })
    // Otherwise the units come from that window, end with it, and go back to it.
    const made = give(quota)
    if (made.outcome !== 'transferred') throw new Error(made.outcome)
    const { giver, transfer } = made
    expect(made).toMatchObject({
      giver: { window_no: 1, used: 4 },
      draft: { expires_at: quota.window_end },
      closed: [],
    })
    const receiver = quotaOf(made.draft)
    const back = decideReturn(transfer, { giver, receiver }, null, { now: NOW, actor: ACTOR })
    expect(back).toMatchObject({ units: 4, giver: { window_no: 1, used: 0 }, corrections: [] })
  })

  test('reaches the marks of the giver', () => {
    expect(give(quotaOf({ alert_at: [30] }))).toMatchObject({ giver: { alerted: [30] }, draft: { alert_at: [30] } })
  })
})

/** What an independent reader counts: units that can be spent, of grants, in the windows that are open. */
const spendable = (quotas: readonly Quota[], now: number) =>
  quotas.reduce((sum, stored) => {
    const { limit, rolled_over, used, reserved } = roll(stored, now).quota
    return sum + (limit ?? 0) + rolled_over - used - reserved
  }, 0)

test('over any history of transfers, returns, sends and refunds, by clocks that differ, what can be spent changes by sends and refunds alone', () => {
  const step = fc.record({
    act: fc.constantFrom('give', 'return', 'send', 'refund', 'reserve'),
    at: fc.nat(30),
    to: fc.constantFrom(7, 8, 9),
    units: fc.integer({ min: 1, max: 12 }),
    now: fc.constantFrom(NOW, NOW - DAY_MS, NOW + DAY_MS),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const quotas = [
        quotaOf({ limit: 20 }),
        quotaOf({ user_id: 8, limit: 5, overage_limit: 3 }),
        quotaOf({ user_id: 9, limit: 0 }),
      ]
      const transfers: Transfer[] = []
      let expected = 25
      for (const { act, at, to, units, now } of steps) {
        const index = at % quotas.length
        const quota = quotas[index] as Quota
        if (act === 'give') {
          const done = decideTransfer(quota, { ...TERMS, to_user_id: to, units }, { id: lastId, now, actor: ACTOR })
          if (done.outcome !== 'transferred') {
            expect(units).toBeGreaterThan(Math.max(0, balanceOf(quota)))
            continue
          }
          const made = quotaOf(done.draft, now)
          quotas[index] = done.giver
          quotas.push(made)
          transfers.push({ ...done.transfer, to_quota_id: made.id })
        } else if (act === 'return') {
          const which = at % Math.max(1, transfers.length)
          const transfer = transfers[which]
          if (transfer === undefined) continue
          const [giver, receiver] = [transfer.quota_id, transfer.to_quota_id].map(id =>
            quotas.findIndex(one => one.id === id),
          ) as [number, number]
          const done = decideReturn(
            transfer,
            { giver: quotas[giver] as Quota, receiver: quotas[receiver] as Quota },
            units,
            { now, actor: ACTOR },
          )
          if (done.outcome !== 'returned') continue
          quotas[giver] = done.giver
          quotas[receiver] = done.receiver
          transfers[which] = done.transfer
        } else {
          const refunded =
            act === 'refund'
              ? Math.min(units, quota.used - givenBy(transfers, quota.id))
              : -Math.min(units, Math.max(0, balanceOf(quota)))
          quotas[index] =
            act === 'reserve'
              ? { ...quota, reserved: quota.reserved - refunded }
              : { ...quota, used: quota.used - refunded }
          expected += refunded
        }
        expect(spendable(quotas, NOW)).toBe(expected)
        for (const { limit, used, reserved, overage_limit } of quotas)
          expect(used + reserved).toBeLessThanOrEqual((limit ?? 0) + overage_limit)
      }
    }),
    { numRuns: runs(300) },
  )
})

/** What of a grant's used units is handed on: no send that a refund gives back. */
const givenBy = (transfers: readonly Transfer[], id: number) =>
  transfers.reduce((sum, { quota_id, units, returned }) => (quota_id === id ? sum + units - returned : sum), 0)

describe('a return', () => {
  function made(draft: Partial<QuotaDraft> = {}) {
    const done = give(quotaOf({ period: 'day', ...draft }))
    if (done.outcome !== 'transferred') throw new Error(done.outcome)
    const receiver = quotaOf(done.draft)
    return { giver: done.giver, receiver, transfer: { ...done.transfer, to_quota_id: receiver.id } }
  }
  const back = (at: number, { transfer, ...both } = made(), units: number | null = null) =>
    decideReturn(transfer, both, units, { now: at, actor: ACTOR })

  test('goes to the window that is open, the one that closes now, or one that was closed before', () => {
    const closedIn = (windows: readonly ClosedWindow[]) =>
      windows.map(({ window_no, used, carried }) => [window_no, used, carried])
    const now = back(NOW)
    expect(now).toMatchObject({ giver: { window_no: 0, used: 0 }, closed: [], corrections: [] })
    const later = back(NOW + DAY_MS)
    if (later.outcome !== 'returned') throw new Error(later.outcome)
    expect([later.giver.used, closedIn(later.closed), later.corrections]).toEqual([0, [[0, 0, 0]], []])
    const rolled = made()
    const after = back(NOW + DAY_MS, { ...rolled, giver: roll(rolled.giver, NOW + DAY_MS).quota })
    expect(after).toMatchObject({
      giver: { window_no: 1, used: 0 },
      closed: [],
      corrections: [{ quota_id: rolled.giver.id, window_no: 0, used: -4, reserved: 0 }],
    })
  })

  test('is at most what is left over and was not given back before', () => {
    const { transfer, giver, receiver } = made()
    const raised = { ...receiver, limit: 50 }
    expect(back(NOW, { transfer, giver, receiver: raised }, 5)).toEqual({ outcome: 'not_enough_units', available: 4 })
    expect(back(NOW, { transfer, giver, receiver: { ...receiver, used: 3 } }, 2)).toEqual({
      outcome: 'not_enough_units',
      available: 1,
    })
    expect(back(NOW, { transfer: { ...transfer, returned: 4 }, giver, receiver })).toEqual({
      outcome: 'not_enough_units',
      available: 0,
    })
    expect(back(NOW, { transfer, giver, receiver: { ...receiver, limit: null } })).toMatchObject({
      outcome: 'not_transferable',
    })
  })
})
