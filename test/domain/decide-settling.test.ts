import { describe } from 'vitest'
import { cap, grant, table } from './ledger-lines.ts'

describe('settling by target', () => {
  table('commit: the target is a total, not an increment', [grant(1, 10)])`
    reserve a 5 → granted 5
    commit a 2 → settled state reserved committed 2 outstanding 3
    commit a 2 → replayed committed 2
    commit a 1 → replayed committed 2
    commit a 0 → replayed committed 2
    commit a 6 → exceeds committed 2
    commit a → settled state committed committed 5 outstanding 0
    commit a → replayed committed 5
    commit a 5 → replayed committed 5
    commit a 6 → exceeds
    quota 1 → window 0 used 5 reserved 0
  `

  table('commit: cannot include released units', [grant(1, 10)])`
    reserve a 5 → granted 5
    release a 2 → settled released 2 outstanding 3
    commit a 4 → closed committed 0
    commit a 3 → settled state committed committed 3 released 2
    commit a 4 → closed
    commit a → replayed committed 3
    reserve b 5 → granted 5
    release b → settled state released
    // Nothing is left to commit: that is no success.
    commit b → closed state released
    commit b 1 → closed
    commit b 0 → replayed
    quota 1 → window 0 used 3 reserved 0
  `

  table('release: returns outstanding units', [grant(1, 10)])`
    reserve a 5 → granted 5
    release a 2 → settled released 2 outstanding 3
    release a 2 → replayed released 2
    release a 1 → replayed released 2
    release a 6 → exceeds
    check 7 → granted 7
    commit a 1 → settled committed 1 outstanding 2
    release a 5 → closed released 2
    release a 4 → settled state committed committed 1 released 4
    release a → replayed released 4
    release a 5 → closed
    consume b 1 → granted 1
    // A consumption never has outstanding units.
    release b → closed
    release b 1 → closed
    quota 1 → window 0 used 2 reserved 0
  `

  table('refund: returns committed units', [grant(1, 10)])`
    reserve a 5 → granted 5
    refund a → uncommitted state reserved
    refund a 1 → uncommitted
    commit a 3 → settled
    refund a 4 → uncommitted refunded 0
    refund a 6 → exceeds
    refund a 1 → settled state reserved committed 3 refunded 1 outstanding 2
    refund a 1 → replayed refunded 1
    quota 1 → window 0 used 2 reserved 2
    refund a → settled committed 3 refunded 3
    refund a → replayed refunded 3
    // Units committed later can be refunded later.
    commit a → settled state committed committed 5 refunded 3
    refund a → settled state refunded refunded 5
    commit a → replayed state refunded
    commit a 5 → replayed state refunded
    quota 1 → window 0 used 0 reserved 0
  `

  table('refund: units that are given back can no longer be committed and refunded', [grant(1, 10)])`
    reserve a 5 → granted 5
    commit a 2 → settled
    release a 1 → settled outstanding 2
    refund a 5 → closed
    refund a 4 → uncommitted
    release a → settled released 3
    refund a 4 → closed
    refund a 3 → closed
    refund a 2 → settled refunded 2
    reserve b 5 → granted 5
    release b → settled
    refund b → closed
    refund b 1 → closed
  `

  table('units settled one way cannot be settled another way', [grant(1, 10)])`
    consume a 4 → granted 4 state committed committed 4
    commit a → replayed
    commit a 4 → replayed
    refund a 4 → settled state refunded
    // Refunded units stay committed, so that a repeated commit succeeds.
    commit a 4 → replayed state refunded
    release a 1 → closed
    reserve b 4 → granted 4
    release b → settled
    refund b → closed
    release b 4 → replayed
  `

  table('a partial grant settles up to the granted units', [grant(1, 3)])`
    reserve a 5 partial → granted 3
    commit a 4 → exceeds
    release a 5 → exceeds
    commit a → settled state committed committed 3
    refund a 4 → exceeds
  `
})

describe('states', () => {
  table('reserved while units are outstanding; else committed or refunded; else expired or released', [grant(1, 90)])`
    reserve a 3 → granted 3 state reserved
    commit a 1 → settled state reserved
    refund a 1 → settled state reserved
    release a → settled state refunded
    reserve b 3 → granted 3
    commit b 1 → settled
    release b → settled state committed
    refund b → settled state refunded
    reserve c 3 → granted 3
    release c → settled state released
    reserve d 3 ttl 60 → granted 3 state reserved until 01-10T12:01
    release d 2 → settled state reserved
    reserve e 3 ttl 60 → granted 3
    commit e 1 → settled
    @01-10T12:01 find d → found state expired released 3
    // It expired, but it has committed units.
    find e → found state committed committed 1 released 2
    refund e → settled state refunded
    // Released in full before its expiry: not expired.
    find c → found state released
    @01-10T13:00 find c → found state released
  `
})

describe('which draws are used, reserved and returned', () => {
  // The first (committed − refunded) units of the draws are used, the next outstanding ones reserved, the rest returned.
  table('in burn order', [grant(1, 3, { priority: 1 }), grant(2, 3, { priority: 2 }), cap(9, 10)])`
    reserve a 6 → granted 6 draws 1:3+2:3+9:6
    commit a 2 → settled
    quota 1 → window 0 used 2 reserved 1
    quota 2 → window 0 used 0 reserved 3
    release a 2 → settled
    quota 1 → window 0 used 2 reserved 1
    quota 2 → window 0 used 0 reserved 1
    quota 9 → window 0 used 2 reserved 2
    // A refund moves the outstanding units forward.
    refund a 1 → settled
    quota 1 → window 0 used 1 reserved 2
    quota 2 → window 0 used 0 reserved 0
    quota 9 → window 0 used 1 reserved 2
    commit a → settled state committed committed 4 refunded 1
    quota 1 → window 0 used 3 reserved 0
    quota 9 → window 0 used 3 reserved 0
    refund a → settled state refunded
    quota 1 → window 0 used 0 reserved 0
    quota 9 → window 0 used 0 reserved 0
  `

  table('with two draws on one grant, for its own units and for its overage', [
    grant(1, 2, { priority: 1, overage_limit: 2 }),
    grant(2, 1, { priority: 2 }),
  ])`
    consume a 5 → granted 5 draws 1:2+2:1+1:2
    refund a 1 → settled
    quota 1 → window 0 used 3 reserved 0
    refund a 3 → settled
    quota 1 → window 0 used 2 reserved 0
    quota 2 → window 0 used 0 reserved 0
  `
})

describe('a quota’s status does not affect settling', () => {
  const reserved = `reserve a 3 → granted 3
    reserve b 3 → granted 3
    consume c 3 → granted 3`
  const settled = `commit a → settled state committed
    release b → settled state released
    refund c 1 → settled refunded 1
    expire c → found
    quota 1 → window 0 used 5 reserved 0
    quota 9 → window 0 used 5 reserved 0`
  const quotas = [grant(1, 9), cap(9, 9)]

  table('suspended', quotas)`${reserved}; set 1 {"enabled":false}; ${settled}`
  table('deleted', quotas)`${reserved}; set 1 null; set 9 null → done; ${settled}`
  table('no longer matching', quotas)`${reserved}; set 1 {"countries":["FR"]}; ${settled}`
  table('lowered below what is drawn', quotas)`${reserved}; set 1 {"limit":1}; ${settled}`
  // 1768046400000 is 2026-01-10 12:00.
  table('expired', quotas)`${reserved}; set 1 {"expires_at":1768046400000}; ${settled}`
})

describe('feedback', () => {
  table('counts once, in any state of the units', [grant(1, 20)])`
    feedback a → not_found
    reserve a 3 → granted 3 verified false
    feedback a → settled state reserved outstanding 3 verified true
    feedback a → replayed verified true
    commit a → settled state committed verified true
    refund a → settled state refunded verified true
    consume b 2 → granted 2 verified false
    refund b → settled state refunded verified false
    feedback b → settled state refunded verified true
    reserve c 2 → granted 2
    release c → settled
    feedback c → settled state released verified true
    reserve d 2 ttl 60 → granted 2
    @01-10T12:05 feedback d → settled state expired verified true
    quota 1 → window 0 used 0 reserved 0
  `

  table('comes with a commit, its repetition too, and not with one that is refused', [grant(1, 20)])`
    reserve a 3 → granted 3
    commit a 2 verified → settled committed 2 verified true
    commit a 2 verified → replayed committed 2 verified true
    commit a → settled committed 3 verified true
    consume b 3 → granted 3
    commit b verified → replayed committed 3 verified true
    feedback b → replayed verified true
    reserve c 3 → granted 3
    release c 1 → settled
    commit c 3 verified → closed verified false
    commit c 4 verified → exceeds verified false
  `
})
