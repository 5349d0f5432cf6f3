import { describe } from 'vitest'
import { at } from './fixture.ts'
import { cap, grant, SINGLE, table } from './ledger-lines.ts'

describe('a reservation past its expires_at', () => {
  table('is open until that time, and then its outstanding units are released', [grant(1, 5)])`
    reserve a 5 ttl 60 → granted 5 until 01-10T12:01
    commit a 2 → settled
    @01-10T12:00:59.999 expire a → found state reserved
    @01-10T12:01 expire a → found state committed committed 2 released 3
    expire a → found state committed committed 2 released 3
    quota 1 → window 0 used 2 reserved 0
  `

  table('is committed instead if on_expiry is commit', [grant(1, 5)])`
    reserve a 5 ttl 60 on_expiry commit → granted 5
    release a 1 → settled
    @01-10T12:01 expire a → found state committed committed 4 released 1
    release a → replayed
    release a 2 → closed
    refund a → settled state refunded
    quota 1 → window 0 used 0 reserved 0
  `

  table('holds its units until a command with its id or the sweeper closes it', [grant(1, 5)])`
    reserve a 5 ttl 60 → granted 5
    @01-10T13:00 reserve b 1 → denied quota_exhausted
    expire a → found state expired released 5
    reserve b 1 → granted 1
  `

  const expiring = 'reserve a 5 ttl 60 → granted 5'
  const committing = 'reserve a 5 ttl 60 on_expiry commit → granted 5'
  const quotas = [grant(1, 5)]
  const empty = 'quota 1 → window 0 used 0 reserved 0'
  const full = 'quota 1 → window 0 used 5 reserved 0'
  describe('is closed by the next command with its id', () => {
    table('commit', quotas)`${expiring}; @01-10T12:01 commit a → closed state expired; ${empty}`
    table('commit by force', quotas)`${expiring}; @01-10T12:01 commit a force → settled state committed; ${full}`
    table('release', quotas)`${expiring}; @01-10T12:01 release a → replayed state expired; ${empty}`
    table('release of a part', quotas)`${expiring}; @01-10T12:01 release a 2 → replayed released 5; ${empty}`
    table('refund', quotas)`${expiring}; @01-10T12:01 refund a → closed state expired; ${empty}`
    table('find', quotas)`${expiring}; @01-10T12:01 find a → found state expired; ${empty}`
    table('a repeated reserve', quotas)`${expiring}; @01-10T12:01 reserve a 5 → closed state expired; ${empty}`
    table('a reserve with other content', quotas)`${expiring}; @01-10T12:01 reserve a 4 → mismatch units; ${empty}`
    table('a target too high', quotas)`${expiring}; @01-10T12:01 commit a 6 → exceeds state expired; ${empty}`
    table('commit, late', quotas)`${committing}; @01-10T12:01 commit a 3 → replayed committed 5; ${full}`
    table('release, late', quotas)`${committing}; @01-10T12:01 release a → closed state committed; ${full}`
    table('refund, late', quotas)`${committing}; @01-10T12:01 refund a → settled state refunded; ${empty}`
  })

  table('is not closed without outstanding units: a consumption never expires', [grant(1, 5)])`
    consume a 5 ttl 60 → granted 5 until 01-10T12:00
    @01-10T13:00 expire a → found state committed committed 5
    refund a 1 → settled state committed
  `
})

describe('a closed window', () => {
  const quotas = [grant(1, 10, { rollover_limit: 5 }), cap(9, 20)]
  const closed = `@01-31 reserve a 8 ttl 604800 → granted 8
    @02-01 quota 1 → window 1 used 0 reserved 0 rolled_over 2`
  const headroom = 'reserve z 12 → granted 12 draws 1#1:12+9#1:12 remaining 0'
  const carried = 'quota 1 → window 1 used 0 reserved 0 rolled_over 2'

  table('is corrected by a release, which returns no headroom', quotas)`
    ${closed}
    release a → settled state released
    ${carried}
    window 1 0 → closed used 0 reserved 0 carried 2
    window 9 0 → closed used 0 reserved 0
    ${headroom}
  `

  table('is corrected by a commit', quotas)`
    ${closed}
    commit a 3 → settled
    window 1 0 → closed used 3 reserved 5 carried 2
    window 9 0 → closed used 3 reserved 5
    ${carried}
    ${headroom}
  `

  table('is corrected by a refund', quotas)`
    consume a 8 → granted 8
    @02-01 refund a 6 → settled refunded 6
    window 1 0 → closed used 2 reserved 0 carried 2
    ${carried}
    ${headroom}
  `

  table('is corrected by an expiry that was due within it', quotas)`
    @01-31T23:58 reserve a 8 ttl 60 → granted 8
    @02-01 expire a → found state expired
    window 1 0 → closed used 0 reserved 0 carried 2
    ${carried}
    ${headroom}
  `

  table('is corrected past its limit by a forced commit, which is not carried as debt', quotas)`
    reserve a 8 → granted 8
    release a → settled
    consume b 10 → granted 10
    @02-01 commit a force → settled state committed
    window 1 0 → closed used 18 reserved 0 carried 0
    quota 1 → window 1 used 0 reserved 0 rolled_over 0
  `

  table('is corrected by a forced commit of refunded units', quotas)`
    consume a 8 → granted 8
    @02-01 refund a → settled state refunded
    commit a force → settled state committed
    window 1 0 → closed used 8 reserved 0 carried 2
    ${carried}
    ${headroom}
  `

  table('of long ago is corrected, after any other commands', quotas)`
    reserve a 6 → granted 6
    consume b 2 → granted 2
    commit a 4 → settled
    @05-15 refund a 1 → settled
    window 1 0 → closed used 5 reserved 0 carried 2
    consume c 1 → granted 1 draws 1#4:1+9#4:1
    @06-01 refund a 3 → settled refunded 3
    refund b → settled
    refund c → settled
    window 1 0 → closed used 1 reserved 0 carried 2
    window 1 4 → closed used 0 reserved 0 carried 5
    quota 1 → window 5 used 0 reserved 0 rolled_over 5
  `

  table('of one quota does not close the windows of others', [
    grant(1, 3, { period: 'day', window_start: at('2026-01-10'), window_end: at('2026-01-11') }),
    grant(2, 9),
    cap(9, 9, SINGLE),
  ])`
    consume a 5 → granted 5 draws 1:3+2:2+9:5
    @01-11 consume b 4 → granted 4 draws 1#1:3+2:1+9:4
    consume c 1 → denied cap_reached by 9 retry never
    refund a → settled
    quota 1 → window 1 used 3
    quota 2 → window 0 used 1
    quota 9 → window 0 used 4
    check 5 → granted 5 draws 2:5+9:5
  `

  table('takes nothing from its end on, when the next one begins', [grant(1, 5)])`
    @01-31T23:59:59.999 consume a 5 → granted 5 draws 1:5
    consume b 1 → denied quota_exhausted retry 02-01
    @02-01 consume b 1 → granted 1 draws 1#1:1
  `

  table('carries units neither used nor reserved, and no debt for overage', [
    grant(1, 10, { rollover_limit: 100, overage_limit: 5 }),
  ])`
    reserve a 3 ttl 604800 → granted 3
    consume b 4 → granted 4
    @02-01 consume c 15 → granted 15 draws 1#1:15 remaining 3
    window 1 0 → closed used 4 reserved 3 carried 3
    @03-01 check 16 → denied quota_exhausted remaining 15
    window 1 1 → closed used 15 reserved 0 carried 0
  `
})

describe('an expired or deleted quota', () => {
  table('still counts what settles, in its last window', [grant(1, 5, { expires_at: at('2026-02-15') }), cap(9, 5)])`
    reserve a 2 ttl 604800 → granted 2
    consume b 3 → granted 3
    @02-14 consume c 3 → granted 3 draws 1#1:3+9#1:3
    @02-15 consume d 1 → denied no_quota retry never
    @05-01 refund c 1 → settled
    release a → replayed state expired
    refund b → settled
    quota 1 → window 1 used 2 reserved 0
    window 1 0 → closed used 0 reserved 0
  `

  table('closes its windows up to its expiry when a reservation settles', [
    grant(1, 5, { expires_at: at('2026-03-15'), rollover_limit: 9 }),
  ])`
    consume a 3 → granted 3
    @07-01 refund a 1 → settled
    quota 1 → window 2 used 0 reserved 0 rolled_over 7
    window 1 0 → closed used 2 reserved 0 carried 2
  `

  table('stays in the window in which it was deleted', [grant(1, 5), cap(9, 5)])`
    reserve a 5 → granted 5
    set 1 null
    @01-10T12:05 check 1 → denied no_quota
    @03-01 commit a force → settled state committed
    quota 1 → window 0 used 5 reserved 0
    window 9 0 → closed used 5 reserved 0
    quota 9 → window 2 used 0 reserved 0
  `
})

describe('a clock that lags behind a window', () => {
  const opened = { window_no: 1, window_start: at('2026-02-01'), window_end: at('2026-03-01') }

  table('draws in the stored window', [grant(1, 5, opened), cap(9, 4, opened)])`
    @01-31T23:59:59.999 reserve a 3 → granted 3 draws 1#1:3+9#1:3 remaining 1
    consume b 2 → denied cap_reached remaining 1 by 9 retry 03-01
    @02-01 consume b 1 → granted 1 draws 1#1:1+9#1:1
    @01-31T23:59:59.999 release a → settled
    quota 1 → window 1 used 1 reserved 0
  `

  table('corrects closed windows, even if they are open by that clock', [
    grant(1, 5),
    grant(2, 5, { period: 'day', window_start: at('2026-01-31'), window_end: at('2026-02-01') }),
  ])`
    @01-31T23:59 consume a 6 → granted 6 draws 1:5+2:1
    @02-01 consume b 6 → granted 6 draws 2#1:5+1#1:1
    @01-31T23:59 refund a → settled
    quota 1 → window 1 used 1
    window 1 0 → closed used 0 reserved 0
    window 2 0 → closed used 0 reserved 0
  `

  table('counts as its start for starts and expiries', [
    grant(1, 5, { ...opened, starts_at: at('2026-01-31 23:59:59') }),
    grant(2, 5, { ...opened, expires_at: at('2026-02-01 00:00:01') }),
    grant(3, 5, { ...opened, expires_at: at('2026-01-31 23:59:59') }),
    // Its first window is the stored one and it was created earlier: it is scheduled, and the clock does not lag.
    grant(4, 5, {
      ...{ created_at: at('2026-01-31'), starts_at: at('2026-02-01') },
      ...{ window_start: at('2026-02-01'), window_end: at('2026-03-01') },
    }),
  ])`
    @01-31T23:59 check 10 → granted 10 draws 2#1:5+1#1:5
    check 11 → denied quota_exhausted remaining 10 retry 02-01
  `

  table('counts as the start of a quota that began at its creation: a cap holds as soon as its creation is answered', [
    grant(1, 5),
    cap(9, 2, {
      ...{ created_at: at('2026-01-10 12:00:00.200'), starts_at: at('2026-01-10 12:00:00.200') },
      ...{ window_start: at('2026-01-10 12:00:00.200'), period: 'day', window_end: at('2026-01-11') },
    }),
  ])`
    @01-10T12:00 reserve a 3 → denied cap_reached remaining 2 by 9
    reserve b 2 → granted 2 draws 1:2+9:2
  `
})
