/** What happened and how much was used, of one user or of all. */
import { type AuditEntry, AuditQuery } from '../../../contract/audit.ts'
import { type ReplayedPause, ReplayQuery } from '../../../contract/breaker.ts'
import { type Customer, CustomersQuery } from '../../../contract/customers.ts'
import { AdminDenialsQuery, DenialParams, type DenialRecord } from '../../../contract/denials.ts'
import { EventsQuery } from '../../../contract/events.ts'
import { SummaryQuery } from '../../../contract/quota-summary.ts'
import { NoQuery } from '../../../contract/schemas.ts'
import { SearchQuery } from '../../../contract/search.ts'
import { AdminUsageQuery, TopUsersQuery } from '../../../contract/usage.ts'
import { ProfileReq, type UserEntry, UserParams, UsersQuery } from '../../../contract/users.ts'
import type { Command } from '../../command.ts'
import { lastDays, lastSevenDays, PERIOD_OPTIONS, topUsers, usage } from '../answers.ts'
import { EVENT_OPTIONS, events } from '../events.ts'
import { LOCAL_TIMES, TIMES } from '../fields.ts'
import { list } from '../lists.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns, USER, withNone } from '../tables.ts'

export const READ_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'users',
    summary: 'Lists the users who have quotas or usage.',
    operation: 'listUsers',
    requests: [UsersQuery],
    show: list(columns<UserEntry>('user_id', USER, 'quotas', withNone('last_activity_at', 'never'))),
    examples: ['sms-quota users', 'sms-quota users --all --json'],
  }),
  remoteCommand({
    name: 'customers',
    summary: 'Lists users with what they can send now, and what they sent and were denied in 30 days.',
    operation: 'listCustomers',
    requests: [CustomersQuery],
    show: list(
      columns<Customer>(
        'user_id',
        USER,
        'state',
        withNone('reason', ''),
        withNone('sendable', 'unlimited'),
        'used_percent',
        'sent_units',
        'unmet_units',
        withNone('last_message_at', 'never'),
      ),
    ),
    examples: ['sms-quota customers --view at_risk', 'sms-quota customers --sort growth --all --json'],
  }),
  remoteCommand({
    name: 'user',
    summary: 'Shows a user: how many quotas, and when they last sent.',
    operation: 'getUser',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    examples: ['sms-quota user 7'],
  }),
  remoteCommand({
    name: 'user profile',
    summary: 'Shows what another system calls a user: the reference, and how to address a person.',
    operation: 'getProfile',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    examples: ['sms-quota user profile 7', 'sms-quota user profile ref:customer-1042'],
  }),
  remoteCommand({
    name: 'user update',
    summary: 'Changes the profile of a user. Fields that are not given keep their values; the reference is set once.',
    operation: 'updateProfile',
    requests: [UserParams, ProfileReq],
    operands: { user_id: 'USER' },
    takesVersion: true,
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
        'thing_id',
        'user_id',
        USER,
        'action',
        'version',
        'reason',
        'request_id',
      ),
    ),
    examples: ['sms-quota audit --user-id 7', 'sms-quota audit --resource plan --thing-id 3 --from 2026-03-01'],
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
    examples: ['sms-quota whoami', 'sms-quota whoami --profile production'],
  }),
]
