import type { TSchema } from 'typebox'
import { QUOTA_COMPONENTS } from './contract.ts'
import { SENDER_COMPONENTS } from './sender-contract.ts'
import { USAGE_COMPONENTS } from './usage-contract.ts'

/** The shapes that the document names, by their `$id`. */
export const COMPONENTS: Record<string, TSchema> = { ...QUOTA_COMPONENTS, ...SENDER_COMPONENTS, ...USAGE_COMPONENTS }
