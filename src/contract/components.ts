import Type, { type TSchema } from 'typebox'
import { AUDIT_COMPONENTS } from './audit.ts'
import { BREAKER_COMPONENTS } from './breaker.ts'
import { BREAKER_SETTINGS_COMPONENTS } from './breaker-settings.ts'
import { BULK_COMPONENTS } from './bulk.ts'
import { CALLER_COMPONENTS } from './caller.ts'
import { CUSTOMER_COMPONENTS } from './customers.ts'
import { DENIAL_COMPONENTS } from './denials.ts'
import { EVENT_COMPONENTS } from './events.ts'
import { EXPORT_COMPONENTS } from './exports.ts'
import { GIVE_COMPONENTS } from './give.ts'
import { IMPORT_COMPONENTS } from './import.ts'
import { INCREASE_REQUEST_COMPONENTS } from './increase-requests.ts'
import { NAME_COMPONENTS } from './names.ts'
import { NOTIFICATION_COMPONENTS } from './notifications.ts'
import { OVERVIEW_COMPONENTS } from './overview.ts'
import { PAUSE_COMPONENTS } from './pauses.ts'
import { PLAN_COMPONENTS } from './plans.ts'
import { PROBLEM_COMPONENTS } from './problem.ts'
import { QUOTA_HISTORY_COMPONENTS } from './quota-history.ts'
import { QUOTA_SUMMARY_COMPONENTS } from './quota-summary.ts'
import { QUOTA_COMPONENTS } from './quotas.ts'
import { RATE_CARD_COMPONENTS } from './rate-cards.ts'
import { RESERVATION_COMPONENTS } from './reservations.ts'
import { ROLL_OUT_COMPONENTS } from './roll-out.ts'
import { SEARCH_COMPONENTS } from './search.ts'
import { SENDER_COMPONENTS } from './sender.ts'
import { TRANSFER_COMPONENTS } from './transfers.ts'
import { USAGE_COMPONENTS } from './usage.ts'
import { USER_COMPONENTS } from './users.ts'
import { WEBHOOK_COMPONENTS } from './webhooks.ts'

/** The answer of `/livez` and `/readyz`. */
const Health = Type.Object({ status: Type.Literal('ok') }, { $id: 'Health' })

/** All named schemas of the OpenAPI document, by `$id`. */
export const COMPONENTS = {
  ...QUOTA_COMPONENTS,
  ...QUOTA_SUMMARY_COMPONENTS,
  ...QUOTA_HISTORY_COMPONENTS,
  ...IMPORT_COMPONENTS,
  ...BULK_COMPONENTS,
  ...GIVE_COMPONENTS,
  ...TRANSFER_COMPONENTS,
  ...PLAN_COMPONENTS,
  ...ROLL_OUT_COMPONENTS,
  ...RATE_CARD_COMPONENTS,
  ...INCREASE_REQUEST_COMPONENTS,
  ...NOTIFICATION_COMPONENTS,
  ...PAUSE_COMPONENTS,
  ...BREAKER_COMPONENTS,
  ...BREAKER_SETTINGS_COMPONENTS,
  ...EXPORT_COMPONENTS,
  ...SENDER_COMPONENTS,
  ...RESERVATION_COMPONENTS,
  ...DENIAL_COMPONENTS,
  ...USAGE_COMPONENTS,
  ...OVERVIEW_COMPONENTS,
  ...USER_COMPONENTS,
  ...CUSTOMER_COMPONENTS,
  ...SEARCH_COMPONENTS,
  ...EVENT_COMPONENTS,
  ...WEBHOOK_COMPONENTS,
  ...AUDIT_COMPONENTS,
  ...CALLER_COMPONENTS,
  ...NAME_COMPONENTS,
  Health,
  ...PROBLEM_COMPONENTS,
} satisfies Record<string, TSchema>
