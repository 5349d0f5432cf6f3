/** Quotas: reading and changing them one by one. */
import { AdjustReq } from '../../../contract/adjust.ts'
import { HistoryQuery, type QuotaAsShown, type QuotaChange } from '../../../contract/quota-history.ts'
import { AdminListQuery, CreateQuotaReq, QuotaParams, type SmsQuota, UpdateQuotaReq } from '../../../contract/quotas.ts'
import { QUOTA_SETTINGS } from '../../../domain/quotas/quota-settings.ts'
import type { Command } from '../../command.ts'
import { done } from '../answers.ts'
import { changesIn } from '../changes.ts'
import { LOCAL_TIMES, timesIn } from '../fields.ts'
import { list } from '../lists.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns, USER, withNone } from '../tables.ts'

const UNLIMITED = 'unlimited'

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

export const QUOTA_COMMANDS: readonly Command[] = [
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
