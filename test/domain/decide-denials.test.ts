import { describe } from 'vitest'
import { at } from './fixture.ts'
import { cap, grant, table } from './ledger-lines.ts'

const DAY = { period: 'day', window_start: at('2026-01-10'), window_end: at('2026-01-11') } as const

describe('the reason', () => {
  table('without any quota', [])`reserve a 1 → denied no_quota remaining 0 by null retry never`

  table('is no_quota if no live grant matches, even if a cap blocks too', [
    grant(1, 5, { enabled: false }),
    grant(2, 5, { countries: ['DE'] }),
    grant(3, 5, { message_types: ['otp'] }),
    cap(9, 5),
  ])`
    reserve a 1 → denied no_quota remaining 0 by null
    reserve a 6 to FR type marketing → denied no_quota remaining 0 by 9
    reserve a 1 to DE → granted 1
  `

  table('is cap_reached if a cap blocks and the grants are exhausted', [
    grant(1, 5),
    grant(2, 3),
    cap(8, 9),
    cap(7, 8),
    cap(9, 99),
  ])`
    reserve a 9 → denied cap_reached remaining 8 by 7
    reserve a 10 → denied cap_reached remaining 8 by 7
    set 7 {"limit":20}
    reserve a 9 → denied quota_exhausted remaining 8 by 2
    reserve a 10 → denied cap_reached remaining 8 by 8
  `

  table('limiting_quota_id is the last matching grant in burn order', [
    grant(1, 1, { priority: 101 }),
    grant(2, 1),
    grant(3, 1, DAY),
    grant(4, 9, { countries: ['DE'], priority: 200 }),
  ])`
    reserve a 5 → denied quota_exhausted by 1
  `
})

describe('remaining', () => {
  table('is the number of units that the same request could still draw, with caps and overage applied', [
    grant(1, 5, { overage_limit: 2, countries: ['DE'] }),
    grant(2, 3),
    cap(9, 8, { countries: ['DE'] }),
  ])`
    check 1 → granted 1 remaining 3
    check 1 to DE → granted 1 remaining 8
    reserve a 4 to DE → granted 4 draws 1:4+9:4 remaining 4
    reserve b 2 to DE → granted 2 draws 1:1+2:1+9:2 remaining 2
    check 1 → granted 1 remaining 2
    reserve c 9 to DE → denied cap_reached remaining 2
    set 9 null
    reserve c 9 to DE → denied quota_exhausted remaining 4
  `

  table('is null if unlimited, and the headroom of a cap if there is one', [
    grant(1, null),
    grant(2, 5),
    cap(9, 10, { countries: ['DE'] }),
  ])`
    check 1000000000 → granted 1000000000 remaining null
    reserve a 4 to DE → granted 4 remaining 6
    reserve b 7 to DE → denied cap_reached remaining 6
    reserve b 7 → granted 7 remaining null
    reserve b 7 → granted 7 replayed remaining null
  `

  table('is never below 0, even if a quota is overdrawn', [
    grant(1, 5),
    grant(2, 2, { countries: ['DE'] }),
    cap(9, 5, { message_types: ['otp'] }),
  ])`
    consume a 9 type otp force → granted 9 draws 1:9+9:9 remaining 0
    check 1 → denied quota_exhausted remaining 0
    check 1 type otp → denied cap_reached remaining 0
    // The overdraft of one grant is not taken from another.
    check 2 to DE → granted 2 draws 2:2 remaining 2
    check 3 to DE → denied quota_exhausted remaining 2
  `
})

describe('explain', () => {
  const quotas = [
    grant(1, 2, { priority: 1 }),
    grant(2, 2, { priority: 2 }),
    grant(3, 2, { priority: 3 }),
    grant(4, 2, { enabled: false }),
    grant(5, 2, { starts_at: at('2026-01-11') }),
    grant(6, 2, { expires_at: at('2026-01-10') }),
    grant(7, 2, { countries: ['FR'] }),
    grant(8, 2, { message_types: ['otp'], enabled: false }),
    grant(9, 2, { deleted_at: at('2026-01-09') }),
    cap(10, 5),
    cap(11, 1, { countries: ['FR'] }),
  ]
  const passedOver = '4:suspended:0+5:scheduled:0+6:expired:0+7:other_country:0+8:other_message_type:0'
  table('tells of every quota why it did or did not count', quotas)`
    check 1 → granted 1 explained null
    check 3 to DE explain → granted 3 explained 10:has_headroom:3+1:draws:2+2:draws:1+3:not_needed:0+${passedOver}+11:other_country:0
    consume a 3 → granted 3
    consume b 2 explain → granted 2 explained 10:has_headroom:2+1:exhausted:0+2:draws:1+3:draws:1+${passedOver}+11:other_country:0
    // In a denial, no grant draws and none is "not needed".
    check 1 explain → denied cap_reached explained 10:blocks:0+1:exhausted:0+2:exhausted:0+3:has_headroom:0+${passedOver}+11:other_country:0
  `

  table('lists a grant with two draws once, and counts forced units past a cap', [
    grant(1, 3, { priority: 1, overage_limit: 4 }),
    grant(2, 1, { priority: 2 }),
    cap(3, 5),
  ])`
    consume a 9 force explain → granted 9 explained 3:blocks:9+1:draws:7+2:draws:2
    consume b 1 force explain → granted 1 explained 3:blocks:1+1:exhausted:0+2:draws:1
  `
})
