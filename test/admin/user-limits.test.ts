import { expect, test } from 'vitest'
import { countUnexpired, forbiddenByOthers } from '../../src/admin/kit/user-limits.ts'
import { MAX_QUOTAS_PER_USER } from '../../src/domain/basics/bounds.ts'
import { aQuota, at } from '../domain/fixture.ts'

const NOW = at('2026-01-15')
const EXPIRED = { expires_at: at('2026-01-10') }
const full = Array.from({ length: MAX_QUOTAS_PER_USER }, (_, index) => aQuota({ id: 64 * (index + 2) }))

test('quotas that are neither deleted nor expired are counted', () => {
  const deleted = aQuota({ deleted_at: at('2026-01-10') })
  expect(countUnexpired([aQuota(), aQuota({ enabled: false }), aQuota(EXPIRED), deleted], NOW)).toBe(2)
})

test.each([
  ['one more than the limit', aQuota(), full, { outcome: 'too_many_quotas' }],
  ['one at the limit', aQuota(), full.slice(1), undefined],
  ['an expired one', aQuota(EXPIRED), full, undefined],
  ['one beside expired ones', aQuota(), full.map(quota => ({ ...quota, ...EXPIRED })), undefined],
  [
    'one with the external_ref of another',
    aQuota({ external_ref: 'contract 7' }),
    [aQuota({ id: 128 }), aQuota({ id: 192, external_ref: 'contract 7' })],
    { outcome: 'conflict', existingId: 192 },
  ],
  [
    'one with the external_ref of an expired one',
    aQuota({ external_ref: 'contract 7' }),
    [aQuota({ id: 128, external_ref: 'contract 7', ...EXPIRED })],
    { outcome: 'conflict', existingId: 128 },
  ],
  [
    // The contract's order of errors: 422 before 409.
    'one more than the limit, with the external_ref of another',
    aQuota({ external_ref: 'contract 7' }),
    full.with(0, aQuota({ id: 128, external_ref: 'contract 7' })),
    { outcome: 'too_many_quotas' },
  ],
  ['one without an external_ref', aQuota(), [aQuota({ id: 128 })], undefined],
])('%s', (_, quota, others, forbidden) => {
  expect(forbiddenByOthers(quota, others, NOW)).toEqual(forbidden)
})
