import { Temporal } from 'temporal-polyfill'
import type { EpochMs } from '../time/time.ts'
import type { Digest } from './webhook.ts'

/**
 * When a delivery that is written now is due: at once, or when the clocks next show the hour of the digest. That is once a day: of an hour that
 * they show twice it is the first, and one that they skip comes later by as much as they skip.
 */
export function dueAt(digest: Digest | null, now: EpochMs): EpochMs {
  if (digest === null) return now
  const { hour, time_zone: timeZone } = digest
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate()
  for (let days = 0; ; days++) {
    const due = today.add({ days }).toZonedDateTime({ timeZone, plainTime: { hour } }).epochMilliseconds
    if (due > now) return due
  }
}
