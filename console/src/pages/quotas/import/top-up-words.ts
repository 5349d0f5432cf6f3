import type { Api } from '../../../api/types.ts'
import { STATUS_LABELS } from '../../../components/badge.tsx'
import { quotaName } from '../../../components/quota-labels.ts'
import { formatLongDate, formatTimestamp, formatUnits } from '../../../formats.ts'
import type { FileProblem, LongLine } from '../../../model/import-rows.ts'
import type { Failure } from '../../../model/job.ts'
import { type Gift, type LeftLine, type Note, periodOf } from '../../../model/top-up-plan.ts'
import { texts } from '../../../texts/texts.ts'

/** Words for what a file asks for, who of it gets units, and who is left out. */

type Quota = Api['SmsQuota']

const { topUp, jobs, importing } = texts.manyQuotas

/** For example "Line 3: User 7". */
export function placeOf({ line, quota }: Pick<Gift, 'line' | 'quota'>): string {
  return userPlace(line, quota.user_id)
}

function userPlace(line: number, user_id: number): string {
  return `${jobs.line(line)}: ${topUp.user(user_id)}`
}

/** Why a line gives nothing. */
export function leftFailure({ line, user, why }: LeftLine): Failure {
  const words = topUp.why
  const place = userPlace(line, Number(user))
  switch (why.reason) {
    case 'notAUser':
    case 'notUnits':
      return { place: jobs.line(line), reason: topUp[why.reason], detail: words.named(why.text) }
    case 'twice':
      return { place: jobs.line(line), reason: topUp.twice, detail: topUp.user(Number(user)) }
    case 'noQuota':
    case 'onlyCaps':
      return { place, reason: words[why.reason] }
    case 'unlimited':
      return {
        place,
        reason: words.unlimited,
        ...(why.quota === null ? {} : { detail: words.named(quotaName(why.quota)) }),
      }
    case 'notLive':
      return { place, reason: notLiveText(why.quota), detail: words.named(quotaName(why.quota)) }
    case 'onlyOneTime':
      return { place, reason: words.onlyOneTime, detail: words.named(quotaName(why.quota)) }
    case 'otherPeriod':
      return {
        place,
        reason: words.otherPeriod,
        detail: words.grantOf(quotaName(why.quota), topUp.periods[periodOf(why.quota)]),
      }
    case 'hadBefore':
      return { place, reason: words.hadBefore, detail: words.on(formatTimestamp(why.at)) }
    case 'gotOthers':
      return { place, reason: words.gotOthers, detail: giftText(why.earlier) }
  }
}

function notLiveText({ status }: Quota): string {
  const toDo: Partial<Record<Quota['status'], string>> = topUp.why.toDo
  return topUp.why.notLive(STATUS_LABELS[status], toDo[status])
}

/** What the reader should know of a user who gets units. */
export function noteFailures(gift: Gift): Failure[] {
  return gift.notes.map(note => ({ place: placeOf(gift), ...noteText(note) }))
}

function noteText(note: Note): Omit<Failure, 'place'> {
  const { several, hasExtra } = topUp.note
  switch (note.note) {
    case 'several':
      return { reason: several, detail: topUp.why.named(quotaName(note.quota)) }
    case 'hasExtra': {
      const given = [giftText(note.extra), reasonOf(note.extra)].filter(text => text !== '')
      return { reason: hasExtra, detail: `(${given.join(': ')})` }
    }
    case 'cap':
      return capText(note)
  }
}

function capText({ cap, isReached, capacity, ending, usable, units, end }: Extract<Note, { note: 'cap' }>) {
  const { capReached, capSome, capNone, caps, passes, has, isUsedUp, anotherUnlimited } = topUp.note
  const reason = usable === 0 ? capNone : usable < units ? capSome : capReached
  const named = caps[periodOf(cap)](formatUnits(cap.limit ?? 0))
  const parts =
    usable === units
      ? [has(named)]
      : ending === null
        ? [anotherUnlimited]
        : [passes(named, { isUntilEnd: end !== null, capacity, ending, usable, units })]
  return { reason, detail: [...parts, ...(isReached && usable < units ? [isUsedUp] : [])].join(' ') }
}

/** For example "500 units on 1 March 2026". */
function giftText({ limit, created_at }: Quota): string {
  return topUp.given(limit ?? 0, formatLongDate(created_at))
}

const reasonOf = ({ metadata }: Quota) => metadata.reason ?? ''

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
    .map(quota => ({ text: giftText(quota), reason: reasonOf(quota) }))
  return [...Map.groupBy(given, ({ text, reason }) => `${text} ${reason}`).values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : [{ ...first, users: others.length + 1 }]))
    .sort((one, other) => other.users - one.users)
}

export function longLineFailure({ line, cells, columns }: LongLine): Failure {
  return { place: jobs.line(line), reason: importing.tooManyCells(cells, columns) }
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
