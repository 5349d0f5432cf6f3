import { describe } from 'vitest'
import { at } from './fixture.ts'
import { cap, grant, SINGLE, table } from './ledger-lines.ts'

const DAY = { period: 'day', window_start: at('2026-01-10'), window_end: at('2026-01-11') } as const
const WEEK = { period: 'week', window_start: at('2026-01-05'), window_end: at('2026-01-12') } as const

describe('retry_at', () => {
  table('is the end of the blocking cap’s window', [grant(1, 99), cap(9, 5, DAY)])`
    consume a 5 → granted 5
    reserve b 1 → denied cap_reached retry 01-11
    @01-11 reserve b 1 → granted 1
  `

  table('is the latest window end of the blocking caps, and of no others', [
    grant(1, 99),
    cap(7, 5, DAY),
    cap(8, 7, WEEK),
    cap(9, 99),
  ])`
    consume a 5 → granted 5
    reserve b 1 → denied cap_reached by 7 retry 01-11
    reserve b 3 → denied cap_reached by 7 retry 01-12
    reserve b 3 partial → denied cap_reached by 7 retry 01-11
  `

  table('is a blocking cap’s expiry if that is earlier, or if its windows are always too small', [
    grant(1, 99),
    cap(8, 5, { expires_at: at('2026-01-20') }),
    cap(9, 3, { ...DAY, countries: ['DE'], expires_at: at('2026-03-01') }),
  ])`
    reserve a 6 → denied cap_reached by 8 retry 01-20
    reserve a 4 to DE → denied cap_reached by 9 retry 03-01
    reserve a 4 to DE partial → granted 3
    reserve b 3 to DE → denied cap_reached by 8 retry 01-20
    reserve b 2 to DE → denied cap_reached by 9 retry 01-11
  `

  table('is null if a blocking cap never ends', [grant(1, 99), cap(8, 5, SINGLE), cap(9, 7, DAY)])`
    reserve a 8 → denied cap_reached retry never
    set 8 null
    reserve a 8 → denied cap_reached retry never
    consume a 7 → granted 7
    reserve b 7 → denied cap_reached retry 01-11
  `

  table('is the earliest next window of a matching grant if the grants fall short', [
    grant(1, 5),
    grant(2, 5, WEEK),
    grant(3, 5, { ...DAY, countries: ['DE'] }),
    grant(4, 5, SINGLE),
  ])`
    reserve a 15 → granted 15
    reserve b 1 → denied quota_exhausted retry 01-12
    reserve b 6 to DE → denied quota_exhausted retry 01-11
  `

  table('is the start of a matching scheduled grant if that is earlier, or the only one', [
    grant(1, 5),
    grant(2, 5, { ...SINGLE, starts_at: at('2026-01-12') }),
    grant(3, 5, { ...SINGLE, starts_at: at('2026-01-11'), countries: ['DE'] }),
    grant(4, 5, { ...SINGLE, starts_at: at('2026-01-11'), enabled: false }),
    cap(5, 99, { starts_at: at('2026-01-11') }),
  ])`
    reserve a 5 → granted 5
    reserve b 1 → denied quota_exhausted retry 01-12
    set 1 null
    reserve b 1 → denied no_quota retry 01-12
    reserve b 1 to DE → denied no_quota retry 01-11
  `

  table('is the later of the times of the caps and of the grants', [grant(1, 5, WEEK), cap(8, 5, DAY), cap(9, 99)])`
    consume a 5 → granted 5
    reserve b 1 → denied cap_reached by 8 retry 01-12
    set 8 {"period":"month","window_end":1769904000000}
    reserve b 1 → denied cap_reached by 8 retry 02-01
  `

  table('is null if no later window of a grant has units', [
    grant(1, 5, SINGLE),
    // The grant expires with this window.
    grant(2, 5, { expires_at: at('2026-01-20') }),
    grant(3, 5, { expires_at: at('2026-02-01') }),
    grant(4, 0, DAY),
    grant(5, 0, { starts_at: at('2026-01-11') }),
    grant(6, 5, { enabled: false, ...DAY }),
    grant(7, 5, { expires_at: at('2026-01-01') }),
  ])`
    reserve a 15 → granted 15
    reserve b 1 → denied quota_exhausted retry never
    set 3 {"expires_at":1769904000001}
    reserve b 1 → denied quota_exhausted retry 02-01
    set 3 {"expires_at":1769904000000}
    set 4 {"overage_limit":1}
    reserve b 1 → granted 1
    reserve c 1 → denied quota_exhausted retry 01-11
  `

  table('is null for more units than the grants can ever hold at once', [grant(1, 5, DAY)])`
    reserve a 6 → denied quota_exhausted remaining 5 retry never
    reserve a 6 partial → granted 5
    reserve b 5 → denied quota_exhausted retry 01-11
    reserve b 6 → denied quota_exhausted retry never
    // Rollover and overage let a grant hold more in a later window.
    set 1 {"overage_limit":1}
    reserve b 6 → denied quota_exhausted retry 01-11
    reserve b 7 → denied quota_exhausted retry never
    set 1 {"rollover_limit":4}
    reserve b 10 → denied quota_exhausted retry 01-11
    reserve b 11 → denied quota_exhausted retry never
  `

  table('includes what other grants hold now, and scheduled grants', [
    grant(1, 5, DAY),
    grant(2, 3, SINGLE),
    grant(3, 4, { ...SINGLE, starts_at: at('2026-01-20') }),
  ])`
    consume a 1 → granted 1 draws 1:1
    reserve b 8 → denied quota_exhausted retry 01-11
    reserve b 12 → denied quota_exhausted retry 01-11
    reserve b 13 → denied quota_exhausted retry never
    consume c 5 → granted 5 draws 1:4+2:1
    reserve b 11 → denied quota_exhausted retry 01-11
    reserve b 12 → denied quota_exhausted retry never
  `

  table('includes units that rolled over under a higher rollover limit', [
    grant(1, 5, { rolled_over: 5 }),
    grant(2, 3, DAY),
  ])`
    consume a 3 → granted 3 draws 2:3
    reserve b 13 → denied quota_exhausted remaining 10 retry 01-11
    reserve b 14 → denied quota_exhausted retry never
  `

  table('is not the end of a grant’s last window', [
    grant(1, 5, { expires_at: at('2026-01-20') }),
    grant(2, 5, { ...SINGLE, starts_at: at('2026-03-01') }),
  ])`
    reserve a 6 → denied quota_exhausted retry 03-01
  `

  table('is the end of the stored window if the clock lags behind it', [
    grant(1, 2, { ...DAY, window_no: 3 }),
    cap(9, 2, { ...DAY, window_no: 3 }),
  ])`
    @01-09T23:59 consume a 2 → granted 2 draws 1#3:2+9#3:2
    consume b 1 → denied cap_reached retry 01-11
  `
})
