import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EXHAUSTED, newAlerts } from '../../src/domain/quotas/alerts.ts'
import { type Allowance, headroomOf, roll } from '../../src/domain/quotas/quota.ts'
import { decide } from '../../src/domain/units/decide.ts'
import { runs } from '../support/runs.ts'
import { type Step, scenarios } from './ledger-arbitrary.ts'
import { change, commit, draftOf, openStore, type Store } from './ledger-store.ts'

function step(store: Store, { now, action }: Step): Store {
  if (action.op === 'change') return change(store, action.quota_id, action.fields, now)
  const draft = draftOf(store)
  decide(draft, action, now, { observe: false })
  return commit(store, draft)
}

/** The contract's definition for a quota after a command: percentages of limit + rolled_over that `used` has reached. */
const reachedBy = ({ limit, rolled_over, used, alert_at, deleted_at }: Allowance) =>
  alert_at.filter(
    percent => limit !== null && deleted_at === null && used > 0 && used / (limit + rolled_over) >= percent / 100,
  )

test('each percentage is emitted, and exhaustion marked, once per window, by the command that reaches it, even if units are refunded and used again', () => {
  const percents = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(scenarios({ lag: true }), percents, ({ quotas, steps }, alert_at) => {
      let store = openStore(quotas.map(quota => ({ ...quota, alert_at: alert_at.toSorted((a, b) => a - b) })))
      const emittedBy = new Map<string, number[]>()
      for (const one of steps) {
        const before = store
        store = step(store, one)
        for (const [index, quota] of store.quotas.entries()) {
          const known = before.quotas[index]
          if (known === undefined) throw new Error('a store has lost a quota')
          const window = `${quota.id}:${quota.window_no}`
          const emitted = emittedBy.get(window) ?? []
          const news = newAlerts(known, quota)
          expect(
            emitted.filter(percent => news.includes(percent)),
            'emitted twice',
          ).toEqual([])
          emittedBy.set(window, [...emitted, ...news])
          expect([...alert_at, EXHAUSTED]).toEqual(expect.arrayContaining([...news]))
          // changeQuota emits for a lowered limit; the changes of this test do not use it.
          const wasUsed = known.window_no === quota.window_no ? known.used : 0
          const isNewlyBooked = quota.used + quota.reserved > known.used + known.reserved
          // A forced commit may charge a quota that is deleted, which has no marks.
          if (isNewlyBooked && headroomOf(quota) <= 0 && quota.deleted_at === null)
            expect(quota.alerted).toContain(EXHAUSTED)
          if (quota.used > wasUsed) expect(emittedBy.get(window)).toEqual(expect.arrayContaining(reachedBy(quota)))
        }
      }
    }),
    { numRuns: runs(1000) },
  )
})

test('a batch emits the same percentages as its commands one by one', () => {
  fc.assert(
    fc.property(scenarios(), ({ quotas, steps }) => {
      const commands = steps.flatMap(({ action }) => (action.op === 'change' ? [] : [action]))
      const now = steps.at(-1)?.now ?? 0
      const opened = openStore(quotas.map(quota => roll(quota, now).quota))
      const draft = draftOf(opened)
      for (const command of commands) decide(draft, command, now, { observe: false })
      const alone = commands.reduce((store, action) => step(store, { now, action }), opened)
      expect(draft.quotas.map(({ alerted }) => alerted)).toEqual(alone.quotas.map(({ alerted }) => alerted))
    }),
    { numRuns: runs(500) },
  )
})
