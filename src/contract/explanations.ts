import Type from 'typebox'
import type { Explanation } from '../domain/units/command.ts'
import { DENIAL_ORDER } from '../domain/units/denial.ts'
import type { DenialReason } from '../domain/units/reservation.ts'
import { kind } from './quotas.ts'
import { time, uint } from './schemas.ts'

const VERDICTS = [
  'draws',
  'not_needed',
  'exhausted',
  'has_headroom',
  'blocks',
  'suspended',
  'scheduled',
  'expired',
  'other_country',
  'other_message_type',
  'no_value',
] as const satisfies Explanation['verdict'][]

/** The reasons of denials in words, in the order in which they are asked. */
export const reasonTexts = (words: Record<DenialReason, string>) =>
  DENIAL_ORDER.map(reason => `\`${reason}\`: ${words[reason]}.`).join(' ')

/** Why one quota did or did not count. */
export const explanationLine = Type.Object({
  quota_id: uint(),
  kind,
  verdict: Type.Enum([...VERDICTS]),
  units: uint({ description: 'Units that this quota pays, or units or messages that it counts.' }),
  expires_at: Type.Optional(time({ description: 'When the quota ended; only with the verdict `expired`.' })),
})
