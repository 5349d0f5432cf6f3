/** What senders ask and report. */
import { type ReservationRecord, SenderReservationsQuery } from '../../../contract/reservations.ts'
import { SENDER_COMPONENTS } from '../../../contract/sender.ts'
import type { Command } from '../../command.ts'
import { decision } from '../answers.ts'
import { list } from '../lists.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns, withNone } from '../tables.ts'

const { CheckReq, ReserveReq, ConsumeReq, CommitReq, ReleaseReq, RefundReq, FeedbackReq } = SENDER_COMPONENTS

const UNITS = () => 'With --to and --text, the service counts the segments and finds the country.'
const UNIT_OPTIONS = { units: { means: 'how many units, or else --to and --text' } }

export const SENDER_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'reservations',
    summary: "Lists the token's own reservations that are open: neither committed, released nor expired.",
    more: () =>
      'Commit those that were sent, and release the others; after its expires_at the service closes one by itself.',
    operation: 'listReservationsOfSender',
    requests: [SenderReservationsQuery],
    overrides: { 'older-than': { value: 'SECONDS' } },
    show: list(
      columns<ReservationRecord>(
        'user_id',
        'id',
        'state',
        'units',
        'committed',
        'released',
        'created_at',
        withNone('expires_at', 'never'),
        'on_expiry',
        'country',
        'message_type',
      ),
    ),
    examples: [
      'sms-quota reservations --older-than 3600',
      'sms-quota reservations --user-id 7 --all --json',
      'sms-quota reservations --state expired',
    ],
  }),
  remoteCommand({
    name: 'check',
    summary: 'Says whether a message of a user may be sent now, and takes nothing.',
    more: UNITS,
    operation: 'check',
    // Senders have the one, administrators and support the other.
    instead: 'checkQuotasOfUser',
    requests: [CheckReq],
    overrides: UNIT_OPTIONS,
    operands: { user_id: 'USER' },
    show: decision,
    examples: [
      'sms-quota check 7 --units 2 --explain',
      'sms-quota check 7 --to +4915112345678 --text "Hello"',
      'sms-quota check 7 --units 1 --recipient +4915112345678 --tag sales',
    ],
  }),
  remoteCommand({
    name: 'reserve',
    summary: 'Reserves units of a user for a message, if the quotas allow it.',
    more: UNITS,
    operation: 'reserve',
    requests: [ReserveReq],
    overrides: UNIT_OPTIONS,
    operands: { user_id: 'USER', id: 'ID' },
    show: decision,
    examples: ['sms-quota reserve 7 msg-1042 --units 2', 'sms-quota reserve 7 msg-1042 --units 2 --ttl-seconds 60'],
  }),
  remoteCommand({
    name: 'consume',
    summary: 'Reserves and commits in one: for a message that is sent for certain.',
    more: UNITS,
    operation: 'consume',
    requests: [ConsumeReq],
    overrides: UNIT_OPTIONS,
    operands: { user_id: 'USER', id: 'ID' },
    show: decision,
    examples: ['sms-quota consume 7 msg-1043 --units 1'],
  }),
  remoteCommand({
    name: 'commit',
    summary: 'Commits reserved units: the message was sent.',
    operation: 'commit',
    requests: [CommitReq],
    operands: { user_id: 'USER', id: 'ID' },
    examples: ['sms-quota commit 7 msg-1042', 'sms-quota commit 7 msg-1042 --total-units 1'],
  }),
  remoteCommand({
    name: 'release',
    summary: 'Releases reserved units: the message was not sent.',
    operation: 'release',
    requests: [ReleaseReq],
    operands: { user_id: 'USER', id: 'ID' },
    examples: ['sms-quota release 7 msg-1042'],
  }),
  remoteCommand({
    name: 'refund',
    summary: 'Gives committed units back: the message failed later.',
    operation: 'refund',
    requests: [RefundReq],
    operands: { user_id: 'USER', id: 'ID' },
    examples: ['sms-quota refund 7 msg-1042'],
  }),
  remoteCommand({
    name: 'feedback',
    summary: "Says that a message's code was entered.",
    operation: 'feedback',
    requests: [FeedbackReq],
    operands: { user_id: 'USER', id: 'ID' },
    hides: ['verified'],
    complete: request => ({ ...request, verified: true }),
    examples: ['sms-quota feedback 7 msg-1042'],
  }),
]
