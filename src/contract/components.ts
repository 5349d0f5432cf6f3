import type { TSchema } from 'typebox'
import { CALLER_COMPONENTS } from './caller.ts'
import { EVENT_COMPONENTS } from './events.ts'
import { QUOTA_COMPONENTS } from './quotas.ts'
import { RECORD_COMPONENTS } from './records.ts'
import { SENDER_COMPONENTS } from './sender.ts'
import { USAGE_COMPONENTS } from './usage.ts'
import { WEBHOOK_COMPONENTS } from './webhooks.ts'

/** The shapes that the document names, by their `$id`. */
export const COMPONENTS: Record<string, TSchema> = {
  ...QUOTA_COMPONENTS,
  ...SENDER_COMPONENTS,
  ...RECORD_COMPONENTS,
  ...EVENT_COMPONENTS,
  ...WEBHOOK_COMPONENTS,
  ...USAGE_COMPONENTS,
  ...CALLER_COMPONENTS,
}
