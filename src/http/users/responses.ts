import type { EraseRequested } from '../../admin/erase-user.ts'
import type { Erasure as ErasureView, User, UserEntry } from '../../contract/users.ts'
import type { Erasure } from '../../db/users/erasure.ts'
import type { ListedUser, UserRecord } from '../../db/users/users.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'

export function entryViewOf({ user_id, quotas, last_activity_at }: ListedUser): UserEntry {
  return { user_id, quotas, last_activity_at: formatTimestampOrNull(last_activity_at) }
}

export function userViewOf({ user_id, quotas, last_activity_at }: UserRecord, erasure: Erasure | undefined): User {
  const isRunning = erasure !== undefined && erasure.finished_at === null
  return {
    user_id,
    quotas,
    last_activity_at: formatTimestampOrNull(last_activity_at),
    erasure: isRunning ? erasureViewOf(erasure) : null,
  }
}

export function erasureViewOf({ requested_at, finished_at, ...erasure }: Erasure): ErasureView {
  return {
    ...erasure,
    status: finished_at === null ? 'running' : 'finished',
    requested_at: formatTimestamp(requested_at),
    finished_at: formatTimestampOrNull(finished_at),
  }
}

/** @throws Problem if the erasure was refused */
export function requestedOrThrow(requested: EraseRequested, userId: number): Erasure {
  switch (requested.outcome) {
    case 'not_found':
      throw noSuchUser(userId)
    case 'open_reservations':
      throw new Problem(
        'open_reservations',
        `User ${userId} has open reservations. Wait until they are settled or expired, or send force=true to release them.`,
      )
    default:
      return requested.erasure
  }
}

export function noSuchUser(userId: number): Problem {
  return new Problem('not_found', `Nothing is stored of user ${userId}.`)
}
