import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unitsOf } from '../../src/domain/rates/rate.ts'
import { rateOf } from '../../src/domain/rates/rate-book.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand } from '../../src/domain/units/command.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import { at } from './fixture.ts'
import { BEGIN, drawing, scenarios, settling } from './ledger-arbitrary.ts'
import { cap, grant, table } from './ledger-lines.ts'
import { audit, commit, draftOf, openStore } from './ledger-store.ts'
import { bookOf, line } from './rate-book.ts'

const GERMAN = '4915112345678'
const KAZAKH = '77712345678'
const RATES = bookOf([
  [at('2026-01-01'), [line({ per_segment: 40 }), line({ prefix: '49', per_segment: 3, per_message: 1 })]],
  [at('2026-01-20'), [line({ per_segment: 40 }), line({ prefix: '49', per_segment: 5 })]],
])
const priced = (name: string, quotas: Parameters<typeof table>[1], observe = false) =>
  table(name, quotas, observe, RATES)

describe('a message that a card prices', () => {
  priced('costs its segments by its destination; beside units no card applies', [grant(1, 100)])`
    check 2seg number ${GERMAN} → granted 7 segments 2 rate 1v1:3+1 remaining 100
    reserve a 2seg number ${GERMAN} → granted 7 state reserved segments 2 rate 1v1:3+1 remaining 93
    reserve b 2seg number ${KAZAKH} → granted 80 segments 2 rate 1v1:40+0 remaining 13
    reserve c 2 number ${KAZAKH} → granted 2 segments null rate null remaining 11
    reserve d 2seg number ${KAZAKH} → denied quota_exhausted remaining 11
    commit a → settled state committed committed 7
    quota 1 → window 0 used 7 reserved 82
  `

  priced('keeps its price when prices change, and a repetition is none of another message', [grant(1, 100)])`
    reserve a 3seg number ${GERMAN} ttl 5000000 → granted 10 rate 1v1:3+1
    @01-20T00:00 reserve a 3seg number ${GERMAN} → granted 10 replayed rate 1v1:3+1
    reserve a 2seg number ${GERMAN} → mismatch units
    reserve a 10 number ${GERMAN} → mismatch units
    reserve b 3seg number ${GERMAN} → granted 15 rate 1v2:5+0
    refund b → uncommitted
    commit a → settled committed 10
    refund a → settled state refunded refunded 10
    quota 1 → window 0 used 0 reserved 15
  `

  priced('is granted in part by whole segments', [grant(1, 8)])`
    reserve a 5seg number ${GERMAN} partial → granted 7 segments 2
    reserve a 5seg number ${GERMAN} partial → granted 7 replayed segments 2
    reserve b 1seg number ${GERMAN} partial → denied quota_exhausted remaining 1
    reserve c 1 partial → granted 1
  `

  priced('counts with its units for caps', [grant(1, 100), cap(9, 50)])`
    reserve a 2seg number ${KAZAKH} → denied cap_reached by 9
    reserve a 1seg number ${KAZAKH} → granted 40 draws 1:40+9:40
  `

  priced('is booked in full by force, and in observe mode', [grant(1, 10)], true)`
    reserve a 1seg number ${KAZAKH} → granted 40 would_deny quota_exhausted segments 1
    consume b 1seg number ${KAZAKH} force → granted 40 segments 1
  `
})

describe('settling by segments', () => {
  priced('commits and refunds what they cost', [grant(1, 100)])`
    reserve a 3seg number ${GERMAN} → granted 10
    commit a 2seg → settled committed 7
    commit a 2seg → replayed committed 7
    refund a 1seg → settled refunded 3
    refund a 1seg → replayed refunded 3
    refund a 2seg → settled refunded 7
    release a → settled state refunded released 3
    commit a 4seg → exceeds
    reserve b 3seg number ${GERMAN} → granted 10
    commit b 0seg → replayed
    release b → settled
    quota 1 → window 0 used 0 reserved 0
  `

  priced('needs a rate', [grant(1, 100)])`
    reserve a 3 → granted 3
    commit a 3seg → unpriced
    refund a 3seg → unpriced
    commit b 3seg → not_found
  `

  priced('by force exceeds what was reserved, in the windows of the reservation', [grant(1, 10), cap(9, 12)])`
    reserve a 2seg number ${GERMAN} → granted 7
    commit a 5seg force → settled state committed units 16 segments 5 committed 16 draws 1:16+9:16
    commit a 5seg force → replayed committed 16
    refund a 1seg → settled refunded 3
    quota 1 → window 0 used 13
    quota 9 → window 0 used 13
    reserve a 2seg number ${GERMAN} → granted 16 replayed
    @02-01T00:00 commit a 6seg force → settled committed 19 refunded 0
    quota 1 → window 1 used 0
    window 1 0 → closed used 19
  `

  table('by force exceeds units, too, which nothing pays that did not pay the last of them', [
    grant(1, 4),
    grant(2, 3, { priority: 200 }),
  ])`
    reserve a 6 → granted 6 draws 1:4+2:2
    commit a 9 force → settled committed 9 unfunded 0 draws 1:4+2:5
    set 1 null
    set 2 null
    consume b 2 force → granted 2 unfunded 2
    commit b 3 force → settled committed 3 unfunded 3
  `
})

describe('a priced history', () => {
  const message = fc.record({ segments: fc.integer({ min: 1, max: 3 }), number: fc.constantFrom(GERMAN, KAZAKH) })
  const rates = bookOf([
    [0, [line({ per_segment: 2 }), line({ prefix: '49', per_segment: 1, per_message: 1 })]],
    [BEGIN + 2 * 3_600_000, [line({ per_segment: 1 }), line({ prefix: '49', per_segment: 3 })]],
  ])
  const drawn = fc.tuple(drawing(7, true), message).map(([command, { segments, number }]) => ({
    ...command,
    segments,
    recipient: `+${number}`,
    // A part is of whole segments, which no request for units is.
    allow_partial: false,
  }))
  const step = fc.record({ later: fc.nat(40), command: fc.oneof(drawn, drawn, settling(7, true)) })

  /** The same request for the units that the message costs. */
  function inUnits(
    command: DrawCommand,
    now: EpochMs,
    known: { asked: number; segments: number } | undefined,
  ): DrawCommand {
    const { segments = 0, recipient = '', ...rest } = command
    const digits = recipient.slice(1)
    const rate = rateOf(
      rates,
      { own: null, plan: null },
      { digits, country: command.country, message_type: command.message_type },
      now,
    )
    const units = rate === null ? segments : unitsOf(rate, segments)
    // A repetition asks for the units of its first attempt.
    return {
      ...rest,
      units: known?.segments === segments ? known.asked : units === known?.asked ? units + 1_000 : units,
    }
  }

  test('is one of requests for the units that the messages cost', () => {
    fc.assert(
      fc.property(scenarios(), fc.array(step, { maxLength: 24, size: 'max' }), ({ quotas }, steps) => {
        let [one, other, now] = [openStore(quotas), openStore(quotas), BEGIN]
        const asked = new Map<string, { asked: number; segments: number }>()
        const ran = (store: typeof one, command: Command, with_: typeof rates | undefined) => {
          const draft = draftOf(store)
          const outcome = decide(
            draft,
            command,
            now,
            with_ === undefined ? { observe: false } : { observe: false, rates: with_ },
          )
          const next = commit(store, draft)
          audit(next)
          return { next, outcome }
        }
        for (const { later, command } of steps) {
          now += later * 60_000
          const plain =
            'segments' in command
              ? inUnits(command, now, command.op === 'check' ? undefined : asked.get(command.id))
              : command
          const [priced, unpriced] = [ran(one, command, rates), ran(other, plain, undefined)]
          ;[one, other] = [priced.next, unpriced.next]
          if (
            priced.outcome.outcome === 'granted' &&
            'segments' in command &&
            command.op !== 'check' &&
            !priced.outcome.replayed
          )
            asked.set(command.id, { asked: priced.outcome.reservation.asked, segments: command.segments })
          expect(shownOf(priced.outcome)).toEqual(shownOf(unpriced.outcome))
        }
        expect(one.quotas).toEqual(other.quotas)
        expect([...one.windows]).toEqual([...other.windows])
      }),
    )
  })

  /** An outcome without what only a priced one has. */
  const shownOf = (outcome: ReturnType<typeof decide>) =>
    JSON.parse(JSON.stringify(outcome, (name, value) => (name === 'price' ? undefined : value)))
})

test('committed segments are counted as usage, once, for the grant that pays the first unit', () => {
  const draft = createDraft(7, [grant(1, 100)], [])
  const ask = (command: object) =>
    decide(draft, { user_id: 7, country: 'DE', message_type: null, ...command } as Command, at('2026-01-10'), {
      observe: false,
      rates: RATES,
    })
  const message = { id: 'a', units: 3, segments: 3, recipient: `+${GERMAN}`, ttl_ms: 60_000, on_expiry: 'release' }
  ask({ op: 'reserve', ...message, allow_partial: false, force: false, explain: false })
  ask({ op: 'commit', id: 'a', total_units: null, total_segments: 2, force: false })
  ask({ op: 'commit', id: 'a', total_units: null, total_segments: 4, force: true })
  ask({ op: 'refund', id: 'a', total_units: null, total_segments: 1, force: false })
  const counted = draft.usage.map(({ kind, quota_id, units, messages }) => [kind, quota_id, units, messages])
  expect(counted).toEqual([
    ['committed', 1, 13, 1],
    ['segments', 1, 4, 0],
    ['refunded', 1, 3, 1],
  ])
})
