import { describe } from 'vitest'
import { cap, grant, table } from './ledger-lines.ts'

// Contract, section 6, "Ids" and "Asking again".
describe('asking again', () => {
  table(
    'with the same content gets the reservation as it stands, and takes nothing',
    [grant(1, 10)],
    [
      ['reserve a 4', 'granted 4 state reserved remaining 6'],
      ['reserve a 4', 'granted 4 replayed state reserved remaining 6'],
      ['commit a 1', 'settled state reserved committed 1'],
      ['reserve a 4', 'granted 4 replayed state reserved committed 1 outstanding 3 remaining 6'],
      ['commit a', 'settled state committed'],
      ['reserve a 4', 'granted 4 replayed state committed committed 4 remaining 6'],
      ['consume b 6', 'granted 6 remaining 0'],
      ['consume b 6', 'granted 6 replayed remaining 0'],
      ['quota 1', 'window 0 used 10 reserved 0'],
    ],
  )

  const asked = 'reserve a 4 to DE type otp'
  table(
    'with another content names each field that differs',
    [grant(1, 10), grant(2, 10, { countries: ['DE'] })],
    [
      [asked, 'granted 4'],
      ['reserve a 5 to DE type otp', 'mismatch units'],
      ['reserve a 4 to FR type otp', 'mismatch country'],
      ['reserve a 4 type otp', 'mismatch country'],
      ['reserve a 4 to DE type marketing', 'mismatch message_type'],
      ['reserve a 4 to DE', 'mismatch message_type'],
      [`${asked} partial`, 'mismatch allow_partial'],
      [`${asked} force`, 'mismatch force'],
      ['consume a 4 to DE type otp', 'mismatch op'],
      ['consume a 5 partial force', 'mismatch units op country message_type allow_partial force'],
      // How long it is held and how it ends may differ: a retry need not remember them.
      [`${asked} ttl 60 on_expiry commit`, 'granted 4 replayed until 01-10T12:10'],
      [`${asked} explain`, 'granted 4 replayed explained null'],
      ['quota 1', 'window 0 used 0 reserved 4'],
    ],
  )

  table(
    'compares with what was asked, not with the part that was granted',
    [grant(1, 3)],
    [
      ['reserve a 5 partial', 'granted 3'],
      ['reserve a 5 partial', 'granted 3 replayed'],
      ['reserve a 3 partial', 'mismatch units'],
    ],
  )

  table(
    'after all of it came back is closed, by whichever way',
    [grant(1, 10)],
    [
      ['reserve a 2', 'granted 2'],
      ['release a', 'settled state released'],
      ['reserve a 2', 'closed state released'],
      ['consume b 2', 'granted 2'],
      ['refund b', 'settled state refunded'],
      ['consume b 2', 'closed state refunded'],
      ['reserve c 2 ttl 60', 'granted 2'],
      ['@01-10T12:01 reserve c 2 ttl 60', 'closed state expired'],
      // Part refunded, the rest released.
      ['reserve d 2', 'granted 2'],
      ['commit d 1', 'settled'],
      ['refund d 1', 'settled state reserved'],
      ['release d', 'settled state refunded'],
      ['reserve d 2', 'closed'],
      // Another content is still another content.
      ['reserve d 3', 'mismatch units'],
      ['quota 1', 'window 0 used 0 reserved 0'],
    ],
  )

  table(
    'while a part of it is reserved or committed is not closed',
    [grant(1, 10)],
    [
      ['reserve a 3', 'granted 3'],
      ['release a 2', 'settled released 2'],
      ['reserve a 3', 'granted 3 replayed released 2 outstanding 1'],
      ['commit a', 'settled state committed committed 1'],
      ['reserve a 3', 'granted 3 replayed state committed'],
      ['consume b 3', 'granted 3'],
      ['refund b 2', 'settled state committed refunded 2'],
      ['consume b 3', 'granted 3 replayed refunded 2'],
    ],
  )

  table(
    'for what was denied is judged afresh, and may ask for something else',
    [grant(1, 5)],
    [
      ['reserve a 6', 'denied quota_exhausted'],
      ['find a', 'not_found'],
      ['reserve b 5', 'granted 5'],
      ['reserve a 1', 'denied quota_exhausted'],
      ['release b', 'settled'],
      ['reserve a 1', 'granted 1'],
      ['commit zzz', 'not_found'],
      ['release zzz 1', 'not_found'],
      ['refund zzz', 'not_found'],
      ['expire zzz', 'not_found'],
    ],
  )

  table(
    'is told of what was taken, though the quotas would deny it now',
    [grant(1, 5), cap(9, 5)],
    [
      ['reserve a 5', 'granted 5'],
      ['set 1 {"enabled":false}', 'done'],
      ['reserve a 5', 'granted 5 replayed remaining 0'],
      ['set 1 null', 'done'],
      ['reserve a 5', 'granted 5 replayed remaining 0'],
    ],
  )

  table(
    'is safe across the end of a window: charged once, in the window it was granted in',
    [grant(1, 5)],
    [
      ['consume a 5', 'granted 5'],
      ['@02-01 consume a 5', 'granted 5 replayed draws 1:5 remaining 5'],
      ['quota 1', 'window 1 used 0 reserved 0'],
      ['window 1 0', 'closed used 5 reserved 0'],
    ],
  )

  table(
    'closes first what time has closed, and then answers',
    [grant(1, 5)],
    [
      ['reserve a 5 ttl 60 on_expiry commit', 'granted 5'],
      ['@01-10T12:01 reserve a 5 ttl 60 on_expiry commit', 'granted 5 replayed state committed'],
      ['reserve b 1', 'denied quota_exhausted'],
    ],
  )
})

describe('a check', () => {
  table(
    'answers what a reservation would, and takes nothing',
    [grant(1, 5), grant(2, 3)],
    [
      ['check 6', 'granted 6 state reserved draws 1:5+2:1 remaining 8'],
      ['check 6', 'granted 6 remaining 8'],
      ['check 9', 'denied quota_exhausted remaining 8 by 2'],
      ['check 9 partial', 'granted 8'],
      ['reserve a 6', 'granted 6 remaining 2'],
      ['check 2', 'granted 2'],
      ['check 3', 'denied quota_exhausted'],
      ['quota 1', 'window 0 used 0 reserved 5'],
      ['quota 2', 'window 0 used 0 reserved 1'],
    ],
  )
})
