import type { Static } from 'typebox'
import type { AUDIT_COMPONENTS } from '../../../src/contract/audit.ts'
import type { BREAKER_COMPONENTS } from '../../../src/contract/breaker.ts'
import type { BREAKER_SETTINGS_COMPONENTS } from '../../../src/contract/breaker-settings.ts'
import type { BULK_COMPONENTS } from '../../../src/contract/bulk.ts'
import type { CALLER_COMPONENTS } from '../../../src/contract/caller.ts'
import type { CUSTOMER_COMPONENTS } from '../../../src/contract/customers.ts'
import type { DENIAL_COMPONENTS } from '../../../src/contract/denials.ts'
import type { EVENT_COMPONENTS } from '../../../src/contract/events.ts'
import type { GIVE_COMPONENTS } from '../../../src/contract/give.ts'
import type { IMPORT_COMPONENTS } from '../../../src/contract/import.ts'
import type { INCREASE_REQUEST_COMPONENTS } from '../../../src/contract/increase-requests.ts'
import type { NAME_COMPONENTS } from '../../../src/contract/names.ts'
import type { NOTIFICATION_COMPONENTS } from '../../../src/contract/notifications.ts'
import type { OVERVIEW_COMPONENTS } from '../../../src/contract/overview.ts'
import type { PAUSE_COMPONENTS } from '../../../src/contract/pauses.ts'
import type { PLAN_COMPONENTS } from '../../../src/contract/plans.ts'
import type { PROBLEM_COMPONENTS } from '../../../src/contract/problem.ts'
import type { QUOTA_HISTORY_COMPONENTS } from '../../../src/contract/quota-history.ts'
import type { QUOTA_SUMMARY_COMPONENTS } from '../../../src/contract/quota-summary.ts'
import type { QUOTA_COMPONENTS } from '../../../src/contract/quotas.ts'
import type { RESERVATION_COMPONENTS } from '../../../src/contract/reservations.ts'
import type { ROLL_OUT_COMPONENTS } from '../../../src/contract/roll-out.ts'
import type { SEARCH_COMPONENTS } from '../../../src/contract/search.ts'
import type { SENDER_COMPONENTS } from '../../../src/contract/sender.ts'
import type { TRANSFER_COMPONENTS } from '../../../src/contract/transfers.ts'
import type { USAGE_COMPONENTS } from '../../../src/contract/usage.ts'
import type { USER_COMPONENTS } from '../../../src/contract/users.ts'
import type { WEBHOOK_COMPONENTS } from '../../../src/contract/webhooks.ts'

type Schemas = typeof QUOTA_COMPONENTS &
  typeof BREAKER_COMPONENTS &
  typeof BREAKER_SETTINGS_COMPONENTS &
  typeof BULK_COMPONENTS &
  typeof GIVE_COMPONENTS &
  typeof IMPORT_COMPONENTS &
  typeof SENDER_COMPONENTS &
  typeof RESERVATION_COMPONENTS &
  typeof QUOTA_SUMMARY_COMPONENTS &
  typeof QUOTA_HISTORY_COMPONENTS &
  typeof INCREASE_REQUEST_COMPONENTS &
  typeof NOTIFICATION_COMPONENTS &
  typeof PAUSE_COMPONENTS &
  typeof PLAN_COMPONENTS &
  typeof ROLL_OUT_COMPONENTS &
  typeof PROBLEM_COMPONENTS &
  typeof EVENT_COMPONENTS &
  typeof WEBHOOK_COMPONENTS &
  typeof TRANSFER_COMPONENTS &
  typeof USAGE_COMPONENTS &
  typeof OVERVIEW_COMPONENTS &
  typeof DENIAL_COMPONENTS &
  typeof CALLER_COMPONENTS &
  typeof NAME_COMPONENTS &
  typeof SEARCH_COMPONENTS &
  typeof USER_COMPONENTS &
  typeof CUSTOMER_COMPONENTS &
  typeof AUDIT_COMPONENTS

/** Resolves references between schemas, such as `Type.Ref('SmsQuota#')`. */
type References = { [Name in keyof Schemas & string as `${Name}#`]: Schemas[Name] }

/** Every type of the API by its name in the OpenAPI document, inferred from the schemas of `src/contract`. */
export type Api = { [Name in keyof Schemas]: Static<Schemas[Name], References> }
