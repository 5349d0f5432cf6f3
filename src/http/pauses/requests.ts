import type { PauseReq } from '../../contract/pauses.ts'
import type { PauseDraft } from '../../domain/pauses/pause.ts'
import { timestampOf } from '../platform/formats.ts'

/** A validated body as a draft of the domain. Lists are kept in one order, in which they are compared. */
export function draftOf({ user_id, country, message_types = null, until = null, reason = null }: PauseReq): PauseDraft {
  return {
    user_id,
    country,
    message_types: message_types?.toSorted() ?? null,
    until: until === null ? null : timestampOf(until),
    reason,
    origin: 'person',
    evidence: null,
    observed: false,
  }
}
