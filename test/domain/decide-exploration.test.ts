import { expect, test } from 'vitest'
import type { Command, DrawCommand, SettleCommand } from '../../src/domain/command.ts'
import type { Allowance } from '../../src/domain/quota.ts'
import { decideBoth, expectSameCounters } from './compare-with-naive.ts'
import { aQuota, at } from './fixture.ts'
import { audit, openStore, type Store } from './ledger-store.ts'
import { cloneNaive, type NaiveLedger, openNaive } from './naive-ledger.ts'

const MINUTE = 60_000

const HOURLY = {
  period: 'hour',
  starts_at: at('2026-01-10 10:00'),
  window_start: at('2026-01-10 10:00'),
  window_end: at('2026-01-10 11:00'),
} as const
const SINGLE = {
  period: null,
  starts_at: HOURLY.starts_at,
  window_start: HOURLY.window_start,
  window_end: null,
} as const

/** Two grants, one of which resets each hour, and a cap over both. */
function quotasOf(user_id: number): Allowance[] {
  const id = user_id * 10
  return [
    aQuota({ user_id, id, limit: 2, rollover_limit: 1, overage_limit: 1, priority: 1, ...HOURLY }),
    aQuota({ user_id, id: id + 1, limit: 2, priority: 2, ...SINGLE }),
    aQuota({ user_id, id: id + 2, limit: 4, kind: 'cap', ...HOURLY }),
  ]
}

function draw(user_id: number, op: DrawCommand['op'], id: string, units: number, fields: Partial<DrawCommand> = {}) {
  const scope = { country: null, message_type: null }
  const rest = {
    ttl_ms: 20 * MINUTE,
    on_expiry: 'release',
    allow_partial: false,
    force: false,
    explain: false,
  } as const
  return { user_id, op, id, units, ...scope, ...rest, ...fields }
}

function settle(user_id: number, op: SettleCommand['op'], id: string, total_units: number | null, force = false) {
  return { user_id, op, id, total_units, force }
}

/** A pseudo-command that advances the clock to the next of `TIMES`. */
const TICK = null

const COMMANDS: (Command | typeof TICK)[] = [
  TICK,
  draw(1, 'reserve', 'a', 3, { ttl_ms: 60 * MINUTE }),
  draw(1, 'reserve', 'b', 2, { allow_partial: true, on_expiry: 'commit' }),
  draw(1, 'consume', 'c', 3, { force: true }),
  settle(1, 'commit', 'a', 1),
  settle(1, 'commit', 'a', null, true),
  settle(1, 'release', 'a', 1),
  settle(1, 'release', 'b', null),
  settle(1, 'refund', 'a', 1),
  { user_id: 1, op: 'expire', id: 'b' },
  draw(2, 'consume', 'a', 3),
  draw(2, 'check', '', 9, { allow_partial: true }),
]

/** The second time is exactly the end of a window; at the third, a reservation of the first for an hour expires. */
const TIMES = [at('2026-01-10 10:30'), at('2026-01-10 11:00'), at('2026-01-10 11:30')]

/** A state after some commands: what the database holds of both users, and the naive model. */
interface State {
  time: number
  stores: readonly [Store, Store]
  naive: NaiveLedger
  /** The command that led to it, and the state before that. */
  last: Command | typeof TICK
  before: State | null
}

function initialState(): State {
  const stores = [canonical(openStore(quotasOf(1))), canonical(openStore(quotasOf(2)))] as const
  return { time: 0, stores, naive: openNaive([...quotasOf(1), ...quotasOf(2)]), last: TICK, before: null }
}

/** The state after a command, on which the domain and the naive model must agree; null after the last tick. */
function after(before: State, last: Command | typeof TICK): State | null {
  const { time, stores } = before
  if (last === TICK) return time + 1 < TIMES.length ? { ...before, time: time + 1, last, before } : null
  const naive = cloneNaive(before.naive)
  const now = TIMES[time] ?? Number.NaN
  const step = (store: Store, userId: number) =>
    last.user_id === userId ? canonical(decideBoth(store, naive, last, now)) : store
  return { time, stores: [step(stores[0], 1), step(stores[1], 2)], naive, last, before }
}

/** A key that holds all of a state: states with equal keys have equal futures. */
function keyOf({ time, stores, naive }: State): string {
  const reservations = naive.reservations.map(({ asked, tokens, ...rest }) => {
    const tokenTexts = tokens.map(({ state, payer, caps }) => `${state[0]}${payer},${caps}`)
    return [asked.user_id, asked.id, ...Object.values(rest), ...tokenTexts].join(' ')
  })
  const numbers = stores.map(store => numberOf.get(store))
  return [time, ...numbers, ...reservations.sort(), ...[...naive.carries].sort()].join('|')
}

/** Each distinct store is kept once, by a text of all its content, and has a number. */
const known = new Map<string, Store>()
const numberOf = new WeakMap<Store, number>()

function canonical(store: Store): Store {
  const counters = store.quotas.flatMap(({ id, window_no, used, reserved, rolled_over }) => {
    return [id, window_no, used, reserved, rolled_over]
  })
  const windows = Array.from(store.windows, ([window, held]) => [window, ...Object.values(held)].join(' '))
  const reservations = Array.from(store.reservations.values(), ({ draws, ...rest }) =>
    [...Object.values(rest), ...draws.flatMap(draw => [draw.quota_id, draw.window_no, draw.from, draw.to])].join(' '),
  )
  const text = [...counters, ...windows.sort(), ...reservations.sort()].join('|')
  const existing = known.get(text)
  if (existing !== undefined) return existing
  // A store belongs to many states, and is audited once.
  audit(store)
  known.set(text, store)
  numberOf.set(store, known.size)
  return store
}

/** The commands that lead to a state, for the message of a failure. */
function pathTo(state: State): string {
  const commands: string[] = []
  for (let at: State | null = state; at?.before != null; at = at.before) commands.unshift(JSON.stringify(at.last))
  return commands.join('\n')
}

test('the naive model agrees for every sequence of a dozen commands', () => {
  const states = [initialState()]
  const seen = new Set(states.map(keyOf))
  // Tries each command in each state until no new state appears, which covers sequences of any length.
  for (const state of states) {
    for (const command of COMMANDS) {
      try {
        const next = after(state, command)
        const key = next === null ? '' : keyOf(next)
        if (next === null || seen.has(key)) continue
        for (const store of next.stores) expectSameCounters(store, next.naive)
        seen.add(key)
        states.push(next)
      } catch (error) {
        throw new Error(`after\n${pathTo(state)}\nfails ${JSON.stringify(command)}`, { cause: error })
      }
    }
  }
  // About 23,000 states. Far fewer would mean that the commands have too little effect.
  expect(states.length).toBeGreaterThan(15_000)
}, 60_000)
