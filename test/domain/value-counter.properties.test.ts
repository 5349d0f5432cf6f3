/** Caps that count each value by itself, against a model that looks at all messages of a window each time. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Allowance, Quota } from '../../src/domain/quotas/quota.ts'
import { type EpochMs, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand } from '../../src/domain/units/command.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import type { Reservation } from '../../src/domain/units/reservation.ts'
import { countedValueOf, counterOf, type KeyOf, type ValueCounter } from '../../src/domain/units/value-counter.ts'
import { runs } from '../support/runs.ts'
import { created } from './fixture.ts'
import { BEGIN, drawing, reading, settling } from './ledger-arbitrary.ts'

const USER = 7

/** The values are few: the hash of one is its place among them. */
const VALUES = ['DE', 'FR', '+491', '+492', 'sales']
const keyOf: KeyOf = (of, command) => {
  const value = countedValueOf(of, command)
  return value === null ? null : BigInt(VALUES.indexOf(value))
}

const caps = fc.array(
  fc.record({
    kind: fc.constant('cap' as const),
    per: fc.constantFrom('recipient', 'country', 'tag'),
    counts: fc.constantFrom('units', 'messages', 'messages'),
    period: fc.constantFrom('minute', 'hour', 'hour'),
    limit: fc.nat(7),
  }),
  { minLength: 1, maxLength: 3 },
)

const draws = fc
  .record({
    command: drawing(USER, true),
    recipient: fc.constantFrom(undefined, '+491', '+491', '+492'),
    tag: fc.constantFrom(undefined, 'sales'),
    messages: fc.constantFrom(undefined, undefined, 1, 2),
  })
  .map(
    ({ command: { country, ...command }, recipient, tag, messages }): DrawCommand => ({
      ...command,
      country: country === 'FR' ? 'FR' : 'DE',
      ...(recipient === undefined ? {} : { recipient }),
      ...(tag === undefined ? {} : { tag }),
      ...(messages === undefined ? {} : { messages }),
    }),
  )

const commands: fc.Arbitrary<Command> = fc.oneof(
  draws,
  draws,
  draws,
  settling(USER, true),
  settling(USER, true),
  reading(USER),
)
const steps = fc.array(
  fc.record({
    later: fc.oneof(fc.nat(20_000), fc.nat(20_000), fc.nat(2 * HOUR_MS)),
    behind: fc.nat(10_000),
    command: commands,
  }),
  { minLength: 1, maxLength: 30, size: 'max' },
)

const startOf = ({ period }: Quota, at: EpochMs) => at - (at % (period === 'minute' ? MINUTE_MS : HOUR_MS))
const endOf = (cap: Quota, start: EpochMs) => start + (cap.period === 'minute' ? MINUTE_MS : HOUR_MS)

/** What a message counts under a cap: by its units, or as long as any of them was not given back. */
function countOf({ counts }: Quota, { units, committed, released, refunded, messages = 1 }: Reservation) {
  const [used, reserved] = [committed - refunded, units - committed - released]
  if (counts === 'units') return { used, reserved }
  return { used: used > 0 ? messages : 0, reserved: used === 0 && reserved > 0 ? messages : 0 }
}

/** A message under a cap: of which value, in which window, and what is counted of it there. */
interface Counted {
  cap: Quota
  id: string
  key: bigint
  start: EpochMs
  used: number
  reserved: number
}

const sumIn = (counted: readonly Counted[], cap: Quota, key: bigint | null, start: EpochMs) => {
  const sum = { used: 0, reserved: 0 }
  for (const one of counted) {
    if (one.cap !== cap || one.key !== key || one.start !== start) continue
    sum.used += one.used
    sum.reserved += one.reserved
  }
  return sum
}

test('counters of open windows are what their messages count, and no limit is passed without force', () => {
  fc.assert(
    fc.property(caps, steps, (drafts, all) => {
      // At a boundary of all periods, before the clock that lags most.
      const made = BEGIN - HOUR_MS / 2
      const grant = created({ limit: null }, made)
      const ofValues = drafts.map((draft, index): Quota => ({ ...created(draft, made), id: 65 + index }))
      let quotas: readonly Allowance[] = [grant, ...ofValues]
      let reservations: ReadonlyMap<string, Reservation> = new Map()
      const stored = new Map<string, ValueCounter>()
      const counted: Counted[] = []
      let clock = BEGIN
      for (const { later, behind, command } of all) {
        clock += later
        const now = clock - behind
        const known = reservations.get(command.id)
        const draft = createDraft(USER, quotas, reservations.values(), { keyOf, stored })
        const { outcome } = decide(draft, command, now, { observe: false })

        const isNew =
          known === undefined && (command.op === 'check' || command.op === 'reserve' || command.op === 'consume')
        if (isNew && !command.force) {
          const matching = ofValues.filter(cap => keyOf(cap.per ?? 'tag', command) !== null)
          const rooms = matching.map(cap => {
            const { used, reserved } = sumIn(counted, cap, keyOf(cap.per ?? 'tag', command), startOf(cap, now))
            const room = Math.max(0, (cap.limit ?? 0) - used - reserved)
            if (cap.counts === 'units') return room
            return room >= (command.messages ?? 1) ? Number.POSITIVE_INFINITY : 0
          })
          const room = Math.min(command.units, ...rooms)
          const isGranted = room === command.units || (command.allow_partial && room > 0)
          expect(outcome === 'denied').toBe(!isGranted)
        }

        // What the command made or changed, in windows that are open at its time.
        for (const [id, after] of draft.reservations) {
          if (reservations.get(id) === after) continue
          for (const cap of ofValues) {
            const of = cap.per ?? 'tag'
            if (isNew && id === command.id && command.op !== 'check') {
              const key = keyOf(of, command)
              if (key !== null) counted.push({ cap, id, key, start: startOf(cap, now), ...countOf(cap, after) })
            }
            for (const one of counted)
              if (one.cap === cap && one.id === id && endOf(cap, one.start) > now)
                Object.assign(one, countOf(cap, after))
          }
        }
        for (const [place, cap] of draft.valueCaps) if (cap.isDrawn) stored.set(place, counterOf(cap))
        quotas = draft.quotas
        reservations = new Map(draft.reservations)

        for (const counter of stored.values()) {
          const cap = ofValues.find(({ id }) => id === counter.quota_id)
          if (cap === undefined || counter.window_end <= clock) continue
          expect({ used: counter.used, reserved: counter.reserved }).toEqual(
            sumIn(counted, cap, counter.key, counter.window_start),
          )
        }
        for (const one of counted) {
          const { used, reserved } = sumIn(counted, one.cap, one.key, one.start)
          const place = `${one.cap.id} ${one.start} ${one.key}`
          if (endOf(one.cap, one.start) > clock && used + reserved > 0)
            expect(stored.get(place)).toMatchObject({ used, reserved })
        }
      }
    }),
    { numRuns: runs(1_000) },
  )
})
