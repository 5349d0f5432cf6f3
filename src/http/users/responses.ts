import type { FastifyReply } from 'fastify'
import type { ProfileUpdated } from '../../admin/change-profile.ts'
import type { EraseRequested } from '../../admin/erase-user.ts'
import type { Erasure as ErasureView, User, UserEntry, UserProfile as UserProfileView } from '../../contract/users.ts'
import type { Erasure } from '../../db/users/erasure.ts'
import type { ListedUser, UserRecord } from '../../db/users/users.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../domain/time.ts'
import type { UserProfile } from '../../domain/user-profile.ts'
import { profileViewOf } from '../../domain/view.ts'
import { Problem } from '../../errors.ts'
import { etagOf } from '../changes/requests.ts'
import { versionMismatch } from '../changes/responses.ts'

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

/** A profile with the ETag of its version. */
export function taggedProfile(reply: FastifyReply, profile: UserProfile): UserProfileView {
  reply.header('etag', etagOf(profile.version))
  return profileViewOf(profile)
}

/** @throws Problem if the profile was not changed as asked */
export function profileOrThrow(updated: ProfileUpdated): UserProfile {
  switch (updated.outcome) {
    case 'changed':
    case 'unchanged':
      return updated.profile
    case 'version_mismatch':
      throw versionMismatch('profile', updated.version)
    case 'immutable_ref': {
      const issue = {
        path: '/ref',
        message: 'is immutable once set: leave it out, or repeat the value that the user has',
      }
      throw new Problem('immutable_field', `${issue.path} ${issue.message}`, { members: { errors: [issue] } })
    }
    case 'taken_ref':
      throw new Problem('conflict', 'The ref is that of another user, or was until a few minutes ago.')
    case 'being_erased':
      throw new Problem('being_erased', 'The data of this user is being erased.')
  }
}

export function noSuchUser(userId: number): Problem {
  return new Problem('not_found', `Nothing is stored of user ${userId}.`)
}
