/** What a user can ask for, what an approval says, and who asks. */
import { expect, test } from 'vitest'
import {
  type Approval,
  approvalOf,
  canDecide,
  currentRequests,
  draftOf,
  durationsOf,
  fullApproval,
  type IncreaseRequest,
  increasableGrants,
  noteOf,
} from '../../console/src/model/increase-requests.ts'
import type { SmsQuota } from '../../src/contract/quotas.ts'
import { EXTRA_NAME } from '../../src/domain/quotas/extra-grant.ts'
import { QUOTA } from './quota-fixture.ts'

const NOW = Date.parse('2026-03-15T12:00:00Z')
const END = '2026-04-01T00:00:00.000Z'
const MONTHLY: SmsQuota = { ...QUOTA, period: 'month', window_end: END }
const REQUEST: IncreaseRequest = {
  ...{ id: 320, user_id: 7, quota_id: 1, units: 500, until: '2026-03-20T12:00:00.250Z', reason: 'Sale' },
  ...{ status: 'open', created_at: '2026-03-15T12:00:00.000Z' },
  ...{ decided_at: null, decided_by: null, note: null, granted: null },
}

test('units are asked for on grants that count now and have a limit, the oldest first', () => {
  const quotas: SmsQuota[] = [
    { ...QUOTA, id: 9 },
    { ...QUOTA, id: 8, kind: 'cap' },
    { ...QUOTA, id: 7, limit: null },
    { ...QUOTA, id: 6, status: 'suspended' },
    { ...QUOTA, id: 5, status: 'exhausted', name: 'Package' },
    { ...QUOTA, id: 4, name: `${EXTRA_NAME} Package` },
  ]
  expect(increasableGrants(quotas).map(({ id }) => id)).toEqual([5, 9])
})

test('only a window that ends can be chosen', () => {
  expect(durationsOf(MONTHLY)).toEqual(['window', 'day', 'always'])
  expect(durationsOf(QUOTA)).toEqual(['day', 'always'])
})

test.each([
  ['window', END],
  ['day', '2026-03-16T12:00:00.000Z'],
  ['always', null],
] as const)('units for the duration “%s” end at %s', (duration, until) => {
  expect(draftOf({ units: '1,500', duration, reason: ' Sale ' }, MONTHLY, NOW)).toEqual({
    quota_id: 1,
    units: 1_500,
    until,
    reason: 'Sale',
  })
})

test.each<[Partial<Approval>, object]>([
  [{}, {}],
  [{ units: ' 500 ' }, {}],
  [{ units: '300' }, { units: 300 }],
  [{ units: 'many' }, { units: 'many' }],
  [{ until: '' }, { until: null }],
  [{ note: ' For now. ' }, { note: 'For now.' }],
])('an approval with %j says %j', (changed, said) => {
  expect(approvalOf({ ...fullApproval(REQUEST), ...changed }, REQUEST)).toEqual(said)
})

test('an approval of units for good can give them an end, and a refusal says only the note', () => {
  const forGood = { ...REQUEST, until: null }
  expect(approvalOf(fullApproval(forGood), forGood)).toEqual({})
  const input = { ...fullApproval(forGood), until: '2026-03-21T00:00' }
  expect(approvalOf(input, forGood)).toEqual({ until: new Date('2026-03-21T00:00').toISOString() })
  expect(noteOf(input)).toEqual({})
})

test('who gives a bounded number of units declines no more', () => {
  expect([null, 500, 499].map(bound => canDecide(REQUEST, bound))).toEqual([true, true, false])
})

test('the requests of a user are the open ones and those that were decided in the last day, each once', () => {
  const decided = (id: number, decided_at: string): IncreaseRequest => ({
    ...REQUEST,
    id,
    status: 'approved',
    decided_at,
  })
  const late = decided(321, '2026-03-15T11:00:00.000Z')
  const latest = [late, REQUEST, decided(256, '2026-03-14T11:59:59.000Z')]
  // The second one was read as open before it was decided.
  const open = [REQUEST, { ...REQUEST, id: 321 }]
  expect(currentRequests(open, latest, NOW)).toEqual([REQUEST, late])
  expect(currentRequests(open, [], NOW)).toEqual(open)
})
