import { describe } from 'vitest'
import { cap, grant, table } from './ledger-lines.ts'

describe('a repeated id', () => {
  table('with the same content returns the current reservation and draws nothing', [grant(1, 10)])`
    reserve a 4 → granted 4 state reserved remaining 6
    reserve a 4 → granted 4 replayed state reserved remaining 6
    commit a 1 → settled state reserved committed 1
    reserve a 4 → granted 4 replayed state reserved committed 1 outstanding 3 remaining 6
    commit a → settled state committed
    reserve a 4 → granted 4 replayed state committed committed 4 remaining 6
    consume b 6 → granted 6 remaining 0
    consume b 6 → granted 6 replayed remaining 0
    quota 1 → window 0 used 10 reserved 0
  `

  const asked = 'reserve a 4 to DE type otp'
  table('with other content names each differing field', [grant(1, 10), grant(2, 10, { countries: ['DE'] })])`
    ${asked} → granted 4
    reserve a 5 to DE type otp → mismatch units
    reserve a 4 to FR type otp → mismatch country
    reserve a 4 type otp → mismatch country
    reserve a 4 to DE type marketing → mismatch message_type
    reserve a 4 to DE → mismatch message_type
    ${asked} partial → mismatch allow_partial
    ${asked} force → mismatch force
    consume a 4 to DE type otp → mismatch op
    consume a 5 partial force → mismatch units op country message_type allow_partial force
    // ttl and on_expiry may differ: a retry need not repeat them.
    ${asked} ttl 60 on_expiry commit → granted 4 replayed until 01-10T12:10
    ${asked} explain → granted 4 replayed explained null
    quota 1 → window 0 used 0 reserved 4
  `

  table('is compared by the requested units, not by the granted part', [grant(1, 3)])`
    reserve a 5 partial → granted 3
    reserve a 5 partial → granted 3 replayed
    reserve a 3 partial → mismatch units
  `

  table('is closed after all units came back, by release, refund or expiry', [grant(1, 10)])`
    reserve a 2 → granted 2
    release a → settled state released
    reserve a 2 → closed state released
    consume b 2 → granted 2
    refund b → settled state refunded
    consume b 2 → closed state refunded
    reserve c 2 ttl 60 → granted 2
    @01-10T12:01 reserve c 2 ttl 60 → closed state expired
    // One part refunded, the rest released.
    reserve d 2 → granted 2
    commit d 1 → settled
    refund d 1 → settled state reserved
    release d → settled state refunded
    reserve d 2 → closed
    // Other content is still a mismatch.
    reserve d 3 → mismatch units
    quota 1 → window 0 used 0 reserved 0
  `

  table('is not closed while any unit is reserved or committed', [grant(1, 10)])`
    reserve a 3 → granted 3
    release a 2 → settled released 2
    reserve a 3 → granted 3 replayed released 2 outstanding 1
    commit a → settled state committed committed 1
    reserve a 3 → granted 3 replayed state committed
    consume b 3 → granted 3
    refund b 2 → settled state committed refunded 2
    consume b 3 → granted 3 replayed refunded 2
  `

  table('of a denied command is decided anew, and its content may differ', [grant(1, 5)])`
    reserve a 6 → denied quota_exhausted
    find a → not_found
    reserve b 5 → granted 5
    reserve a 1 → denied quota_exhausted
    release b → settled
    reserve a 1 → granted 1
    commit zzz → not_found
    release zzz 1 → not_found
    refund zzz → not_found
    expire zzz → not_found
  `

  table('returns the reservation even if the quotas would deny it now', [grant(1, 5), cap(9, 5)])`
    reserve a 5 → granted 5
    set 1 {"enabled":false}
    reserve a 5 → granted 5 replayed remaining 0
    set 1 null
    reserve a 5 → granted 5 replayed remaining 0
  `

  table('counts once across the end of a window, in the window of the grant', [grant(1, 5)])`
    consume a 5 → granted 5
    @02-01 consume a 5 → granted 5 replayed draws 1:5 remaining 5
    quota 1 → window 1 used 0 reserved 0
    window 1 0 → closed used 5 reserved 0
  `

  table('first closes an expired reservation', [grant(1, 5)])`
    reserve a 5 ttl 60 on_expiry commit → granted 5
    @01-10T12:01 reserve a 5 ttl 60 on_expiry commit → granted 5 replayed state committed
    reserve b 1 → denied quota_exhausted
  `
})

describe('a check', () => {
  table('answers like a reservation and draws nothing', [grant(1, 5), grant(2, 3)])`
    check 6 → granted 6 state reserved draws 1:5+2:1 remaining 8
    check 6 → granted 6 remaining 8
    check 9 → denied quota_exhausted remaining 8 by 2
    check 9 partial → granted 8
    reserve a 6 → granted 6 remaining 2
    check 2 → granted 2
    check 3 → denied quota_exhausted
    quota 1 → window 0 used 0 reserved 5
    quota 2 → window 0 used 0 reserved 1
  `
})
