/** What changes have in common in their answers: the problems that stand for what the rules forbid. */
import type { Updated } from '../../admin/change-quota.ts'
import type { Created } from '../../admin/create-quota.ts'
import type { Repeated } from '../../admin/idempotency.ts'
import { MAX_CAPS_PER_VALUE, MAX_QUOTAS_PER_USER } from '../../domain/bounds.ts'
import type { Quota } from '../../domain/quota.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import { unknownValue } from '../platform/problems.ts'
import { etagOf } from './requests.ts'

type Refusal = Exclude<
  Created | Repeated<Quota> | Updated,
  { outcome: 'created' | 'replayed' | 'mismatch' | 'changed' | 'unchanged' | 'not_found' | 'version_mismatch' }
>

/** Why a quota was not created or changed. */
export function refusal(refused: Refusal): Problem {
  switch (refused.outcome) {
    case 'invalid':
      return invalidRequest(refused.issues)
    case 'immutable_field':
      return new Problem('immutable_field', refused.issues.map(issue => `${issue.path} ${issue.message}`).join('; '), {
        members: { errors: refused.issues },
      })
    case 'below_usage':
      return new Problem('below_usage', refused.detail)
    case 'unknown_value':
      return unknownValue(refused.cause)
    case 'too_many_quotas':
      return new Problem(
        'too_many_quotas',
        `The user already has ${MAX_QUOTAS_PER_USER} undeleted, unexpired quotas, the maximum.`,
      )
    case 'too_many_caps_per_value':
      return new Problem(
        'too_many_quotas',
        `The user already has ${MAX_CAPS_PER_VALUE} caps that count each recipient, country or tag by itself, the maximum of those that are neither deleted nor expired.`,
      )
    case 'being_erased':
      return new Problem('being_erased', 'The data of this user is being erased.')
    case 'conflict':
      return new Problem('conflict', `Quota ${refused.existingId} of this user already has this external_ref.`, {
        members: { existing_id: refused.existingId },
      })
  }
}

export function versionMismatch(what: 'quota' | 'profile', version: number): Problem {
  return new Problem('version_mismatch', `The ${what} now has version ${version}.`, {
    headers: { etag: etagOf(version) },
  })
}
