import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import type { Command, Outcome } from '../../src/domain/units/command.ts'
import { decide } from '../../src/domain/units/decide.ts'
import type { Draft } from '../../src/domain/units/draft.ts'
import { outstandingOf, spentOf } from '../../src/domain/units/reservation.ts'
import { runs } from '../support/runs.ts'
import { decideBoth, expectSameCounters } from './compare-with-naive.ts'
import { BEGIN, drawing, type Scenario, type Step, scenarios } from './ledger-arbitrary.ts'
import { audit, change, commit, draftOf, expectNothingOversold, openStore, type Store } from './ledger-store.ts'
import { changeNaive, openNaive } from './naive-ledger.ts'

/** Decides a command on a draft of its own. */
function run(store: Store, command: Command, now: EpochMs, observe = false): { store: Store; outcome: Outcome } {
  const draft = draftOf(store)
  const outcome = decide(draft, command, now, { observe })
  return { store: commit(store, draft), outcome }
}

function step(store: Store, { now, action }: Step): Store {
  return action.op === 'change' ? change(store, action.quota_id, action.fields, now) : run(store, action, now).store
}

/** The states before and after each step of a scenario. */
function statesOf({ quotas, steps }: Scenario): Store[] {
  const states = [openStore(quotas)]
  for (const one of steps) states.push(step(states.at(-1) ?? openStore([]), one))
  return states
}

test('no window exceeds its limit without force, even if clocks lag', () => {
  fc.assert(
    fc.property(scenarios({ force: false, lowering: false, lag: true }), scenario => {
      for (const store of statesOf(scenario)) expectNothingOversold(store)
    }),
    { numRuns: runs(1000) },
  )
})

test('conservation: every unit is accounted for, and every counter is the sum over the reservations', () => {
  fc.assert(
    fc.property(scenarios({ lag: true }), scenario => {
      for (const store of statesOf(scenario)) audit(store)
    }),
    { numRuns: runs(500) },
  )
})

test('conservation holds in observe mode', () => {
  fc.assert(
    fc.property(scenarios({ lag: true }), ({ quotas, steps }) => {
      let store = openStore(quotas)
      for (const { now, action } of steps) {
        if (action.op === 'change') continue
        const result = run(store, action, now, true)
        expect(result.outcome.outcome).not.toBe('denied')
        store = result.store
        audit(store)
      }
    }),
    { numRuns: runs(300) },
  )
})

test('a naive model that counts unit by unit agrees', () => {
  fc.assert(
    fc.property(scenarios(), ({ quotas, steps }) => {
      const naive = openNaive(quotas)
      let store = openStore(quotas)
      for (const { now, action } of steps) {
        if (action.op === 'change') {
          store = change(store, action.quota_id, action.fields, now)
          changeNaive(naive, action.quota_id, action.fields, now)
        } else store = decideBoth(store, naive, action, now)
        expectSameCounters(store, naive)
      }
    }),
    { numRuns: runs(2000) },
  )
})

test('a repeated id gives the same answer and draws nothing, after any other commands', () => {
  fc.assert(
    fc.property(scenarios({ lag: true }), ({ quotas, steps }) => {
      let store = openStore(quotas)
      const granted = new Map<string, Command>()
      for (const { now, action } of steps) {
        store = step(store, { now, action })
        if ('units' in action && action.op !== 'check' && !granted.has(action.id)) granted.set(action.id, action)
        for (const [id, command] of granted) {
          if (!store.reservations.has(id)) granted.delete(id)
          else store = expectReplay(store, command, now)
        }
      }
    }),
    { numRuns: runs(500) },
  )
})

function expectReplay(store: Store, command: Command, now: EpochMs): Store {
  // `find` closes the reservation first if it is past its expires_at.
  const found = run(store, { op: 'find', user_id: command.user_id, id: command.id }, now)
  const result = run(found.store, command, now)
  const reservation = found.store.reservations.get(command.id)
  if (reservation === undefined) throw new Error('a granted reservation is missing')
  const isClosed = outstandingOf(reservation) + spentOf(reservation) === 0
  expect(result.outcome).toMatchObject(isClosed ? { outcome: 'reservation_closed' } : { replayed: true, reservation })
  expect(result.store.reservations).toEqual(found.store.reservations)
  return result.store
}

test('a repeated settlement gives the same answer and changes nothing', () => {
  fc.assert(
    fc.property(scenarios({ lag: true }), ({ quotas, steps }) => {
      let store = openStore(quotas)
      for (const { now, action } of steps) {
        if (action.op === 'change' || !('total_units' in action)) {
          store = step(store, { now, action })
          continue
        }
        const once = run(store, action, now)
        const twice = run(once.store, action, now)
        expect(twice.store).toEqual(once.store)
        expect(twice.outcome).toEqual(
          once.outcome.outcome === 'settled' ? { ...once.outcome, replayed: true } : once.outcome,
        )
        store = once.store
      }
    }),
    { numRuns: runs(500) },
  )
})

test('a batch gives the same outcomes as single commands', () => {
  const cuts = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })
  fc.assert(
    fc.property(scenarios({ lag: true }), cuts, fc.boolean(), ({ quotas, steps }, cuts, observe) => {
      let alone = openStore(quotas)
      let batched = alone
      let draft: Draft | null = null
      steps.forEach(({ now, action }, index) => {
        if (draft !== null && (cuts[index] === true || action.op === 'change')) {
          batched = commit(batched, draft)
          draft = null
        }
        if (action.op === 'change') {
          alone = step(alone, { now, action })
          batched = step(batched, { now, action })
          return
        }
        draft ??= draftOf(batched)
        const outcome = decide(draft, action, now, { observe })
        const result = run(alone, action, now, observe)
        alone = result.store
        expect(outcome).toEqual(result.outcome)
      })
      expect(draft === null ? batched : commit(batched, draft)).toEqual(alone)
    }),
    { numRuns: runs(500) },
  )
})

test('the order of independent users does not matter', () => {
  const picks = fc.array(fc.boolean(), { minLength: 48, maxLength: 48 })
  fc.assert(
    fc.property(scenarios({ user_id: 7 }), scenarios({ user_id: 8 }), picks, (one, other, picks) => {
      const stores: [Store, Store] = [openStore(one.quotas), openStore(other.quotas)]
      const steps: [Step[], Step[]] = [[...one.steps], [...other.steps]]
      for (const pick of picks) {
        const user = steps[pick ? 1 : 0].length > 0 === pick ? 1 : 0
        const next = steps[user].shift()
        if (next !== undefined) stores[user] = step(stores[user], next)
      }
      expect(stores).toEqual([statesOf(one).at(-1), statesOf(other).at(-1)])
    }),
    { numRuns: runs(300) },
  )
})

test('the same draft, command and time give the same outcome, and the inputs do not change', () => {
  fc.assert(
    fc.property(scenarios({ lag: true }), fc.boolean(), (scenario, observe) => {
      const states = statesOf(scenario)
      scenario.steps.forEach(({ now, action }, index) => {
        const store = states[index]
        if (action.op === 'change' || store === undefined) return
        const before = structuredClone(store)
        const command = structuredClone(action)
        const once = run(store, action, now, observe)
        expect(run(store, action, now, observe)).toEqual(once)
        expect([store, action]).toEqual([before, command])
      })
    }),
    { numRuns: runs(200) },
  )
})

test('retry_at is a lower bound, and null only if time alone does not help', () => {
  const denying = fc.tuple(scenarios({ force: true, lowering: true, reserving: false }), drawing(7, false))
  let denied = 0
  fc.assert(
    fc.property(denying, ([scenario, command]) => {
      const store = statesOf(scenario).at(-1) ?? openStore([])
      const now = scenario.steps.at(-1)?.now ?? BEGIN
      const check = { ...command, op: 'check', id: '' } as const
      const { outcome } = run(store, check, now)
      if (outcome.outcome !== 'denied') return
      denied++
      for (const time of timesOf(scenario, now)) {
        if (time >= (outcome.retry_at ?? Number.POSITIVE_INFINITY)) continue
        expect(run(store, check, time).outcome.outcome, new Date(time).toISOString()).toBe('denied')
      }
    }),
    { numRuns: runs(1000) },
  )
  expect(denied).toBeGreaterThan(200)
})

/** The times from now on at which quotas change by themselves, for the 12 hours that any quota needs to fill up. */
function timesOf({ quotas }: Scenario, now: EpochMs): EpochMs[] {
  const hour = HOUR_MS
  const hours = Array.from({ length: 12 }, (_, index) => (Math.floor(now / hour) + index + 1) * hour)
  const edges = quotas.flatMap(({ starts_at, expires_at }) => [starts_at, expires_at ?? now])
  return [...hours, ...edges].filter(time => time >= now).sort((one, other) => one - other)
}
