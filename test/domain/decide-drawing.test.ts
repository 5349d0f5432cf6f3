import { describe } from 'vitest'
import { at } from './fixture.ts'
import { cap, grant, SINGLE, table } from './ledger-lines.ts'

const OTP = { message_types: ['otp'] }
const DACH = { countries: ['AT', 'CH', 'DE'] }

describe('burn order', () => {
  table('is by priority first, regardless of expiry', [
    grant(1, 2, { priority: 3, expires_at: at('2026-01-11') }),
    grant(2, 2, { priority: 2 }),
    grant(3, 2, { priority: 0, ...SINGLE }),
  ])`
    check 6 → granted 6 draws 3:2+2:2+1:2
    consume a 1 → granted 1 draws 3:1
    consume b 2 → granted 2 draws 3:1+2:1
    consume c 2 → granted 2 draws 2:1+1:1
    consume d 2 → denied quota_exhausted remaining 1
  `

  table('then by the earlier of expiry and window end', [
    grant(1, 1, SINGLE),
    grant(2, 1),
    grant(3, 1, { ...SINGLE, expires_at: at('2026-01-20') }),
    grant(4, 1, { expires_at: at('2026-01-15') }),
    grant(5, 1, { period: 'day', window_start: at('2026-01-10'), window_end: at('2026-01-11') }),
    grant(6, 1, { expires_at: at('2026-03-01') }),
    grant(7, 1, { ...SINGLE, expires_at: at('2026-02-01') }),
    grant(8, 1, { ...SINGLE, expires_at: at('2026-02-02') }),
  ])`
    check 8 → granted 8 draws 5:1+4:1+3:1+2:1+6:1+7:1+8:1+1:1
  `

  table('then by id, in any order of loading', [grant(30, 1), grant(4, 1), grant(200, 1), grant(5, 1)])`
    check 4 → granted 4 draws 4:1+5:1+30:1+200:1
  `

  table('draws own units of all grants before any overage, which burns in the same order', [
    grant(1, 2, { priority: 1, overage_limit: 3 }),
    grant(2, 2, { priority: 2, overage_limit: 1 }),
    grant(3, 2, { priority: 3 }),
  ])`
    check 10 → granted 10 draws 1:2+2:2+3:2+1:3+2:1
    check 11 → denied quota_exhausted remaining 10
    consume a 7 → granted 7 draws 1:2+2:2+3:2+1:1 remaining 3
    // An overdrawn grant has less overage left.
    consume b 3 → granted 3 draws 1:2+2:1 remaining 0
    refund a 1 → settled
    // One unit of overage is released: the last units drawn are released first.
    consume c 1 → granted 1 draws 1:1
    refund a 3 → settled
    consume d 2 → granted 2 draws 3:2
  `

  table('joins the last grant’s own units and its overage in one draw', [grant(1, 2, { overage_limit: 3 })])`
    consume a 4 → granted 4 draws 1:4 remaining 1
    quota 1 → window 0 used 4
  `

  table('an unlimited grant pays for all remaining units', [
    grant(1, 2, { priority: 1 }),
    grant(2, null, { priority: 2 }),
    grant(3, 5, { priority: 3 }),
  ])`
    consume a 5000 → granted 5000 draws 1:2+2:4998 remaining null
    consume b 1 → granted 1 draws 2:1 remaining null
  `

  table('units rolled over are a grant’s own units', [
    grant(1, 5, { priority: 1, rolled_over: 3, overage_limit: 2 }),
    grant(2, 1, { priority: 2 }),
  ])`
    check 11 → granted 11 draws 1:8+2:1+1:2
  `

  table('skips suspended, scheduled, expired and deleted grants', [
    grant(1, 5, { enabled: false }),
    grant(2, 5, { starts_at: at('2026-01-11') }),
    grant(3, 5, { expires_at: at('2026-01-10 12:00') }),
    grant(4, 5, { deleted_at: at('2026-01-09') }),
    grant(5, 5, { starts_at: at('2026-01-10 12:00'), expires_at: at('2026-01-10 12:00:00.001') }),
  ])`
    check 5 → granted 5 draws 5:5
    check 6 → denied quota_exhausted remaining 5
  `

  table('a grant with limit 0 pays with its overage only', [grant(1, 0), grant(2, 0, { overage_limit: 1 })])`
    consume a 1 → granted 1 draws 2:1
    consume b 1 → denied quota_exhausted
  `

  table('an overdrawn grant does not reduce the others', [
    grant(1, 10, { priority: 1, overage_limit: 4 }),
    grant(2, 5, { priority: 2 }),
  ])`
    consume a 8 → granted 8
    set 1 {"limit":6}
    check 7 → granted 7 draws 2:5+1:2 remaining 7
    check 8 → denied quota_exhausted remaining 7
    set 1 {"limit":2}
    check 5 → granted 5 draws 2:5 remaining 5
    check 6 → denied quota_exhausted remaining 5
  `
})

describe('all units or none', () => {
  table('a denied large request draws nothing and does not block a small one', [grant(1, 3), grant(2, 3)])`
    reserve a 7 → denied quota_exhausted remaining 6
    reserve b 6 → granted 6 remaining 0
    reserve c 1 → denied quota_exhausted remaining 0
  `

  table('with allow_partial as many as available, at least one', [
    grant(1, 3),
    grant(2, 3, { overage_limit: 2 }),
    cap(9, 7),
  ])`
    reserve a 2 partial → granted 2 remaining 5
    reserve b 9 partial → granted 5 draws 1:1+2:4+9:5 remaining 0
    reserve c 1 partial → denied cap_reached remaining 0 by 9
    release b 4 → settled
    consume d 9 partial → granted 4 state committed
    set 9 {"limit":9}
    consume e 9 partial → granted 1 remaining 0
    set 9 {"limit":99}
    consume f 9 partial → denied quota_exhausted remaining 0 by 2
  `
})

describe('caps', () => {
  table('every matching cap must have room for all units, and counts them, overage included', [
    grant(1, 5, { overage_limit: 5 }),
    cap(8, 7),
    cap(9, 4),
  ])`
    reserve a 5 → denied cap_reached remaining 4 by 9
    reserve a 4 → granted 4 draws 1:4+8:4+9:4 remaining 0
    set 9 {"limit":20}
    reserve b 4 → denied cap_reached remaining 3 by 8
    reserve b 3 → granted 3 draws 1:3+8:3+9:3
    quota 1 → window 0 reserved 7
    quota 8 → window 0 reserved 7
    quota 9 → window 0 reserved 7
  `

  table('count nothing retroactively or while suspended, scheduled, expired or deleted', [
    grant(1, 50),
    cap(5, 1, { enabled: false }),
    cap(6, 1, { starts_at: at('2026-01-11') }),
    cap(7, 1, { expires_at: at('2026-01-10') }),
    cap(8, 1, { deleted_at: at('2026-01-09') }),
  ])`
    reserve a 5 → granted 5 draws 1:5
    set 5 {"enabled":true}
    reserve b 2 → denied cap_reached remaining 1 by 5
    commit a → settled
    quota 5 → window 0 used 0 reserved 0
    reserve c 1 → granted 1 draws 1:1+5:1
    @01-11 reserve d 1 → denied cap_reached by 5
    set 5 null
    reserve d 1 → granted 1 draws 1:1+6:1
  `

  table('do not affect burn order by their priority', [
    cap(1, 9, { priority: 0 }),
    grant(2, 9),
    cap(3, 9, { priority: 255 }),
  ])`
    check 9 → granted 9 draws 2:9+1:9+3:9
  `
})

describe('scopes', () => {
  const quotas = [
    grant(1, 9, { priority: 1, ...DACH, ...OTP }),
    grant(2, 9, { priority: 2, ...DACH }),
    grant(3, 9, { priority: 3, ...OTP }),
    grant(4, 9, { priority: 4 }),
    cap(5, 99, { ...DACH, ...OTP }),
    cap(6, 99, DACH),
    cap(7, 99, OTP),
    cap(8, 99),
  ]
  table('match only a request that names a listed value', quotas)`
    check 36 to DE type otp → granted 36 draws 1:9+2:9+3:9+4:9+5:36+6:36+7:36+8:36
    check 37 to DE type otp → denied quota_exhausted
    check 18 to AT → granted 18 draws 2:9+4:9+6:18+8:18
    check 18 to CH type marketing → granted 18 draws 2:9+4:9+6:18+8:18
    check 18 type otp → granted 18 draws 3:9+4:9+7:18+8:18
    check 18 to FR type otp → granted 18 draws 3:9+4:9+7:18+8:18
    check 9 to FR type marketing → granted 9 draws 4:9+8:9
    // A request without a country matches no quota with a country list.
    check 9 → granted 9 draws 4:9+8:9
    check 10 → denied quota_exhausted remaining 9 by 4
  `

  table('that change count nothing retroactively', [grant(1, 20), cap(9, 5, DACH)])`
    consume a 5 to FR → granted 5 draws 1:5
    set 9 {"countries":["FR"]}
    consume b 5 to FR → granted 5 draws 1:5+9:5
    consume c 1 to FR → denied cap_reached
    consume c 1 to DE → granted 1 draws 1:1
    refund b → settled
    quota 9 → window 0 used 0
  `

  table('with none that matches', [grant(1, 9, DACH), cap(9, 9)])`check 1 to FR → denied no_quota remaining 0`
})
