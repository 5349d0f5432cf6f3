import { expect, test } from 'vitest'
import type { Command, DrawCommand, SettleCommand } from '../../src/domain/command.ts'
import type { Allowance } from '../../src/domain/quota.ts'
import { aQuota, at } from './fixture.ts'
import { audit, openStore, type Store } from './ledger-store.ts'
import { cloneNaive, type NaiveLedger, openNaive } from './naive-ledger.ts'
import { decideBoth, expectSameCounters } from './side-by-side.ts'

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

/** Two grants, one of which starts anew each hour, and a cap over both. */
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

/** The clock moves on as one of the commands, and with it time and again the end of a window or of a reservation. */
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

/** At the second, to the instant, an hour ends; at the third what was reserved for an hour at the first. */
const TIMES = [at('2026-01-10 10:30'), at('2026-01-10 11:00'), at('2026-01-10 11:30')]

/** All that is known after some commands: what the database holds of either user, and the naive model. */
interface World {
  time: number
  stores: readonly [Store, Store]
  naive: NaiveLedger
  /** How it came about. */
  last: Command | typeof TICK
  before: World | null
}

function openWorld(): World {
  const stores = [theOne(openStore(quotasOf(1))), theOne(openStore(quotasOf(2)))] as const
  return { time: 0, stores, naive: openNaive([...quotasOf(1), ...quotasOf(2)]), last: TICK, before: null }
}

/** The world after a command, in which the domain and the naive model agree, or null after the last tick. */
function after(before: World, last: Command | typeof TICK): World | null {
  const { time, stores } = before
  if (last === TICK) return time + 1 < TIMES.length ? { ...before, time: time + 1, last, before } : null
  const naive = cloneNaive(before.naive)
  const now = TIMES[time] ?? Number.NaN
  const step = (store: Store, userId: number) =>
    last.user_id === userId ? theOne(decideBoth(store, naive, last, now)) : store
  return { time, stores: [step(stores[0], 1), step(stores[1], 2)], naive, last, before }
}

/** Whatever has the same key goes on in the same way: all that either side knows is in it. */
function keyOf({ time, stores, naive }: World): string {
  const bookings = naive.bookings.map(({ asked, tokens, ...rest }) => {
    const laid = tokens.map(({ state, payer, caps }) => `${state[0]}${payer},${caps}`)
    return [asked.user_id, asked.id, ...Object.values(rest), ...laid].join(' ')
  })
  const numbers = stores.map(store => numberOf.get(store))
  return [time, ...numbers, ...bookings.sort(), ...[...naive.carries].sort()].join('|')
}

/** Each state of the books is kept once, by a text that says all of it, and has a number. */
const known = new Map<string, Store>()
const numberOf = new WeakMap<Store, number>()

function theOne(store: Store): Store {
  const counters = store.quotas.flatMap(({ id, window_no, used, reserved, rolled_over }) => {
    return [id, window_no, used, reserved, rolled_over]
  })
  const windows = Array.from(store.windows, ([window, held]) => [window, ...Object.values(held)].join(' '))
  const reservations = Array.from(store.reservations.values(), ({ draws, ...rest }) =>
    [...Object.values(rest), ...draws.flatMap(draw => [draw.quota_id, draw.window_no, draw.from, draw.to])].join(' '),
  )
  const text = [...counters, ...windows.sort(), ...reservations.sort()].join('|')
  const one = known.get(text)
  if (one !== undefined) return one
  // Each is met in many worlds, and audited once.
  audit(store)
  known.set(text, store)
  numberOf.set(store, known.size)
  return store
}

/** The commands that lead to a world, for whoever has to find out why it is wrong. */
function pathTo(world: World): string {
  const commands: string[] = []
  for (let at: World | null = world; at?.before != null; at = at.before) commands.unshift(JSON.stringify(at.last))
  return commands.join('\n')
}

test('in whatever order a dozen commands come, and however often, the naive model says the same', () => {
  const worlds = [openWorld()]
  const seen = new Set(worlds.map(keyOf))
  // Each command is tried in each world there is until no new one appears: so every sequence of any length is covered.
  for (const world of worlds) {
    for (const command of COMMANDS) {
      try {
        const next = after(world, command)
        const key = next === null ? '' : keyOf(next)
        if (next === null || seen.has(key)) continue
        for (const store of next.stores) expectSameCounters(store, next.naive)
        seen.add(key)
        worlds.push(next)
      } catch (error) {
        throw new Error(`after\n${pathTo(world)}\ncomes ${JSON.stringify(command)}`, { cause: error })
      }
    }
  }
  // Some 23,000 worlds: far fewer would mean that the commands had lost their bite.
  expect(worlds.length).toBeGreaterThan(15_000)
}, 60_000)
