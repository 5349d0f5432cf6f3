import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Author } from '../../admin/author.ts'
import type { Updated } from '../../admin/change-quota.ts'
import type { Created } from '../../admin/create-quota.ts'
import type { Deleted } from '../../admin/delete-quota.ts'
import type { Repeated } from '../../admin/idempotency.ts'
import type { VersionCheck } from '../../admin/lock-quota.ts'
import { MAX_QUOTAS_PER_USER } from '../../domain/bounds.ts'
import type { Quota } from '../../domain/quota.ts'
import type { EpochMs } from '../../domain/time.ts'
import { viewOf } from '../../domain/view.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import { principalOf } from '../auth/guard.ts'

/** What administrators' requests say beside their bodies, and what the outcomes are answered with. */

export function authorOf(request: FastifyRequest, now: EpochMs): Author {
  return { now, actor: principalOf(request).subject, requestId: request.id }
}

/** A quota as it is shown at a moment, under the ETag of its version. */
export function taggedView(reply: FastifyReply, quota: Quota, at: EpochMs) {
  reply.header('etag', etagOf(quota.version))
  return viewOf(quota, at)
}

const etagOf = (version: number) => `"${version}"`

export function versionCheck(ifMatch: string | undefined): VersionCheck {
  if (ifMatch === undefined || ifMatch === '*') return () => true
  const accepted = new Set(ifMatch.split(',').map(etag => etag.trim()))
  return version => accepted.has(etagOf(version))
}

export function createdOrThrow(created: Created | Repeated): Quota {
  switch (created.outcome) {
    case 'created':
    case 'replayed':
      return created.quota
    case 'mismatch':
      throw keyMismatch(created.fields)
    default:
      throw refusal(created)
  }
}

export function updatedOrThrow(updated: Updated | Repeated, id: number): Quota {
  switch (updated.outcome) {
    case 'changed':
    case 'unchanged':
    case 'replayed':
      return updated.quota
    case 'mismatch':
      throw keyMismatch(updated.fields)
    case 'not_found':
      throw noSuchQuota(id)
    case 'version_mismatch':
      throw versionMismatch(updated.version)
    default:
      throw refusal(updated)
  }
}

export function deletedOrThrow(deleted: Deleted, id: number): void {
  if (deleted.outcome === 'not_found') throw noSuchQuota(id)
  if (deleted.outcome === 'version_mismatch') throw versionMismatch(deleted.version)
}

type Refusal = Exclude<
  Created | Repeated | Updated,
  { outcome: 'created' | 'replayed' | 'mismatch' | 'changed' | 'unchanged' | 'not_found' | 'version_mismatch' }
>

function refusal(refused: Refusal): Problem {
  switch (refused.outcome) {
    case 'invalid':
      return invalidRequest(refused.issues)
    case 'immutable_field':
      return new Problem('immutable_field', refused.issues.map(issue => `${issue.path} ${issue.message}`).join('; '), {
        members: { errors: refused.issues },
      })
    case 'below_usage':
      return new Problem('below_usage', refused.detail)
    case 'too_many_quotas':
      return new Problem(
        'too_many_quotas',
        `The user has ${MAX_QUOTAS_PER_USER} undeleted, unexpired quotas, the most one user can have.`,
      )
    case 'conflict':
      return new Problem('conflict', `Quota ${refused.existingId} of this user has this external_ref already.`, {
        members: { existing_id: refused.existingId },
      })
  }
}

export function noSuchQuota(id: number): Problem {
  return new Problem('not_found', `There is no quota ${id}.`)
}

function versionMismatch(version: number): Problem {
  return new Problem('version_mismatch', `The quota has version ${version} now.`, {
    headers: { etag: etagOf(version) },
  })
}

function keyMismatch(fields: readonly string[]): Problem {
  return new Problem(
    'idempotency_mismatch',
    `This Idempotency-Key came with another request before; it differs in ${fields.join(', ')}.`,
    { members: { errors: fields.map(name => ({ path: `/${name}`, message: 'differs' })) } },
  )
}
