import { expect, test } from 'vitest'
import { type Allowance, roll } from '../../src/domain/quotas/quota.ts'
import { segmentsPaidBy } from '../../src/domain/rates/rate.ts'
import { NO_RATES, type RateBook } from '../../src/domain/rates/rate-book.ts'
import { type EpochMs, formatTimestamp } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand, Outcome } from '../../src/domain/units/command.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { type Draw, outstandingOf, type Reservation, stateOf, unfundedOf } from '../../src/domain/units/reservation.ts'
import { aQuota, at } from './fixture.ts'
import { audit, change, commit, draftOf, openStore, type Store } from './ledger-store.ts'

/**
 * Tables of operations, one per line or between `; `, each with the expected outcome behind `→`; `// …` is a comment.
 *
 *     @02-01T12:00 …                          sets the clock (in 2026; it starts at 01-10T12:00)
 *     reserve a 5 to DE type otp ttl 60 on_expiry commit partial force explain
 *     check 5 …    consume a 5 …              draws; a check has no id
 *     commit a 3 force verified    release a    refund a    feedback a    expire a    find a
 *     reserve a 3seg number 4930…  commit a 2seg    refund a 1seg     a message of three segments, which a rate card may price
 *     quota 1      window 1 0                 a quota's counters now, and those of its closed window 0
 *     set 1 {"enabled":false}                 an administrator's change, without an outcome; null deletes
 *
 * An expectation starts with the outcome, followed by the facts that matter, in the order of `factsOf`.
 */
type Line = readonly [operation: string, expected: string]

/** A monthly quota in the window of January 2026; with `...SINGLE` in `fields`, without a period. */
export const grant = (id: number, limit: number | null, fields: Partial<Allowance> = {}) =>
  aQuota({ id, limit, ...fields })
export const cap = (id: number, limit: number, fields: Partial<Allowance> = {}) =>
  aQuota({ id, limit, kind: 'cap', ...fields })
export const SINGLE = { period: null, window_end: null } as const

interface Mode {
  observe: boolean
  rates: RateBook
  /** Whether lines share a draft as far as possible, like a batch, or have a draft each. */
  batched: boolean
}

/**
 * Tests that every line has its outcome, decided one by one and in batches, and that the ledger is consistent after each
 * transaction.
 */
export function table(name: string, quotas: readonly Allowance[], observe = false, rates = NO_RATES) {
  return (texts: TemplateStringsArray, ...parts: readonly string[]): void => {
    const lines = linesOf(String.raw({ raw: texts }, ...parts))
    test(name, () => {
      for (const batched of [false, true]) {
        expect(outcomes(quotas, lines, { observe, rates, batched })).toEqual(lines)
      }
    })
  }
}

function linesOf(text: string): Line[] {
  const lines = text.split(/\n|; /).map(line => line.trim())
  return lines.flatMap((line): Line[] => {
    const [operation = '', expected = 'done'] = line.split(' → ')
    return operation === '' || operation.startsWith('// ') ? [] : [[operation, expected]]
  })
}

function outcomes(quotas: readonly Allowance[], lines: readonly Line[], { observe, rates, batched }: Mode): Line[] {
  let store = openStore(quotas)
  let draft = draftOf(store)
  let now = at('2026-01-10 12:00')
  const settle = () => {
    store = commit(store, draft)
    audit(store)
    draft = draftOf(store)
  }
  const shownLines = lines.map(([operation, expected]): Line => {
    const words = operation.split(' ')
    if (words[0]?.startsWith('@')) now = timeOf(words.shift()?.slice(1) ?? '')
    const [verb = '', ...rest] = words
    if (verb === 'quota' || verb === 'window' || verb === 'set') {
      settle()
      if (verb === 'set') store = changed(store, rest, now)
      draft = draftOf(store)
      return [operation, verb === 'set' ? 'done' : shown(readCounters(store, verb, rest, now), expected)]
    }
    const outcome = decide(draft, commandOf(verb, rest), now, { observe, rates })
    if (!batched) settle()
    return [operation, shown(factsOf(outcome), expected)]
  })
  settle()
  return shownLines
}

/* ── Parsing a line ─────────────────────────────────────────────────────────────────────────────────────────────── */

function timeOf(text: string): EpochMs {
  return at((/^\d{4}-/.test(text) ? text : `2026-${text}`).replace('T', ' '))
}

function commandOf(op: string, words: string[]): Command {
  const id = op === 'check' ? '' : (words.shift() ?? '')
  const [, amount, isSegments] = /^(\d+)(seg)?$/.exec(words[0] ?? '') ?? []
  if (amount !== undefined) words.shift()
  const units = amount === undefined ? null : Number(amount)
  const segments = units === null || isSegments === undefined ? {} : { segments: units }
  const total =
    isSegments === undefined || units === null ? { total_units: units } : { total_units: null, total_segments: units }
  const command = { user_id: 7, id, force: takeFlag(words, 'force') }
  switch (op) {
    case 'check':
    case 'reserve':
    case 'consume': {
      const draw: DrawCommand = {
        ...command,
        op,
        units: units ?? Number.NaN,
        ...segments,
        ...numberOf(takeOption(words, 'number')),
        country: takeOption(words, 'to'),
        message_type: takeOption(words, 'type'),
        ttl_ms: 1000 * Number(takeOption(words, 'ttl') ?? 600),
        on_expiry: takeOption(words, 'on_expiry') === 'commit' ? 'commit' : 'release',
        allow_partial: takeFlag(words, 'partial'),
        explain: takeFlag(words, 'explain'),
      }
      return allRead(draw, words)
    }
    case 'commit':
      return allRead({ ...command, op, ...total, verified: takeFlag(words, 'verified') }, words)
    case 'release':
    case 'refund':
      return allRead({ ...command, op, ...total }, words)
    case 'feedback':
    case 'expire':
    case 'find':
      return allRead({ op, user_id: 7, id }, words)
    default:
      throw new Error(`no such operation: ${op}`)
  }
}

const numberOf = (digits: string | null) => (digits === null ? {} : { recipient: `+${digits}` })

function takeFlag(words: string[], name: string): boolean {
  const index = words.indexOf(name)
  if (index >= 0) words.splice(index, 1)
  return index >= 0
}

function takeOption(words: string[], name: string): string | null {
  const index = words.indexOf(name)
  return index < 0 ? null : (words.splice(index, 2)[1] ?? null)
}

function allRead<T>(command: T, left: string[]): T {
  if (left.length > 0) throw new Error(`what is ${left.join(' ')}?`)
  return command
}

function changed(store: Store, [id = '', ...json]: string[], now: EpochMs): Store {
  const fields = JSON.parse(json.join(' ')) as Partial<Allowance> | null
  return change(store, Number(id), fields ?? { deleted_at: now }, now)
}

/* ── Writing an outcome ─────────────────────────────────────────────────────────────────────────────────────────── */

interface Facts {
  /** Always printed. */
  head: string
  /** Printed in this order if the expectation names them. */
  [name: string]: string | number | boolean | null
}

function shown({ head, ...facts }: Facts, expected: string): string {
  // After the outcome, names and values alternate; a value may equal another fact's name.
  const pairs = expected.startsWith(head) ? expected.slice(head.length).trim() : ''
  const named = new Set(pairs.split(' ').filter((_, index) => index % 2 === 0))
  const words = Object.entries(facts).filter(([name]) => named.has(name))
  return [head, ...words.flatMap(([name, fact]) => [name, String(fact)])].join(' ')
}

function factsOf(outcome: Outcome): Facts {
  switch (outcome.outcome) {
    case 'granted': {
      const { reservation, replayed, would_deny, remaining, explanation } = outcome
      const head = `granted ${reservation.units}${replayed ? ' replayed' : ''}`
      const observed = would_deny === null ? '' : ` would_deny ${would_deny}`
      const explained = explanation === null ? null : explainedBy(explanation)
      return { head: head + observed, ...reservationFacts(reservation), remaining, explained }
    }
    case 'denied': {
      const { reason, remaining, limiting_quota_id, retry_at, explanation } = outcome
      const explained = explanation === null ? null : explainedBy(explanation)
      return { head: `denied ${reason}`, remaining, by: limiting_quota_id, retry: formatTime(retry_at), explained }
    }
    case 'settled':
    case 'found':
      return { head: outcome.replayed ? 'replayed' : outcome.outcome, ...reservationFacts(outcome.reservation) }
    case 'not_found':
      return { head: 'not_found' }
    case 'idempotency_mismatch':
      return { head: `mismatch ${outcome.fields.join(' ')}` }
    case 'reservation_closed':
      return { head: 'closed', ...reservationFacts(outcome.reservation) }
    case 'exceeds_reservation':
      return { head: 'exceeds', ...reservationFacts(outcome.reservation) }
    case 'no_rate':
      return { head: 'unpriced', ...reservationFacts(outcome.reservation) }
    case 'exceeds_committed':
      return { head: 'uncommitted', ...reservationFacts(outcome.reservation) }
  }
}

function reservationFacts(reservation: Reservation) {
  const { units, price, committed, released, refunded, verified, expires_at, draws } = reservation
  return {
    state: stateOf(reservation),
    units,
    segments: price === undefined ? null : segmentsPaidBy(units, price),
    rate: price === undefined ? null : `${price.card_id}v${price.version}:${price.per_segment}+${price.per_message}`,
    committed,
    released,
    refunded,
    outstanding: outstandingOf(reservation),
    unfunded: unfundedOf(reservation),
    verified,
    draws: draws.map(shownDraw).join('+') || 'none',
    until: formatTime(expires_at),
  }
}

/** `1:5`, five units of quota 1; `1#2:5` if not in its first window. */
function shownDraw({ quota_id, window_no, from, to }: Draw): string {
  return `${quota_id}${window_no === 0 ? '' : `#${window_no}`}:${to - from}`
}

function explainedBy(explanation: readonly { quota_id: number; verdict: string; units: number }[]): string {
  return explanation.map(({ quota_id, verdict, units }) => `${quota_id}:${verdict}:${units}`).join('+')
}

/** `02-01`, `02-01T12:00`, `2027-01-01`; `never` for null. */
function formatTime(time: EpochMs | null): string {
  if (time === null) return 'never'
  return formatTimestamp(time)
    .replace(/^2026-/, '')
    .replace(/(:00)?\.000Z$/, '')
    .replace(/T00:00$/, '')
}

function readCounters(store: Store, what: 'quota' | 'window', [id, windowNo]: string[], now: EpochMs): Facts {
  if (what === 'quota') {
    const stored = store.quotas.find(quota => quota.id === Number(id))
    if (stored === undefined) throw new Error(`no quota ${id}`)
    const { window_no, used, reserved, rolled_over } = roll(stored, now).quota
    return { head: `window ${window_no}`, used, reserved, rolled_over }
  }
  const window = store.windows.get(`${id}:${windowNo}`)
  if (window === undefined) throw new Error(`no closed window ${windowNo} of quota ${id}`)
  const { used, reserved, carried } = window
  return { head: 'closed', used, reserved, carried }
}
