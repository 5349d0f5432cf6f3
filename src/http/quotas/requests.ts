import type { CreateQuotaReq, UpdateQuotaReq } from '../../contract/quotas.ts'
import type { QuotaDraft, QuotaPatch } from '../../domain/quota.ts'
import { type EpochMs, parseTimestamp } from '../../domain/time.ts'
import { timeZoneName } from '../../domain/window.ts'

/** A checked body as the domain takes it. */
export function draftOf(body: CreateQuotaReq): QuotaDraft {
  return canonical(body)
}

/** A checked body as the domain takes it. */
export function patchOf(body: UpdateQuotaReq): QuotaPatch {
  return canonical(body)
}

/** Moments as instants; zone names, which have many spellings, and sets, which have no order, in their one form. */
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

/** A moment that passed its schema. */
export function timestampOf(text: string): EpochMs {
  const at = parseTimestamp(text)
  if (at === null) throw new Error('a time that passed its schema cannot be read')
  return at
}
