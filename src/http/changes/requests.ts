/** What changes have in common in their requests: who makes them, and the version that they are based on. */
import type { FastifyRequest } from 'fastify'
import type { Author } from '../../admin/kit/author.ts'
import type { VersionCheck } from '../../admin/kit/lock-quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { principalOf } from '../auth/guard.ts'

/** Who makes a change, when, and by which request. */
export function authorOf(request: FastifyRequest, now: EpochMs): Author {
  return { now, actor: principalOf(request).subject, requestId: request.id }
}

/** Like `authorOf`, on routes that support staff may call, too: they have a bound on the units of each user in a day. */
export function boundedAuthorOf(
  request: FastifyRequest,
  now: EpochMs,
  { supportAdjustLimit }: { supportAdjustLimit: number },
): Author {
  const author = authorOf(request, now)
  return principalOf(request).permissions.has('change') ? author : { ...author, allowance: supportAdjustLimit }
}

/** The ETag of a quota's version. */
export const etagOf = (version: number) => `"${version}"`

/**
 * Whether a quota's version satisfies `If-Match`. A proxy that compresses an answer changes its ETag: to `W/"3"` (nginx), `"3-gzip"`
 * (Apache) or `"3--gzip"` (Jetty). The version in it is as exact. Any other entity tag is that of no version.
 */
export function versionCheck(ifMatch: string | undefined): VersionCheck {
  if (ifMatch === undefined || ifMatch === '*') return () => true
  const accepted = new Set(Array.from(ifMatch.matchAll(/"([0-9]+)(?:[-;:]+[a-z]+)?"/g), ([, version]) => version))
  return version => accepted.has(String(version))
}
