import { expect } from 'vitest'
import type { Command, Outcome } from '../../src/domain/command.ts'
import { decide } from '../../src/domain/decide.ts'
import { type Reservation, stateOf } from '../../src/domain/reservation.ts'
import type { EpochMs } from '../../src/domain/time.ts'
import { commit, countersOf, draftOf, type Store } from './ledger-store.ts'
import { carriedInto, countIn, type NaiveLedger, naively } from './naive-ledger.ts'

/** Has a command decided by the domain and by the naive model, and fails unless both say the same. */
export function decideBoth(store: Store, naive: NaiveLedger, command: Command, now: EpochMs): Store {
  const draft = draftOf(store)
  const said = inNaiveWords(decide(draft, command, now, { observe: false }))
  const expected = naively(naive, command, now)
  // Compared by hand first: an assertion costs more than the decision.
  if (said !== expected) expect(said).toBe(expected)
  return commit(store, draft)
}

/** Fails unless every window has the counters that counting its tokens gives, and what the one before it left. */
export function expectSameCounters(store: Store, naive: NaiveLedger): void {
  for (const [window, { used, reserved }] of countersOf(store)) {
    const [quotaId = 0, windowNo = 0] = window.split(':').map(Number)
    const counted = countIn(naive, quotaId, windowNo)
    if (counted.used !== used || counted.reserved !== reserved) expect({ window, used, reserved }).toEqual(counted)
  }
  for (const { id, window_no, rolled_over } of store.quotas) {
    if (rolled_over !== carriedInto(naive, id, window_no)) {
      expect({ id, window_no, rolled_over }).toEqual(carriedInto(naive, id, window_no))
    }
  }
}

function inNaiveWords(outcome: Outcome): string {
  switch (outcome.outcome) {
    case 'granted': {
      const { reservation, remaining, replayed } = outcome
      if (replayed) return `again ${standing(reservation)} remaining ${remaining}`
      return `granted ${standing(reservation)} ${placesOf(reservation)} remaining ${remaining}`
    }
    case 'denied':
      return `denied ${outcome.reason} limiting ${outcome.limiting_quota_id} remaining ${outcome.remaining}`
    case 'idempotency_mismatch':
      return `mismatch ${outcome.fields}`
    case 'reservation_closed':
      return `closed ${standing(outcome.reservation)}`
    case 'exceeds_reservation':
      return `exceeds ${standing(outcome.reservation)}`
    case 'settled':
      return `${outcome.replayed ? 'replayed' : 'settled'} ${standing(outcome.reservation)}`
    case 'found':
      return `found ${standing(outcome.reservation)}`
    case 'not_found':
      return 'not_found'
  }
}

function standing(reservation: Reservation): string {
  const { units, committed, released, refunded } = reservation
  return `${stateOf(reservation)} ${units} ${committed}/${released}/${refunded}`
}

/** Unit by unit, the windows it is counted in: that of the grant that pays, if any, and those of the caps. */
function placesOf({ units, draws }: Reservation): string {
  const places = Array.from({ length: units }, (_, unit) => {
    const counting = draws.filter(({ from, to }) => from <= unit && unit < to)
    const place = (kind: string) =>
      counting.filter(draw => draw.kind === kind).map(({ quota_id, window_no }) => `${quota_id}:${window_no}`)
    const [payer = ''] = place('grant')
    return [payer, ...place('cap')].join(' ')
  })
  return places.join(' ')
}
