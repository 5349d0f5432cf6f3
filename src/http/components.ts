import type { TSchema } from 'typebox'
import { CALLER_COMPONENTS } from './caller-contract.ts'
import { QUOTA_COMPONENTS } from './contract.ts'
import { EVENT_COMPONENTS } from './event-contract.ts'
import { RECORD_COMPONENTS } from './records-contract.ts'
import { SENDER_COMPONENTS } from './sender-contract.ts'
import { USAGE_COMPONENTS } from './usage-contract.ts'
import { WEBHOOK_COMPONENTS } from './webhook-contract.ts'

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
