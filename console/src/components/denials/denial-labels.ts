import type { Api } from '../../api/types.ts'
import { countryLabel } from '../../formats.ts'

type Denial = Api['DenialRecord']
type Reason = Denial['reason']
type Line = Api['DenialDetail']['explain'][number]

export const DENIAL_REASON_LABELS: Record<Reason, string> = {
  no_quota: 'No quota',
  cap_reached: 'Cap reached',
  quota_exhausted: 'Quota exhausted',
}

/** A reason as a sentence. */
export const DENIAL_REASON_TEXTS: Record<Reason, string> = {
  no_quota: 'No grant covered this message.',
  cap_reached: 'A cap had too little room.',
  quota_exhausted: 'The grants for this message had too few units left.',
}

/** Why a quota did or did not count for a denied message; `expired` without its time. */
export function verdictText({ kind, verdict }: Line, { reason, country, message_type }: Denial): string {
  switch (verdict) {
    case 'blocks':
      return 'Had too little room'
    case 'exhausted':
      return 'Had nothing left'
    case 'has_headroom':
      if (kind === 'cap') return 'Had enough room'
      return reason === 'quota_exhausted' ? 'Had units left, but too few' : 'Had units left'
    case 'suspended':
      return 'Was suspended'
    case 'scheduled':
      return 'Had not started yet'
    case 'expired':
      return 'Had ended'
    case 'other_country':
      return country === null
        ? 'Covers certain countries; the message named none'
        : `Does not cover ${countryLabel(country)}`
    case 'other_message_type':
      return message_type === null
        ? 'Covers certain message types; the message named none'
        : `Does not cover the type ${message_type}`
    case 'draws':
      return 'Would have paid'
    case 'not_needed':
      return 'Was not needed'
  }
}
