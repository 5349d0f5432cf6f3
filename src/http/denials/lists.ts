import Type from 'typebox'
import { AdminDenialsQuery, type DenialRecord, UserDenialsQuery } from '../../contract/denials.ts'
import { closed } from '../../contract/schemas.ts'
import { type LoggedDenial, listDenials } from '../../db/reservations/denials.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../domain/time/time.ts'
import { denialIdOf } from '../../domain/units/denial.ts'
import { cursorInteger, cursorTime } from '../platform/cursors.ts'
import { listOf, scannedUntil } from '../resource/list.ts'

const LIST = {
  key: Type.Object({ at: cursorTime, user_id: cursorInteger, number: cursorInteger }, closed),
  read: listDenials,
  more: scannedUntil,
}

/** The denials of all users. */
export const denials = listOf({
  ...LIST,
  query: AdminDenialsQuery,
  view: denial => ({ ...denialViewOf(denial), sender: denial.sender }),
})

/** Those of one user, who does not see who asked: subjects name systems and people of the operator. */
export const ownDenials = listOf({ ...LIST, query: UserDenialsQuery, view: denialViewOf })

export function denialViewOf(denial: LoggedDenial): DenialRecord {
  return {
    denial_id: denialIdOf(denial),
    at: formatTimestamp(denial.at),
    user_id: denial.user_id,
    id: denial.id,
    op: denial.op,
    units: denial.units,
    country: denial.country,
    message_type: denial.message_type,
    allow_partial: denial.allow_partial,
    reason: denial.reason,
    remaining: denial.remaining,
    limiting_quota_id: denial.limiting_quota_id,
    retry_at: formatTimestampOrNull(denial.retry_at),
    skipped: denial.skipped,
  }
}
