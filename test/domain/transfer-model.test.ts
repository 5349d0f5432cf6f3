/**
 * A model of transfers, explored in every order of its steps: two transfers in opposite directions, each of which may crash at any step and
 * is repeated until it is answered, and a sender who decides from memory. What the model does at once is one statement, or one commit.
 */
import { expect, test } from 'vitest'

/** A rule of the design. Without one of them, the model must break. */
interface Rules {
  /** Accounts are locked in ascending order. */
  isOrdered: boolean
  /** Both sides are committed together. */
  isOneTransaction: boolean
  /** A call that is repeated under its key changes nothing more. */
  hasKey: boolean
  /** A change gives the giver's quota a new `seq`, so that no engine writes what it decided from memory. */
  isFenced: boolean
}

const RULES: Rules = { isOrdered: true, isOneTransaction: true, hasKey: true, isFenced: true }

interface Call {
  from: 0 | 1
  step: 'idle' | 'locking' | 'locked' | 'half' | 'done'
  /** The accounts that it has locked, in order. */
  held: number
  crashes: number
}

interface State {
  /** What can be spent, and the `seq`, of each of the two quotas. */
  units: [number, number]
  seq: [number, number]
  locks: [number | null, number | null]
  calls: [Call, Call]
  /** Which of the calls have taken effect, by their keys, and how often. */
  effects: [number, number]
  sender: { known: { units: number; seq: number } | null; sent: number; left: number }
}

const UNITS: [number, number] = [2, 1]
const MOVED = 1

const START: State = {
  units: UNITS,
  seq: [0, 0],
  locks: [null, null],
  calls: [call(0), call(1)],
  effects: [0, 0],
  sender: { known: null, sent: 0, left: 2 },
}

function call(from: 0 | 1): Call {
  return { from, step: 'idle', held: 0, crashes: 0 }
}

const orderOf = ({ from }: Call, { isOrdered }: Rules): readonly (0 | 1)[] =>
  isOrdered ? [0, 1] : from === 0 ? [0, 1] : [1, 0]

/** The states that one step of a call leads to. */
function stepsOf(state: State, n: 0 | 1, rules: Rules): State[] {
  const own = state.calls[n]
  const next: State[] = []
  const add = (change: (copy: State, own: Call) => void) => {
    const copy = structuredClone(state)
    change(copy, copy.calls[n])
    next.push(copy)
  }
  const release = (copy: State) => {
    for (const account of [0, 1] as const) if (copy.locks[account] === n) copy.locks[account] = null
  }
  // The process is killed, or the answer is lost: the caller asks again.
  if (own.step !== 'idle' && own.crashes < 1)
    add((copy, crashed) => {
      release(copy)
      Object.assign(crashed, { step: 'idle', held: 0, crashes: own.crashes + 1 })
    })
  if (own.step === 'idle') add((_, begun) => Object.assign(begun, { step: 'locking', held: 0 }))
  if (own.step === 'locking') {
    const account = orderOf(own, rules)[own.held]
    if (account === undefined) add((_, locked) => Object.assign(locked, { step: 'locked' }))
    else if (state.locks[account] === null)
      add((copy, waiting) => {
        copy.locks[account] = n
        waiting.held += 1
      })
  }
  const other = own.from === 0 ? 1 : 0
  const take = (copy: State) => {
    copy.units[own.from] -= MOVED
    if (rules.isFenced) copy.seq[own.from] += 1
    copy.effects[n] += 1
  }
  if (own.step === 'locked')
    add((copy, decided) => {
      const isRepeated = rules.hasKey && copy.effects[n] > 0
      if (!isRepeated && copy.units[own.from] >= MOVED) {
        take(copy)
        if (!rules.isOneTransaction) return void Object.assign(decided, { step: 'half' })
        copy.units[other] += MOVED
      }
      release(copy)
      // The answer may be lost still: only one that arrives ends it.
      decided.step = 'done'
    })
  if (own.step === 'half')
    add((copy, finished) => {
      copy.units[other] += MOVED
      release(copy)
      finished.step = 'done'
    })
  return next
}

/** The sender reads the first quota, decides from what it remembers, and writes if the quota has the `seq` of then. */
function sendsOf(state: State): State[] {
  const { known, left } = state.sender
  if (left === 0) return []
  const copy = structuredClone(state)
  const { sender } = copy
  if (known === null) sender.known = { units: state.units[0], seq: state.seq[0] }
  else if (state.locks[0] !== null) return []
  else if (known.seq !== state.seq[0]) sender.known = null
  else if (known.units < 1) sender.left = 0
  else {
    copy.units[0] -= 1
    copy.seq[0] += 1
    sender.sent += 1
    sender.left -= 1
    sender.known = { units: known.units - 1, seq: copy.seq[0] }
  }
  return [copy]
}

/** What is wrong in a state; undefined if nothing is. */
function faultOf({ units, effects, calls, sender }: State): string | undefined {
  if (Math.min(...units) < 0) return 'oversold'
  if (Math.max(...effects) > 1) return 'moved twice'
  const isWhole = calls.every(({ step }) => step !== 'half')
  if (isWhole && units[0] + units[1] + sender.sent !== UNITS[0] + UNITS[1]) return 'units made or lost'
  return undefined
}

/** The first fault that any order of steps leads to; `stuck` if calls wait for each other for ever. */
function explore(rules: Rules): { fault: string | undefined; states: number } {
  const seen = new Set<string>([JSON.stringify(START)])
  const open = [START]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const fault = faultOf(state)
    if (fault !== undefined) return { fault, states: seen.size }
    const next = [...stepsOf(state, 0, rules), ...stepsOf(state, 1, rules), ...sendsOf(state)]
    const isOver = state.calls.every(({ step }) => step === 'done')
    if (next.length === 0 && !isOver) return { fault: 'stuck', states: seen.size }
    for (const one of next) {
      const key = JSON.stringify(one)
      if (seen.has(key)) continue
      seen.add(key)
      open.push(one)
    }
  }
  return { fault: undefined, states: seen.size }
}

test('in every order of steps, crashes and repeated calls, units are neither made, lost, sold twice nor moved twice', () => {
  const { fault, states } = explore(RULES)
  expect(fault).toBeUndefined()
  expect(states).toBeGreaterThan(1_000)
})

test.each<[keyof Rules, string]>([
  ['isOrdered', 'stuck'],
  ['isOneTransaction', 'units made or lost'],
  ['hasKey', 'moved twice'],
  ['isFenced', 'oversold'],
])('without the rule %s: %s', (rule, fault) => {
  expect(explore({ ...RULES, [rule]: false }).fault).toBe(fault)
})
