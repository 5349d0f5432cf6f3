import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Command, Outcome } from '../../src/domain/command.ts'
import { decide } from '../../src/domain/decide.ts'
import type { Draft } from '../../src/domain/draft.ts'
import { outstandingOf, spentOf } from '../../src/domain/reservation.ts'
import { type EpochMs, HOUR_MS } from '../../src/domain/time.ts'
import { BEGIN, drawing, type Life, life, type Step } from './ledger-arbitrary.ts'
import { audit, change, commit, draftOf, expectNothingOversold, openStore, type Store } from './ledger-store.ts'
import { changeNaive, openNaive } from './naive-ledger.ts'
import { decideBoth, expectSameCounters } from './side-by-side.ts'

/** What came of a command, on a draft of its own. */
function ask(store: Store, command: Command, now: EpochMs, observe = false): { store: Store; outcome: Outcome } {
  const draft = draftOf(store)
  const outcome = decide(draft, command, now, { observe })
  return { store: commit(store, draft), outcome }
}

function step(store: Store, { now, action }: Step): Store {
  return action.op === 'change' ? change(store, action.quota_id, action.fields, now) : ask(store, action, now).store
}

/** Every state that a life goes through. */
function statesOf({ quotas, steps }: Life): Store[] {
  const states = [openStore(quotas)]
  for (const one of steps) states.push(step(states.at(-1) ?? openStore([]), one))
  return states
}

test('never oversold: without force no window of any quota holds more than it may, though clocks lag', () => {
  fc.assert(
    fc.property(life({ force: false, lowering: false, lag: true }), lived => {
      for (const store of statesOf(lived)) expectNothingOversold(store)
    }),
    { numRuns: 1000 },
  )
})

test('conservation: every unit is accounted for, and every counter is the sum over the reservations', () => {
  fc.assert(
    fc.property(life({ lag: true }), lived => {
      for (const store of statesOf(lived)) audit(store)
    }),
    { numRuns: 500 },
  )
})

test('the same holds where everything is let through', () => {
  fc.assert(
    fc.property(life({ lag: true }), ({ quotas, steps }) => {
      let store = openStore(quotas)
      for (const { now, action } of steps) {
        if (action.op === 'change') continue
        const asked = ask(store, action, now, true)
        expect(asked.outcome.outcome).not.toBe('denied')
        store = asked.store
        audit(store)
      }
    }),
    { numRuns: 300 },
  )
})

test('a naive model that moves unit by unit says the same', () => {
  fc.assert(
    fc.property(life(), ({ quotas, steps }) => {
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
    { numRuns: 4000 },
  )
})

test('asking again gives the same answer and takes nothing, whatever happened in between', () => {
  fc.assert(
    fc.property(life({ lag: true }), ({ quotas, steps }) => {
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
    { numRuns: 500 },
  )
})

function expectReplay(store: Store, command: Command, now: EpochMs): Store {
  // Time may close it first: that is what is looked at here.
  const seen = ask(store, { op: 'find', user_id: command.user_id, id: command.id }, now)
  const asked = ask(seen.store, command, now)
  const reservation = seen.store.reservations.get(command.id)
  if (reservation === undefined) throw new Error('what was granted is gone')
  const isClosed = outstandingOf(reservation) + spentOf(reservation) === 0
  expect(asked.outcome).toMatchObject(isClosed ? { outcome: 'reservation_closed' } : { replayed: true, reservation })
  expect(asked.store.reservations).toEqual(seen.store.reservations)
  return asked.store
}

test('settling again gives the same answer and changes nothing', () => {
  fc.assert(
    fc.property(life({ lag: true }), ({ quotas, steps }) => {
      let store = openStore(quotas)
      for (const { now, action } of steps) {
        if (action.op === 'change' || !('total_units' in action)) {
          store = step(store, { now, action })
          continue
        }
        const once = ask(store, action, now)
        const twice = ask(once.store, action, now)
        expect(twice.store).toEqual(once.store)
        expect(twice.outcome).toEqual(
          once.outcome.outcome === 'settled' ? { ...once.outcome, replayed: true } : once.outcome,
        )
        store = once.store
      }
    }),
    { numRuns: 500 },
  )
})

test('deciding in batches is deciding one by one', () => {
  const cuts = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })
  fc.assert(
    fc.property(life({ lag: true }), cuts, fc.boolean(), ({ quotas, steps }, cuts, observe) => {
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
        const asked = ask(alone, action, now, observe)
        alone = asked.store
        expect(outcome).toEqual(asked.outcome)
      })
      expect(draft === null ? batched : commit(batched, draft)).toEqual(alone)
    }),
    { numRuns: 500 },
  )
})

test('the order of independent users does not matter', () => {
  const turns = fc.array(fc.boolean(), { minLength: 48, maxLength: 48 })
  fc.assert(
    fc.property(life({ user_id: 7 }), life({ user_id: 8 }), turns, (one, other, turns) => {
      const stores: [Store, Store] = [openStore(one.quotas), openStore(other.quotas)]
      const left: [Step[], Step[]] = [[...one.steps], [...other.steps]]
      for (const turn of turns) {
        const user = left[turn ? 1 : 0].length > 0 === turn ? 1 : 0
        const next = left[user].shift()
        if (next !== undefined) stores[user] = step(stores[user], next)
      }
      expect(stores).toEqual([statesOf(one).at(-1), statesOf(other).at(-1)])
    }),
    { numRuns: 300 },
  )
})

test('the same draft, command and moment always decide the same, and what was given stays as it was', () => {
  fc.assert(
    fc.property(life({ lag: true }), fc.boolean(), (lived, observe) => {
      const states = statesOf(lived)
      lived.steps.forEach(({ now, action }, index) => {
        const store = states[index]
        if (action.op === 'change' || store === undefined) return
        const before = structuredClone(store)
        const command = structuredClone(action)
        const once = ask(store, action, now, observe)
        expect(ask(store, action, now, observe)).toEqual(once)
        expect([store, action]).toEqual([before, command])
      })
    }),
    { numRuns: 200 },
  )
})

test('retry_at is a lower bound, and null only if time alone will not help', () => {
  const denying = fc.tuple(life({ force: true, lowering: true, reserving: false }), drawing(7, false))
  let denied = 0
  fc.assert(
    fc.property(denying, ([lived, command]) => {
      const store = statesOf(lived).at(-1) ?? openStore([])
      const now = lived.steps.at(-1)?.now ?? BEGIN
      const check = { ...command, op: 'check', id: '' } as const
      const { outcome } = ask(store, check, now)
      if (outcome.outcome !== 'denied') return
      denied++
      for (const moment of momentsOf(lived, now)) {
        if (moment >= (outcome.retry_at ?? Number.POSITIVE_INFINITY)) continue
        expect(ask(store, check, moment).outcome.outcome, new Date(moment).toISOString()).toBe('denied')
      }
    }),
    { numRuns: 1000 },
  )
  expect(denied).toBeGreaterThan(200)
})

/** The moments from now on at which time alone can change anything, for as many hours as any quota needs to fill up. */
function momentsOf({ quotas }: Life, now: EpochMs): EpochMs[] {
  const hour = HOUR_MS
  const hours = Array.from({ length: 12 }, (_, index) => (Math.floor(now / hour) + index + 1) * hour)
  const edges = quotas.flatMap(({ starts_at, expires_at }) => [starts_at, expires_at ?? now])
  return [...hours, ...edges].filter(moment => moment >= now).sort((one, other) => one - other)
}
