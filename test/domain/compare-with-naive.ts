import { expect } from 'vitest'
import type { EpochMs } from '../../src/domain/time/time.ts'
import type { Command, Outcome } from '../../src/domain/units/command.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { type Reservation, stateOf } from '../../src/domain/units/reservation.ts'
import { commit, countersOf, draftOf, type Store } from './ledger-store.ts'
import { carriedInto, countIn, type NaiveLedger, runNaive } from './naive-ledger.ts'

/** Decides a command with the domain and with the naive model, and fails unless the outcomes agree. */
export function decideBoth(store: Store, naive: NaiveLedger, command: Command, now: EpochMs): Store {
  const draft = draftOf(store)
  const actual = lineOf(decide(draft, command, now, { observe: false }))
  const expected = runNaive(naive, command, now)
  // Compared with === first: an assertion costs more than the decision.
  if (actual !== expected) expect(actual).toBe(expected)
  return commit(store, draft)
}

/** Fails unless the counters of every window, and the units it got from the previous one, agree with the naive model. */
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

function lineOf(outcome: Outcome): string {
  switch (outcome.outcome) {
    case 'granted': {
      const { reservation, remaining, replayed } = outcome
      if (replayed) return `again ${stateLineOf(reservation)} remaining ${remaining}`
      return `granted ${stateLineOf(reservation)} ${windowsOf(reservation)} remaining ${remaining}`
    }
    case 'denied':
      return `denied ${outcome.reason} limiting ${outcome.limiting_quota_id} remaining ${outcome.remaining}`
    case 'idempotency_mismatch':
      return `mismatch ${outcome.fields}`
    case 'reservation_closed':
      return `closed ${stateLineOf(outcome.reservation)}`
    case 'exceeds_reservation':
      return `exceeds ${stateLineOf(outcome.reservation)}`
    case 'no_rate':
      return `unpriced ${stateLineOf(outcome.reservation)}`
    case 'exceeds_committed':
      return `uncommitted ${stateLineOf(outcome.reservation)}`
    case 'settled':
      return `${outcome.replayed ? 'replayed' : 'settled'} ${stateLineOf(outcome.reservation)}`
    case 'found':
      return `found ${stateLineOf(outcome.reservation)}`
    case 'not_found':
      return 'not_found'
  }
}

function stateLineOf(reservation: Reservation): string {
  const { units, committed, released, refunded, verified } = reservation
  return `${stateOf(reservation)} ${units} ${committed}/${released}/${refunded}${verified ? ' verified' : ''}`
}

/** For each unit the windows that count it: that of the paying grant, if any, and those of the caps. */
function windowsOf({ units, draws }: Reservation): string {
  const windows = Array.from({ length: units }, (_, unit) => {
    const counting = draws.filter(({ from, to }) => from <= unit && unit < to)
    const windowsOfKind = (kind: string) =>
      counting.filter(draw => draw.kind === kind).map(({ quota_id, window_no }) => `${quota_id}:${window_no}`)
    const [payer = ''] = windowsOfKind('grant')
    return [payer, ...windowsOfKind('cap')].join(' ')
  })
  return windows.join(' ')
}
