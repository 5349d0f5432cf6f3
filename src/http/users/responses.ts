import type { FastifyReply } from 'fastify'
import type { Erasure as ErasureView, User, UserEntry, UserProfile as UserProfileView } from '../../contract/users.ts'
import type { Erasure } from '../../db/users/erasure.ts'
import type { ListedUser, UserRecord } from '../../db/users/users.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../domain/time/time.ts'
import { profileViewOf } from '../../domain/units/view.ts'
import type { UserProfile } from '../../domain/users/user-profile.ts'
import { etagOf } from '../changes/requests.ts'

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

/** A profile with the ETag of its version. */
export function taggedProfile(reply: FastifyReply, profile: UserProfile): UserProfileView {
  reply.header('etag', etagOf(profile.version))
  return profileViewOf(profile)
}

export const userOf = (id: number) => ({ what: 'profile', id, missing: `Nothing is stored of user ${id}.` })
