/** Reads a gift of units to many users, and says what became of each. */
import type { GiveOutcome, GiveTerms, Receiver } from '../../admin/quotas/give-units.ts'
import type { GiveRecord, GiveReq } from '../../contract/give.ts'
import type { Gift, GiftNote } from '../../domain/forecasts/gift.ts'
import { EXTRA_NAME } from '../../domain/quotas/extra-grant.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import { type EpochMs, formatTimestampOrNull } from '../../domain/time/time.ts'
import { timeZoneName } from '../../domain/time/window.ts'
import { viewOf } from '../../domain/units/view.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { refusal } from '../changes/outcomes.ts'

/** The terms of a request. `monthZone` is null if it names none. */
export interface GiveRequest {
  receivers: readonly Receiver[]
  terms: Omit<GiveTerms, 'monthZone'> & { monthZone: string | null }
}

/** @throws Problem `invalid_request` if fields contradict each other */
export function giveRequestOf({ users, units: unitsOfAll, ...body }: GiveReq): GiveRequest {
  const { period, until = 'window_end', time_zone, reason, again = false, name = EXTRA_NAME } = body
  const issues: ValidationIssue[] = []
  if (until === 'month_end' && period !== null)
    issues.push({ path: '/until', message: 'month_end is for one-time grants: period must be null' })
  if (until === 'for_good' && period === null)
    issues.push({
      path: '/until',
      message: 'for_good is for grants with a period; a one-time grant has one window only',
    })
  const known = new Set<number>()
  const receivers = users.map(({ user_id, units = unitsOfAll }, index) => {
    if (known.has(user_id)) issues.push({ path: `/users/${index}/user_id`, message: `${user_id} is there twice` })
    known.add(user_id)
    if (units === undefined)
      issues.push({ path: `/users/${index}/units`, message: 'is required without units for all' })
    return { user_id, units: units ?? 0 }
  })
  const [first, ...others] = issues
  if (first !== undefined) throw invalidRequest([first, ...others.slice(0, 9)])
  const monthZone = time_zone === undefined ? null : (timeZoneName(time_zone) ?? time_zone)
  return { receivers, terms: { period, until, monthZone, reason, again, name } }
}

/** Whether some of the units, or of those that are offered to users who are left out, may end with the calendar month. */
export function needsMonthZone({ period, until }: Pick<GiveTerms, 'period' | 'until'>): boolean {
  return until === 'month_end' || (until === 'window_end' && period === 'month')
}

type UserRecord = Extract<GiveRecord, { user_id: number }>

/** What became of a user. */
export function recordOf(user_id: number, outcome: GiveOutcome, now: EpochMs): UserRecord {
  switch (outcome.outcome) {
    case 'given':
      return { record: 'given', user_id, gift: giftView(outcome, now) }
    case 'given_before': {
      const { quotaId, units, until, reference } = outcome
      return { record: 'given_before', user_id, quota_id: quotaId, units, until, reference }
    }
    case 'left_out': {
      const { reason, quota, offer } = outcome
      return {
        record: 'left_out',
        user_id,
        reason,
        quota: quota && quotaView(quota, now),
        offer: offer && giftView(offer, now),
      }
    }
    default: {
      const { code, message } = refusal(outcome)
      return { record: 'failed', user_id, code, detail: message }
    }
  }
}

function quotaView(stored: Quota, now: EpochMs) {
  const { id, user_id, name, kind, period, limit, metadata, status, created_at } = viewOf(stored, now)
  return { id, user_id, name, kind, period, limit, metadata, status, created_at }
}

function giftView({ quota, units, end, timeZone, isMonthEnd, reference, earlier, notes, usable }: Gift, now: EpochMs) {
  return {
    quota: quotaView(quota, now),
    units,
    until: formatTimestampOrNull(end),
    time_zone: timeZone,
    month_end: isMonthEnd,
    reference,
    earlier: earlier.map(extra => quotaView(extra, now)),
    notes: notes.map(note => noteView(note, now)),
    usable,
  }
}

function noteView(note: GiftNote, now: EpochMs) {
  switch (note.note) {
    case 'several':
      return { note: note.note }
    case 'has_extra':
      return { note: note.note, extra: quotaView(note.extra, now) }
    case 'cap': {
      const { cap, isReached, capacity, ending, usable } = note
      return { note: note.note, cap: quotaView(cap, now), reached: isReached, capacity, ending, usable }
    }
  }
}
