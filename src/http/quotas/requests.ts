import type { CreateQuotaReq, UpdateQuotaReq } from '../../contract/quotas.ts'
import type { QuotaDraft, QuotaPatch } from '../../domain/quota.ts'
import { timeZoneName } from '../../domain/window.ts'
import { timestampOf } from '../platform/formats.ts'

/** A validated body as a draft of the domain. */
export function draftOf(body: CreateQuotaReq): QuotaDraft {
  return canonical(body)
}

/** A validated body as a patch of the domain. */
export function patchOf(body: UpdateQuotaReq): QuotaPatch {
  return canonical(body)
}

/** Converts timestamps to numbers, time zone names to their canonical spelling, and sorts the lists that are sets. */
function canonical<Body extends UpdateQuotaReq>(body: Body) {
  const { starts_at, expires_at, time_zone, countries, message_types, alert_at, ...rest } = body
  return {
    ...rest,
    ...(starts_at === undefined ? {} : { starts_at: timestampOf(starts_at) }),
    ...(expires_at === undefined ? {} : { expires_at: expires_at === null ? null : timestampOf(expires_at) }),
    ...(time_zone === undefined ? {} : { time_zone: timeZoneName(time_zone) ?? time_zone }),
    ...(countries === undefined ? {} : { countries: countries?.toSorted() ?? null }),
    ...(message_types === undefined ? {} : { message_types: message_types?.toSorted() ?? null }),
    ...(alert_at === undefined ? {} : { alert_at: alert_at.toSorted((one, other) => one - other) }),
  }
}
