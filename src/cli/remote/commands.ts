/** The commands over the API. Their dispatch, options, help and completion come from this table. */
import { type AuditEntry, AuditQuery } from '../../contract/audit.ts'
import { type ReplayedPause, ReplayQuery } from '../../contract/breaker.ts'
import { BreakerReq } from '../../contract/breaker-settings.ts'
import { AdminDenialsQuery, DenialParams, type DenialRecord } from '../../contract/denials.ts'
import { EventsQuery } from '../../contract/events.ts'
import {
  ApproveReq,
  DeclineReq,
  type IncreaseRequest,
  IncreaseRequestParams,
  IncreaseRequestsQuery,
} from '../../contract/increase-requests.ts'
import { type Pause, PauseParams, PauseReq, PausesQuery } from '../../contract/pauses.ts'
import { HistoryQuery, type QuotaAsShown, type QuotaChange } from '../../contract/quota-history.ts'
import { SummaryQuery } from '../../contract/quota-summary.ts'
import {
  AdjustReq,
  AdminListQuery,
  CreateQuotaReq,
  QuotaParams,
  type SmsQuota,
  UpdateQuotaReq,
} from '../../contract/quotas.ts'
import { type ReservationRecord, SenderReservationsQuery } from '../../contract/reservations.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { SearchQuery } from '../../contract/search.ts'
import { SENDER_COMPONENTS } from '../../contract/sender.ts'
import { ReturnReq, type Transfer, TransferParams, TransferReq, TransfersQuery } from '../../contract/transfers.ts'
import { AdminUsageQuery, TopUsersQuery } from '../../contract/usage.ts'
import { ProfileReq, type UserEntry, UserParams, UsersQuery } from '../../contract/users.ts'
import { QUOTA_SETTINGS } from '../../domain/quota-settings.ts'
import type { Command } from '../command.ts'
import { AGENT_COMMAND } from './agent/command.ts'
import { decision, done, lastDays, lastSevenDays, PERIOD_OPTIONS, record, topUsers, usage } from './answers.ts'
import { BULK_COMMAND, GIVE_COMMAND } from './bulk/command.ts'
import { changesIn } from './changes.ts'
import { EVENT_OPTIONS, events } from './events.ts'
import { EXPORT_COMMAND } from './export/command.ts'
import { IMPORT_COMMAND } from './import/command.ts'
import { list } from './lists.ts'
import { PLAN_COMMANDS } from './plans/commands.ts'
import { remoteCommand } from './remote-command.ts'
import { columns, USER, withNone } from './tables.ts'

const { CheckReq, ReserveReq, ConsumeReq, CommitReq, ReleaseReq, RefundReq, FeedbackReq } = SENDER_COMPONENTS

const UNLIMITED = 'unlimited'
const timesIn = (zone: string) => () =>
  `A TIME has an offset, as in 2026-03-01T12:00:00Z, or is ${zone}, as in 2026-03-01T12:00. A day is its midnight.`
const LOCAL_TIMES = timesIn('local')
const TIMES = timesIn('in --time-zone, which is local unless given')

/** What administrators set, and the plan that they gave. The other fields of a quota follow, or count. */
function settingsOf({ plan, ...quota }: QuotaAsShown): object {
  const settings = Object.entries(quota).filter(([field]) => Object.hasOwn(QUOTA_SETTINGS, field))
  return { ...Object.fromEntries(settings), plan: plan == null ? null : `${plan.name}, version ${plan.version}` }
}

/** What is left: null is all, and undefined nothing that one figure says, as each value has its own. */
const leftOf = ({ per, remaining }: SmsQuota) => (per == null ? remaining : undefined)

/** The period, and what a cap counts in it: "hour, messages per recipient". */
function periodText({ period, per, counts }: SmsQuota): string | null {
  const counted = per == null ? counts : `${counts} per ${per}`
  const isUsual = counted === undefined || counted === 'units'
  return isUsual ? period : `${period ?? 'once'}, ${counted}`
}

const QUOTA_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'quota list',
    summary: 'Lists quotas of all users or of one.',
    more: LOCAL_TIMES,
    operation: 'listQuotas',
    own: 'listMyQuotas',
    requests: [AdminListQuery],
    show: list(
      columns<SmsQuota>(
        'id',
        'user_id',
        USER,
        'kind',
        'status',
        withNone('limit', UNLIMITED),
        'used',
        'reserved',
        { title: 'remaining', value: leftOf, none: UNLIMITED },
        'name',
        withNone('window_end', 'never'),
        { title: 'period', value: periodText },
        {
          title: 'plan',
          value: ({ plan }) => (plan == null ? null : `${plan.name}: ${plan.slot}`),
          isOptional: true,
        },
      ),
    ),
    examples: [
      'sms-quota quota list --user-id 7 --status active',
      'sms-quota quota list --sort=-expires_at --limit 100',
      'sms-quota quota list --mine',
    ],
  }),
  remoteCommand({
    name: 'quota get',
    summary: 'Shows a quota.',
    operation: 'getQuota',
    requests: [QuotaParams],
    operands: { id: 'ID' },
    show: record,
    examples: ['sms-quota quota get 164'],
  }),
  remoteCommand({
    name: 'quota history',
    summary: 'Lists the changes of a quota by administrators, newest first: who changed what, when and why.',
    operation: 'listChangesOfQuota',
    requests: [QuotaParams, HistoryQuery],
    operands: { id: 'ID' },
    show: list(
      columns<QuotaChange>('version', 'at', 'action', 'actor', 'reason', {
        title: 'change',
        value: ({ before, after }) =>
          before === null ? null : changesIn(settingsOf(before), settingsOf(after)).join(', ') || null,
      }),
    ),
    examples: ['sms-quota quota history 164'],
  }),
  remoteCommand({
    name: 'quota create',
    summary: 'Creates a quota.',
    more: timesIn('in --time-zone, if given, otherwise local'),
    operation: 'createQuota',
    requests: [CreateQuotaReq],
    show: record,
    examples: [
      'sms-quota quota create --user-id 7 --limit 1000 --period month --time-zone Europe/Berlin',
      'sms-quota quota create --user-id 7 --limit 1000 --period month --anchor 15 --time-zone Europe/Berlin',
      'sms-quota quota create --user-id 7 --limit 100 --period day --kind cap --countries DE,AT',
      'sms-quota quota create --user-id 7 --limit 20 --period day --kind cap --except-countries DE,AT',
      'sms-quota quota create --user-id 7 --limit 3 --period hour --kind cap --per recipient --message-types otp',
    ],
  }),
  remoteCommand({
    name: 'quota update',
    summary: 'Changes fields of a quota. Those that are not given keep their values.',
    more: LOCAL_TIMES,
    operation: 'updateQuota',
    requests: [QuotaParams, UpdateQuotaReq],
    operands: { id: 'ID' },
    // They cannot change.
    hides: ['user_id', 'kind', 'period', 'anchor', 'time_zone', 'per', 'counts'],
    takesVersion: true,
    show: record,
    examples: [
      'sms-quota quota update 164 --limit 2000 --if-match 3',
      'sms-quota quota update 164 --enabled false',
      'sms-quota quota update 164 --expires-at null',
    ],
  }),
  remoteCommand({
    name: 'quota adjust',
    summary: "Adds units to a quota's limit, or subtracts them.",
    operation: 'adjustQuota',
    requests: [QuotaParams, AdjustReq],
    operands: { id: 'ID' },
    takesVersion: true,
    show: record,
    examples: ['sms-quota quota adjust 164 --delta 500 --reason "Goodwill after the outage"'],
  }),
  remoteCommand({
    name: 'quota delete',
    summary: 'Deletes a quota.',
    operation: 'deleteQuota',
    requests: [QuotaParams],
    operands: { id: 'ID' },
    takesVersion: true,
    show: done(({ request }) => `Quota ${request.id} is deleted.`),
    examples: ['sms-quota quota delete 164', 'sms-quota quota delete 164 --if-match 3'],
  }),
]

const TRANSFER_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'transfer',
    summary: 'Moves units of a grant to another user.',
    more: LOCAL_TIMES,
    operation: 'transferUnits',
    requests: [QuotaParams, TransferReq],
    operands: { id: 'QUOTA', to_user_id: 'USER' },
    show: record,
    examples: ['sms-quota transfer 164 8 --units 500 --reason "Branch in Lyon"'],
  }),
  remoteCommand({
    name: 'transfer return',
    summary: 'Gives units of a transfer back that are neither used nor reserved.',
    operation: 'returnUnits',
    requests: [TransferParams, ReturnReq],
    operands: { id: 'TRANSFER' },
    show: record,
    examples: ['sms-quota transfer return 1042', 'sms-quota transfer return 1042 --units 200'],
  }),
  remoteCommand({
    name: 'transfer list',
    summary: 'Lists transfers, newest first: of all users, or from and to one.',
    operation: 'listTransfers',
    requests: [TransfersQuery],
    show: list(
      columns<Transfer>(
        'id',
        'at',
        'user_id',
        USER,
        'quota_id',
        withNone('to_user_id', 'erased'),
        { title: 'to_user', value: row => row.to_user_name ?? row.to_user_ref, isOptional: true },
        withNone('to_quota_id', 'erased'),
        'units',
        'returned',
        'reason',
      ),
    ),
    examples: ['sms-quota transfer list --user-id 7'],
  }),
]

const stateOf = ({ active, observed, lifted_at }: Pause) =>
  active ? 'active' : observed ? 'observed' : lifted_at === null ? 'ended' : 'lifted'

const PAUSE_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'pause list',
    summary: 'Lists paused destinations, newest first, with those that have ended.',
    operation: 'listPauses',
    requests: [PausesQuery],
    show: list(
      columns<Pause>(
        'id',
        withNone('user_id', 'all'),
        USER,
        'country',
        'message_types',
        { title: 'state', value: stateOf },
        withNone('until', 'lifted'),
        'origin',
        'created_by',
        'reason',
      ),
    ),
    examples: ['sms-quota pause list --active true', 'sms-quota pause list --user-id 7 --country FR'],
  }),
  remoteCommand({
    name: 'pause make',
    summary: 'Denies messages to a country, of a user or of all (--user-id null).',
    more: LOCAL_TIMES,
    operation: 'createPause',
    requests: [PauseReq],
    operands: { country: 'COUNTRY' },
    show: record,
    examples: [
      'sms-quota pause make FR --user-id 7 --message-types otp --until 2027-01-31 --reason "Pumped codes"',
      'sms-quota pause make LV --user-id null',
    ],
  }),
  remoteCommand({
    name: 'pause lift',
    summary: 'Lifts a pause.',
    operation: 'liftPause',
    requests: [PauseParams],
    operands: { id: 'PAUSE' },
    show: done(({ request }) => `Pause ${request.id} is lifted.`),
    examples: ['sms-quota pause lift 12'],
  }),
]

const REQUEST_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'request list',
    summary: "Lists users' requests for more units, newest first.",
    operation: 'listIncreaseRequests',
    own: 'listMyIncreaseRequests',
    requests: [IncreaseRequestsQuery],
    show: list(
      columns<IncreaseRequest>(
        'id',
        'created_at',
        'user_id',
        USER,
        'quota_id',
        'units',
        withNone('until', 'for good'),
        'status',
        { title: 'granted', value: row => row.granted?.units },
        'decided_by',
        'reason',
      ),
    ),
    examples: ['sms-quota request list --status open', 'sms-quota request list --mine'],
  }),
  remoteCommand({
    name: 'request approve',
    summary: 'Gives a user the units that were asked for, or others.',
    more: LOCAL_TIMES,
    operation: 'approveIncreaseRequest',
    requests: [IncreaseRequestParams, ApproveReq],
    operands: { id: 'REQUEST' },
    show: record,
    examples: ['sms-quota request approve 1042', 'sms-quota request approve 1042 --units 300 --note "For the start."'],
  }),
  remoteCommand({
    name: 'request decline',
    summary: 'Declines a request for more units.',
    operation: 'declineIncreaseRequest',
    requests: [IncreaseRequestParams, DeclineReq],
    operands: { id: 'REQUEST' },
    show: record,
    examples: ['sms-quota request decline 1042 --note "Please order a larger package."'],
  }),
]

const BREAKER_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'breaker get',
    summary: 'Shows the settings of the breaker against pumped traffic, and what it saw lately.',
    operation: 'getBreaker',
    requests: [],
    show: record,
    examples: ['sms-quota breaker get'],
  }),
  remoteCommand({
    name: 'breaker set',
    summary: 'Changes settings of the breaker against pumped traffic.',
    operation: 'updateBreaker',
    requests: [BreakerReq],
    show: record,
    examples: ['sms-quota breaker set --mode enforce', 'sms-quota breaker set --pass-countries DE,AT'],
  }),
]

const READ_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'users',
    summary: 'Lists the users who have quotas or usage.',
    operation: 'listUsers',
    requests: [UsersQuery],
    show: list(columns<UserEntry>('user_id', USER, 'quotas', withNone('last_activity_at', 'never'))),
    examples: ['sms-quota users', 'sms-quota users --all --json'],
  }),
  remoteCommand({
    name: 'user',
    summary: 'Shows a user: how many quotas, and when they last sent.',
    operation: 'getUser',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    show: record,
    examples: ['sms-quota user 7'],
  }),
  remoteCommand({
    name: 'user profile',
    summary: 'Shows what another system calls a user: the reference, and how to address a person.',
    operation: 'getProfile',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    show: record,
    examples: ['sms-quota user profile 7', 'sms-quota user profile ref:customer-1042'],
  }),
  remoteCommand({
    name: 'user update',
    summary: 'Changes the profile of a user. Fields that are not given keep their values; the reference is set once.',
    operation: 'updateProfile',
    requests: [UserParams, ProfileReq],
    operands: { user_id: 'USER' },
    takesVersion: true,
    show: record,
    examples: [
      'sms-quota user update 7 --ref customer-1042 --name "Example Ltd"',
      'sms-quota user update ref:customer-1042 --email null --time-zone Europe/Berlin',
    ],
  }),
  remoteCommand({
    name: 'summary',
    summary: 'Shows what the quotas of a user add up to: limit, used, what is left, and until when.',
    operation: 'summarizeQuotasOfUser',
    own: 'summarizeMyQuotas',
    requests: [SummaryQuery],
    operands: { user_id: 'USER' },
    show: record,
    examples: ['sms-quota summary 7', 'sms-quota summary --mine'],
  }),
  remoteCommand({
    name: 'usage',
    summary: 'Reports units sent, refunded and denied; by default of the last seven days, by the day.',
    more: TIMES,
    operation: 'reportUsage',
    own: 'reportMyUsage',
    requests: [AdminUsageQuery],
    complete: lastSevenDays,
    overrides: PERIOD_OPTIONS,
    show: usage,
    examples: [
      'sms-quota usage --user-id 7',
      'sms-quota usage --from 2026-03-01 --to 2026-04-01 --interval week --group-by country',
    ],
  }),
  remoteCommand({
    name: 'top-users',
    summary: 'Lists the users who sent most; by default in the last seven days.',
    more: LOCAL_TIMES,
    operation: 'listTopUsers',
    requests: [TopUsersQuery],
    complete: lastDays,
    overrides: PERIOD_OPTIONS,
    show: topUsers,
    examples: ['sms-quota top-users', 'sms-quota top-users --country NG --limit 100'],
  }),
  remoteCommand({
    name: 'denials',
    summary: 'Lists denied messages, the newest first.',
    more: LOCAL_TIMES,
    operation: 'listDenials',
    own: 'listMyDenials',
    requests: [AdminDenialsQuery],
    show: list(
      columns<DenialRecord>(
        'at',
        'user_id',
        USER,
        'id',
        'units',
        'reason',
        'country',
        withNone('retry_at', 'never'),
        'limiting_quota_id',
        'denial_id',
      ),
    ),
    examples: ['sms-quota denials --user-id 7', 'sms-quota denials --reason cap_reached --from 2026-03-01'],
  }),
  remoteCommand({
    name: 'denial',
    summary: 'Shows a denied message, and why each quota counted or not.',
    operation: 'getDenial',
    own: 'getMyDenial',
    requests: [DenialParams],
    operands: { denial_id: 'DENIAL_ID' },
    show: record,
    examples: ['sms-quota denial den_7_1773576000000_42'],
  }),
  remoteCommand({
    name: 'audit',
    summary: 'Lists all changes by administrators, newest first.',
    more: LOCAL_TIMES,
    operation: 'listAudit',
    requests: [AuditQuery],
    show: list(
      columns<AuditEntry>(
        'at',
        'actor',
        'resource',
        {
          title: 'id',
          value: row => row.quota_id ?? row.plan_id ?? row.pause_id ?? row.increase_request_id ?? row.webhook_id,
        },
        'user_id',
        USER,
        'action',
        'version',
        'reason',
        'request_id',
      ),
    ),
    examples: ['sms-quota audit --user-id 7', 'sms-quota audit --plan-id Basic --from 2026-03-01'],
  }),
  remoteCommand({
    name: 'breaker replay',
    summary: 'Lists what the breaker would have paused in the last days, with its budgets or with others.',
    operation: 'replayBreaker',
    requests: [ReplayQuery],
    show: list(
      columns<ReplayedPause>(
        'user_id',
        USER,
        'country',
        'from',
        'until',
        { title: 'budget', value: row => row.evidence.budget },
        { title: 'counted', value: row => Math.round(row.evidence.counted) },
        { title: 'allowed', value: row => Math.round(row.evidence.allowed) },
        'stopped',
        'stopped_verified',
      ),
    ),
    examples: ['sms-quota breaker replay --days 7', 'sms-quota breaker replay --day 60 --hour 20'],
  }),
  remoteCommand({
    name: 'search',
    summary: 'Finds users, quotas, reservations, webhooks and plans by the beginning of an id, a name or a reference.',
    operation: 'search',
    requests: [SearchQuery],
    operands: { q: 'TEXT' },
    show: record,
    examples: ['sms-quota search msg-10', 'sms-quota search "Monthly package"'],
  }),
  remoteCommand({
    name: 'events',
    summary: 'Shows events: quotas created, changed, used up, expired, and so on.',
    operation: 'listEvents',
    requests: [EventsQuery],
    overrides: EVENT_OPTIONS,
    show: events,
    examples: [
      'sms-quota events --last 50',
      'sms-quota events --follow --types quota.threshold_reached,quota.expired',
      'sms-quota events --after=CURSOR --all --json',
    ],
  }),
  remoteCommand({
    name: 'whoami',
    summary: 'Shows who the token belongs to, its roles, and until when it is valid.',
    operation: 'whoAmI',
    requests: [NoQuery],
    show: record,
    examples: ['sms-quota whoami', 'sms-quota whoami --profile production'],
  }),
]

const UNITS = () => 'With --to and --text, the service counts the segments and finds the country.'
const UNIT_OPTIONS = { units: { means: 'how many units, or else --to and --text' } }

const SENDER_COMMANDS: readonly Command[] = [
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
    show: record,
    examples: ['sms-quota commit 7 msg-1042', 'sms-quota commit 7 msg-1042 --total-units 1'],
  }),
  remoteCommand({
    name: 'release',
    summary: 'Releases reserved units: the message was not sent.',
    operation: 'release',
    requests: [ReleaseReq],
    operands: { user_id: 'USER', id: 'ID' },
    show: record,
    examples: ['sms-quota release 7 msg-1042'],
  }),
  remoteCommand({
    name: 'refund',
    summary: 'Gives committed units back: the message failed later.',
    operation: 'refund',
    requests: [RefundReq],
    operands: { user_id: 'USER', id: 'ID' },
    show: record,
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
    show: record,
    examples: ['sms-quota feedback 7 msg-1042'],
  }),
]

export const REMOTE_COMMANDS: readonly Command[] = [
  ...QUOTA_COMMANDS,
  ...PLAN_COMMANDS,
  BULK_COMMAND,
  GIVE_COMMAND,
  IMPORT_COMMAND,
  EXPORT_COMMAND,
  ...TRANSFER_COMMANDS,
  ...REQUEST_COMMANDS,
  ...PAUSE_COMMANDS,
  ...BREAKER_COMMANDS,
  ...READ_COMMANDS,
  ...SENDER_COMMANDS,
  AGENT_COMMAND,
]
