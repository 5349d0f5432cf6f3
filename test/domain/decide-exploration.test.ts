import { expect, test } from 'vitest'
import type { Allowance } from '../../src/domain/quotas/quota.ts'
import type { Command, DrawCommand, SettleCommand } from '../../src/domain/units/command.ts'
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
const QUOTAS: readonly Allowance[] = [
  aQuota({ user_id: 1, id: 10, limit: 2, rollover_limit: 1, overage_limit: 1, priority: 1, ...HOURLY }),
  aQuota({ user_id: 1, id: 11, limit: 2, priority: 2, ...SINGLE }),
  aQuota({ user_id: 1, id: 12, limit: 4, kind: 'cap', ...HOURLY }),
]

function draw(op: DrawCommand['op'], id: string, units: number, fields: Partial<DrawCommand> = {}) {
  const scope = { country: null, message_type: null }
  const rest = {
    ttl_ms: 20 * MINUTE,
    on_expiry: 'release',
    allow_partial: false,
    force: false,
    explain: false,
  } as const
  return { user_id: 1, op, id, units, ...scope, ...rest, ...fields }
}

function settle(op: SettleCommand['op'], id: string, total_units: number | null, force = false) {
  return { user_id: 1, op, id, total_units, force }
}

/** A pseudo-command that advances the clock to the next of `TIMES`. */
const TICK = null

const COMMANDS: (Command | typeof TICK)[] = [
  TICK,
  draw('reserve', 'a', 3, { ttl_ms: 60 * MINUTE }),
  draw('reserve', 'b', 2, { allow_partial: true, on_expiry: 'commit' }),
  draw('consume', 'c', 3, { force: true }),
  settle('commit', 'a', 1),
  settle('commit', 'a', null, true),
  settle('release', 'a', 1),
  settle('release', 'b', null),
  settle('refund', 'a', 1),
  { user_id: 1, op: 'expire', id: 'b' },
  draw('check', '', 9, { allow_partial: true }),
]

/** The second time is exactly the end of a window; at the third, a reservation of the first for an hour expires. */
const TIMES = [at('2026-01-10 10:30'), at('2026-01-10 11:00'), at('2026-01-10 11:30')]

/** A state after some commands: what the database holds, and the naive model. */
interface State {
  time: number
  store: Store
  naive: NaiveLedger
  /** The command that led to it, and the state before that. */
  last: Command | typeof TICK
  before: State | null
}

function initialState(): State {
  return { time: 0, store: canonical(openStore(QUOTAS)), naive: openNaive(QUOTAS), last: TICK, before: null }
}

/** The state after a command, on which the domain and the naive model must agree; null after the last tick. */
function after(before: State, last: Command | typeof TICK): State | null {
  const { time } = before
  if (last === TICK) return time + 1 < TIMES.length ? { ...before, time: time + 1, last, before } : null
  const naive = cloneNaive(before.naive)
  const store = canonical(decideBoth(before.store, naive, last, TIMES[time] ?? Number.NaN))
  return { time, store, naive, last, before }
}

/** A key that holds all of a state: states with equal keys have equal futures. */
function keyOf({ time, store, naive }: State): string {
  const reservations = naive.reservations.map(({ asked, tokens, ...rest }) => {
    const tokenTexts = tokens.map(({ state, payer, caps }) => `${state[0]}${payer},${caps}`)
    return [asked.user_id, asked.id, ...Object.values(rest), ...tokenTexts].join(' ')
  })
  return [time, numberOf.get(store), ...reservations.sort(), ...[...naive.carries].sort()].join('|')
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

test('the naive model agrees for every sequence of eleven commands', () => {
  const states = [initialState()]
  const seen = new Set(states.map(keyOf))
  // Tries each command in each state until no new state appears, which covers sequences of any length.
  for (const state of states) {
    for (const command of COMMANDS) {
      try {
        const next = after(state, command)
        const key = next === null ? '' : keyOf(next)
        if (next === null || seen.has(key)) continue
        expectSameCounters(next.store, next.naive)
        seen.add(key)
        states.push(next)
      } catch (error) {
        throw new Error(`after\n${pathTo(state)}\nfails ${JSON.stringify(command)}`, { cause: error })
      }
    }
  }
  // About 4,200 states. Far fewer would mean that the commands have too little effect.
  expect(states.length).toBeGreaterThan(3_000)
})
