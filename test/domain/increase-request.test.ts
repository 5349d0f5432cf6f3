/** Which grant a request for more units concerns, and which requests need no person. */
import { expect, test } from 'vitest'
import {
  grantToIncrease,
  type IncreaseRequest,
  isSameApproval,
  isSmall,
} from '../../src/domain/quotas/increase-request.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-10 12:00')
const END = at('2026-02-01')

test('the grant that pays first gets the units, or the one that is named; never what cannot get any', () => {
  const grants = [aQuota({ id: 64, priority: 200 }), aQuota({ id: 192 }), aQuota({ id: 128 })]
  const unfit: Partial<Quota>[] = [
    { kind: 'cap', priority: 0 },
    { limit: null, priority: 0 },
    { enabled: false, priority: 0 },
    { expires_at: NOW, priority: 0 },
    { starts_at: NOW + 1, priority: 0 },
    { metadata: { extends_quota: '64' }, priority: 0 },
  ]
  const others = unfit.map((fields, n) => aQuota({ id: 1_000 + n, ...fields }))
  const idOf = (quotaId: number | null) => grantToIncrease([...others, ...grants], quotaId, NOW)?.id
  expect(idOf(null)).toBe(128)
  expect([64, 128, 192].map(idOf)).toEqual([64, 128, 192])
  expect(others.map(({ id }) => idOf(id))).toEqual(others.map(() => undefined))
  expect(idOf(7_777)).toBeUndefined()
  expect(grantToIncrease(others, null, NOW)).toBeUndefined()
})

const MONTHLY = { limit: 105 }
const ONE_TIME = { limit: 105, period: null, window_end: null }
test.each<[number, number | null, number, Partial<Quota>, boolean]>([
  [10, END, 10, MONTHLY, true],
  [11, END, 10, MONTHLY, false],
  [105, END, 100, MONTHLY, true],
  [1, END, 0, MONTHLY, false],
  // What outlasts the window would count again in the next.
  [1, END + 1, 10, MONTHLY, false],
  [1, null, 10, MONTHLY, false],
  [1, END - 1, 10, { ...MONTHLY, expires_at: END - 1 }, true],
  [1, END, 10, { ...MONTHLY, expires_at: END - 1 }, false],
  // The only window of a grant without a period is as long as the grant.
  [10, null, 10, ONE_TIME, true],
  [10, END, 10, ONE_TIME, true],
  [10, END, 10, { ...ONE_TIME, expires_at: END - 1 }, false],
])('%d units until %s are small for %d percent of %o: %s', (units, until, percent, fields, expected) => {
  expect(isSmall({ units, until, reason: 'Sale' }, aQuota(fields), percent)).toBe(expected)
})

test('a repeated approval says nothing, or what was given', () => {
  const request: IncreaseRequest = {
    id: 7,
    user_id: 7,
    quota_id: 64,
    units: 50,
    until: null,
    reason: 'Sale',
    status: 'approved',
    created_at: NOW,
    decided_at: NOW,
    decided_by: 'ada',
    note: null,
    granted_units: 30,
    granted_until: END,
    granted_quota_id: 128,
  }
  const isSame = (approval: Parameters<typeof isSameApproval>[1]) => isSameApproval(request, approval)
  expect([{}, { units: 30 }, { until: END }, { units: 30, until: END }].map(isSame)).toEqual([true, true, true, true])
  expect([{ units: 50 }, { until: null }, { units: 30, until: END + 1 }].map(isSame)).toEqual([false, false, false])
  expect(isSameApproval({ ...request, status: 'declined', granted_units: null }, {})).toBe(false)
})
