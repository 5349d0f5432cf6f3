/** What settles a message of a bill, by the rules of the ledger itself. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compare, spentIn } from '../../src/cli/remote/reconcile/compare.ts'
import { unitsOf } from '../../src/domain/rates/rate.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import { outstandingOf, type Reservation } from '../../src/domain/units/reservation.ts'
import { settle } from '../../src/domain/units/settling.ts'
import { reservationViewOf } from '../../src/domain/units/view.ts'
import { runs } from '../support/runs.ts'

const NOW = 1_000_000
const rate = { card_id: 1, version: 1 }
const prices = fc.record({
  segments: fc.integer({ min: 1, max: 5 }),
  per_segment: fc.integer({ min: 1, max: 9 }),
  per_message: fc.integer({ min: 0, max: 3 }),
})

/** Any state that senders' calls can leave. */
const reservations = fc
  .record({
    units: fc.integer({ min: 1, max: 30 }),
    price: fc.option(prices),
    shares: fc.array(fc.nat(100), { minLength: 3, maxLength: 3 }),
  })
  .map(({ units: asked, price, shares: [first = 0, second = 0, third = 0] }): Reservation => {
    const units = price === null ? asked : unitsOf({ ...rate, ...price }, price.segments)
    const part = (share: number, whole: number) => Math.round((Math.min(share, 50) / 50) * whole)
    const committed = part(first, units)
    const [released, refunded] = [part(second, units - committed), part(third, committed)]
    return {
      ...{ user_id: 7, id: 'm', op: 'reserve', asked: units, country: null, message_type: null, allow_partial: false },
      ...{ force: false, would_deny: null, units, committed, released, refunded, on_expiry: 'release', expired: false },
      ...{ verified: false, draws: [], created_at: NOW, expires_at: NOW + 1_000 },
      ...(price === null ? {} : { price: { ...rate, ...price } }),
    } as const satisfies Reservation
  })
const bills = fc.record({
  isFailed: fc.boolean(),
  segments: fc.option(fc.integer({ min: 0, max: 9 })),
  units: fc.option(fc.integer({ min: 0, max: 60 })),
})

test('each difference is settled by totals, and what is settled is equal', () => {
  fc.assert(
    fc.property(reservations, bills, (reservation, billed) => {
      const draft = createDraft(7, [], [reservation])
      const stored = () => draft.reservations.get('m') ?? reservation
      const { result, owed, settle: totals } = compare(billed, reservationViewOf(reservation))
      const isSettled = outstandingOf(reservation) === 0 && spentIn(reservation) === owed
      expect(result === 'equal').toBe(isSettled)
      expect(Object.keys(totals).length === 0).toBe(isSettled)
      // A batch whose answer was lost is sent again.
      for (let times = 1; times <= 2; times += 1)
        for (const op of ['commit', 'release', 'refund'] as const) {
          const total_units = totals[op]
          if (total_units === undefined) continue
          const command = { op, user_id: 7, id: 'm', total_units, force: op === 'commit' }
          const again = times === 2 ? { replayed: true } : {}
          expect(settle(draft, command, NOW)).toMatchObject({ outcome: 'settled', ...again })
        }
      expect([spentIn(stored()), outstandingOf(stored())]).toEqual([owed, 0])
      expect(compare(billed, reservationViewOf(stored()))).toMatchObject({ result: 'equal', settle: {} })
    }),
    { numRuns: runs(3_000) },
  )
})
