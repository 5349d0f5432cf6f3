import { describe } from 'vitest'
import { cap, grant, SINGLE, table } from './ledger-lines.ts'

describe('consume with force', () => {
  table('draws units that no grant can hold as overage of the last matching grant', [
    grant(1, 2, { priority: 1, overage_limit: 1 }),
    grant(2, 2, { priority: 2, overage_limit: 1 }),
    grant(3, 9, { priority: 3, countries: ['DE'] }),
    grant(4, 9, { priority: 3, enabled: false }),
  ])`
    consume a 9 → denied quota_exhausted remaining 6
    consume a 9 force → granted 9 state committed unfunded 0 draws 1:2+2:2+1:1+2:4 remaining 0
    quota 2 → window 0 used 6 reserved 0
    // remaining is never below 0.
    consume b 2 force → granted 2 draws 2:2 remaining 0
    consume b 2 force → granted 2 replayed
    // The message was sent already: a call for it without force, which may be its first one, is that message.
    consume b 2 → granted 2 replayed state committed
    reserve b 2 → granted 2 replayed state committed
    consume b 3 → mismatch units
    reserve b 2 to DE → mismatch country
    reserve b 2 type otp → mismatch message_type
    reserve b 2 partial → mismatch allow_partial
    refund a → settled state refunded
    reserve a 9 → closed state refunded
    quota 1 → window 0 used 0
    quota 2 → window 0 used 2
  `

  table('draws as usual while there are units', [grant(1, 5), grant(2, 5), cap(9, 20)])`
    consume a 7 force → granted 7 draws 1:5+2:2+9:7 remaining 3
    consume b 2 force → granted 2 draws 2:2+9:2 remaining 1
  `

  table('is unfunded without a live grant, and caps still count it', [
    grant(1, 5, { enabled: false }),
    cap(9, 5),
    cap(10, 5, { countries: ['DE'] }),
  ])`
    consume a 9 force → granted 9 unfunded 9 draws 9:9 remaining 0
    quota 9 → window 0 used 9
    set 1 {"enabled":true}
    consume b 1 → denied cap_reached remaining 0 by 9
    refund a 5 → settled refunded 5
    consume b 1 → granted 1 unfunded 0 draws 1:1+9:1
  `

  table('is unfunded without any quota', [])`consume a 3 force → granted 3 unfunded 3 draws none remaining 0`

  table('exceeds caps, which count it', [grant(1, 20), cap(9, 5)])`
    consume a 9 → denied cap_reached
    consume a 9 force → granted 9 draws 1:9+9:9 remaining 0
    consume b 1 → denied cap_reached remaining 0
  `

  table('grants all units, with or without allow_partial', [grant(1, 5)])`
    consume a 2 partial → granted 2
    consume b 9 partial → granted 3
    refund b → settled
    consume c 9 partial force → granted 9 draws 1:9
    consume d 9 partial force → granted 9 draws 1:9
  `
})

describe('commit with force', () => {
  table('takes released units again on the same draws, past any limit', [
    grant(1, 5, { priority: 1 }),
    grant(2, 5, { priority: 2 }),
    cap(9, 8),
  ])`
    reserve a 7 → granted 7 draws 1:5+2:2+9:7
    release a → settled state released
    consume b 8 → granted 8 draws 1:5+2:3+9:8
    commit a → closed state released
    commit a 3 force → settled state committed committed 3 released 4
    commit a 3 force → replayed committed 3
    quota 1 → window 0 used 8
    commit a force → settled state committed committed 7 released 0
    commit a force → replayed
    commit a → replayed
    quota 1 → window 0 used 10
    quota 2 → window 0 used 5
    quota 9 → window 0 used 15
    refund a → settled state refunded
    quota 9 → window 0 used 8
  `

  table('takes units again that expiry released', [grant(1, 5)])`
    reserve a 5 ttl 60 → granted 5
    commit a 2 → settled
    @01-10T12:01 commit a → replayed state committed committed 2 released 3
    commit a 3 → closed
    commit a 4 force → settled state committed committed 4 released 1
    reserve b 4 ttl 60 → denied quota_exhausted remaining 1
    commit a force → settled committed 5 released 0
    reserve c 2 ttl 60 partial → denied quota_exhausted remaining 0
  `

  table('takes outstanding units before released ones', [grant(1, 9)])`
    reserve a 9 → granted 9
    release a 3 → settled outstanding 6
    commit a 5 force → settled state reserved committed 5 released 3 outstanding 1
    commit a 6 force → settled state committed committed 6 released 3 outstanding 0
    commit a 8 force → settled state committed committed 8 released 1 outstanding 0
    release a 2 → closed released 1
  `

  table('takes units again that were refunded: the message was delivered after all', [grant(1, 9), cap(9, 9)])`
    consume a 6 → granted 6
    refund a → settled state refunded committed 6 refunded 6
    consume b 9 → granted 9
    commit a → replayed state refunded
    commit a force → settled state committed committed 6 refunded 0
    commit a force → replayed state committed
    quota 1 → window 0 used 15 reserved 0
    quota 9 → window 0 used 15 reserved 0
    // The last of two reports counts.
    refund a → settled state refunded committed 6 refunded 6
    quota 1 → window 0 used 9 reserved 0
  `

  table('to a total, of what is used: refunded units before outstanding ones, and these before released ones', [
    grant(1, 9),
  ])`
    reserve a 9 → granted 9
    commit a 4 → settled
    refund a 3 → settled
    release a 2 → settled committed 4 released 2 refunded 3 outstanding 3
    quota 1 → window 0 used 1 reserved 3
    commit a 1 force → replayed refunded 3
    commit a 3 force → settled state reserved committed 4 refunded 1 outstanding 3
    commit a 3 force → replayed refunded 1
    commit a 6 force → settled state reserved committed 6 refunded 0 outstanding 1
    quota 1 → window 0 used 6 reserved 1
    commit a force → settled state committed committed 9 released 0 refunded 0
    commit a 10 force → settled state committed committed 10 released 0 refunded 0 draws 1:10
    quota 1 → window 0 used 10 reserved 0
  `

  table('needs an existing reservation, and does not apply to release and refund', [grant(1, 9)])`
    commit a force → not_found
    reserve a 6 → granted 6
    refund a force → uncommitted
    commit a → settled
    release a 1 force → closed
  `
})

describe('observe mode', () => {
  table(
    'grants everything, and would_deny says what would be denied',
    [grant(1, 5), cap(9, 6), grant(2, 5, { countries: ['DE'], ...SINGLE })],
    true,
  )`
    reserve a 4 → granted 4 remaining 1
    check 2 → granted 2 would_deny quota_exhausted draws 1:2+9:2
    reserve b 2 → granted 2 would_deny quota_exhausted state reserved draws 1:2+9:2 remaining 0
    reserve b 2 → granted 2 replayed would_deny quota_exhausted
    consume c 1 → granted 1 would_deny cap_reached draws 1:1+9:1
    consume c 1 → granted 1 replayed would_deny cap_reached
    reserve a 4 → granted 4 replayed
    // It is booked as if by force, and yet was not asked for with force.
    consume c 1 force → mismatch force
    release b → settled
    quota 1 → window 0 used 1 reserved 4
    set 1 {"enabled":false}
    consume d 1 → granted 1 would_deny no_quota unfunded 1 draws 9:1
    consume e 1 → granted 1 would_deny no_quota unfunded 1 draws 9:1
    quota 9 → window 0 used 3 reserved 4
    // The rules of ids and targets still apply.
    reserve b 3 → mismatch units
    reserve b 2 → closed
    commit b → closed
    commit c 2 → exceeds
  `

  table('grants all units of a would-be denial, and the usual part of a partial grant', [grant(1, 5)], true)`
    reserve a 9 partial → granted 5
    reserve b 9 partial → granted 9 would_deny quota_exhausted draws 1:9
  `

  table('has no would_deny for forced commands, which are never denied', [grant(1, 5)], true)`
    consume a 9 force → granted 9 draws 1:9
  `
})
