/** What a newer version may have stored is refused, and no search for it goes on forever. */
import { describe, expect, test } from 'vitest'
import { UnknownValue } from '../../src/domain/basics/unknown-value.ts'
import { applyBulkChange } from '../../src/domain/quotas/bulk-change.ts'
import { changeQuota, type Quota, roll } from '../../src/domain/quotas/quota.ts'
import { boundariesAhead } from '../../src/domain/time/calendar.ts'
import type { Period } from '../../src/domain/time/period.ts'
import { plainCalendar } from '../../src/domain/time/period.ts'
import { boundariesBetween, lastBoundary, nextBoundary } from '../../src/domain/time/window.ts'
import { viewOf } from '../../src/domain/units/view.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-20')
const CONTEXT = { now: NOW, actor: 'ada' }

/** As a row brings it: its type says what this version knows. */
const periodOf = (text: string): Period => JSON.parse(JSON.stringify(text))
const quotaWith = (fields: object): Quota => ({ ...aQuota(), ...JSON.parse(JSON.stringify(fields)) })

describe.each(['second', 'fortnight', 'decade', ''])('of a period "%s" that this version does not know', text => {
  const period = periodOf(text)
  test.each([
    ['the next boundary', () => nextBoundary(plainCalendar(period, 'UTC'), NOW)],
    ['the last boundary', () => lastBoundary(plainCalendar(period, 'UTC'), NOW)],
    ['the boundaries between two times', () => boundariesBetween(plainCalendar(period, 'UTC'), NOW - 1_000, NOW)],
    ['the boundaries ahead', () => boundariesAhead(plainCalendar(period, 'UTC'), NOW)],
  ])('%s are refused', (_, find) => expect(find).toThrow(UnknownValue))
})

const UNKNOWN: [string, Quota, string][] = [
  ['period', quotaWith({ period: 'second' }), 'the period of quota 64 is "second"'],
  ['kind', quotaWith({ kind: 'loan' }), 'the kind of quota 64 is "loan"'],
  ['anchor', quotaWith({ anchor: 'last' }), 'the anchor of quota 64 is "last"'],
  ['anchor of its period', quotaWith({ period: 'week', anchor: '3' }), 'the anchor of quota 64 is "3"'],
]
test.each(UNKNOWN)(
  'a quota with an unknown %s is neither shown nor rolled, in an open window either',
  (_, quota, what) => {
    expect(() => roll(quota, NOW)).toThrow(`${what}, which this version of the service does not know`)
    expect(() => viewOf(quota, NOW)).toThrow(UnknownValue)
  },
)

test.each(UNKNOWN)('a change of a quota with an unknown %s is refused, also one of its name', (_, quota) => {
  expect(changeQuota(quota, {}, CONTEXT)).toMatchObject({ outcome: 'unknown_value' })
  for (const action of ['suspend', 'resume', 'delete'] as const)
    expect(applyBulkChange(quota, { action }, CONTEXT)).toMatchObject({ outcome: 'unknown_value' })
  const adjust = { action: 'adjust', delta: 1, reason: 'more' } as const
  expect(applyBulkChange(quota, adjust, CONTEXT)).toMatchObject({ outcome: 'unknown_value' })
})
