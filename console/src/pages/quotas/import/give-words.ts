import type { Api } from '../../../api/types.ts'
import { STATUS_LABELS } from '../../../components/badge.tsx'
import { quotaName } from '../../../components/quota-labels.ts'
import { formatLongDate, formatTimestamp, formatUnits } from '../../../formats.ts'
import { periodOf } from '../../../model/give-input.ts'
import type { Gift, LeftLine } from '../../../model/give-plan.ts'
import type { BadRow, FileProblem } from '../../../model/import-rows.ts'
import type { Failure } from '../../../model/job.ts'
import { reasonOf } from '../../../queries/many.ts'
import { texts } from '../../../texts/texts.ts'

/** Words for what a file asks for, who of it gets units, and who is left out. */

type GiftQuota = Api['GiftQuota']
type LeftOutReason = Extract<Api['GiveRecord'], { record: 'left_out' }>['reason']

const { give, jobs, importing } = texts.manyQuotas

/** For example "Line 3: User 7". */
export function placeOf({ line, quota }: Pick<Gift, 'line' | 'quota'>): string {
  return userPlace(line, quota.user_id)
}

function userPlace(line: number, user_id: number): string {
  return `${jobs.line(line)}: ${give.user(user_id)}`
}

/** Why a line gives nothing. */
export function leftFailure(left: LeftLine): Failure {
  const words = give.why
  const place = userPlace(left.line, Number(left.user))
  switch (left.reason) {
    case 'not_a_user':
    case 'not_units':
      return { place: jobs.line(left.line), reason: give[left.reason], detail: words.named(left.text) }
    case 'too_many_cells':
      return { place: jobs.line(left.line), reason: give.too_many_cells, detail: left.text }
    case 'twice':
      return { place: jobs.line(left.line), reason: give.twice, detail: words.twice(left.user, left.text) }
    case 'refused':
      return { place, reason: reasonOf({ code: left.code, detail: left.text }) }
  }
  const { reason, quota } = left
  const because = reason === 'not_live' ? notLiveText(quota?.status ?? 'expired') : words[reason]
  return { place, reason: because, ...(quota === null ? {} : { detail: detailOf(reason, quota) }) }
}

function detailOf(reason: LeftOutReason, quota: GiftQuota): string {
  const { named, grantOf, on } = give.why
  switch (reason) {
    case 'other_period':
      return grantOf(quotaName(quota), give.periods[periodOf(quota)])
    case 'had_before':
      return on(formatTimestamp(quota.created_at))
    case 'got_others':
      return giftText(quota)
    default:
      return named(quotaName(quota))
  }
}

function notLiveText(status: GiftQuota['status']): string {
  const toDo: Partial<Record<GiftQuota['status'], string>> = give.why.toDo
  return give.why.notLive(STATUS_LABELS[status], toDo[status])
}

/** What the reader should know of a user who gets units. */
export function noteFailures(gift: Gift): Failure[] {
  return gift.notes.map(note => ({ place: placeOf(gift), ...noteText(note, gift) }))
}

function noteText(note: Api['GiftNote'], gift: Gift): Omit<Failure, 'place'> {
  const { several, has_extra } = give.note
  switch (note.note) {
    case 'several':
      return { reason: several, detail: give.why.named(quotaName(gift.quota)) }
    case 'has_extra': {
      const given = [giftText(note.extra), whyGiven(note.extra)].filter(text => text !== '')
      return { reason: has_extra, detail: `(${given.join(': ')})` }
    }
    case 'cap':
      return capText(note, gift)
  }
}

type CapNote = Extract<Api['GiftNote'], { note: 'cap' }>

function capText({ cap, reached, capacity, ending, usable }: CapNote, { units, until }: Gift) {
  const { capReached, capSome, capNone, caps, passes, has, isUsedUp, anotherUnlimited } = give.note
  const reason = usable === 0 ? capNone : usable < units ? capSome : capReached
  const named = caps[periodOf(cap)](formatUnits(cap.limit ?? 0))
  const parts =
    usable === units
      ? [has(named)]
      : ending === null || capacity === null
        ? [anotherUnlimited]
        : [passes(named, { isUntilEnd: until !== null, capacity, ending, usable, units })]
  return { reason, detail: [...parts, ...(reached && usable < units ? [isUsedUp] : [])].join(' ') }
}

/** For example "500 units on 1 March 2026". */
function giftText({ limit, created_at }: GiftQuota): string {
  return give.given(limit ?? 0, formatLongDate(created_at))
}

const whyGiven = ({ metadata }: GiftQuota) => metadata.reason ?? ''

/** Users who already got units until the same end, together with others who got as many on that day for that reason. */
export interface EarlierGift {
  users: number
  /** For example "500 units on 1 March 2026". */
  text: string
  reason: string
}

/** What users of the plan already got until the same end, the most common first. */
export function earlierGifts(gifts: readonly Gift[]): EarlierGift[] {
  const given = gifts
    .flatMap(({ earlier }) => earlier)
    .map(quota => ({ text: giftText(quota), reason: whyGiven(quota) }))
  return [...Map.groupBy(given, ({ text, reason }) => `${text} ${reason}`).values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : [{ ...first, users: others.length + 1 }]))
    .sort((one, other) => other.users - one.users)
}

/** Why a line of quotas is not sent. */
export function badRowFailure({ line, fault }: BadRow): Failure {
  const place = jobs.line(line)
  switch (fault.reason) {
    case 'too_many_cells':
      return { place, reason: importing.tooManyCells(fault.cells, fault.columns) }
    case 'nameless_column':
      return { place, reason: importing.namelessColumn(fault.column) }
    case 'unreadable':
      return { place: jobs.column(place, fault.column), reason: importing.unreadable }
    case 'lost':
      return { place: jobs.column(place, fault.column), reason: importing.lost, detail: fault.text }
    case 'repeated':
      return { place, reason: importing.repeated, detail: importing.asLine(fault.earlier) }
  }
}

/** Why a file means nothing. */
export function problemText(problem: FileProblem): string {
  switch (problem.reason) {
    case 'twice':
      return importing.twice(problem.name)
    case 'unknownColumns':
      return importing.unknownColumns(problem.unknown.join(', '), problem.known.join(', '))
    default:
      return importing[problem.reason]
  }
}
