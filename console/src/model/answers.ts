import type { Api } from '../api/types.ts'
import { type Answer, covers, generalAnswer, type Scope } from './scopes.ts'

/** What a summary answers to a user's messages, by the country and type that they name. */

type Summary = Api['QuotaSummary']
type Cap = Summary['caps'][number]

export type DeniedAnswer = Answer & { denial: NonNullable<Answer['denial']> }

export function isDenied(answer: Answer): answer is DeniedAnswer {
  return answer.denial !== null
}

/** Whether a grant will start that covers the messages. */
export function startsLater({ denial }: Pick<Answer, 'denial'>): boolean {
  return denial !== null && denial.reason === 'no_quota' && denial.retry_at !== null
}

/**
 * The answer for the headline, and the others that differ from it. Messages without country and type come first, unless
 * they are simply not covered and others are.
 */
export function headlineOf(summary: Pick<Summary, 'available' | 'denial' | 'scopes'>): {
  main: Answer
  others: Answer[]
} {
  const { denial, scopes } = summary
  const general = generalAnswer(summary)
  const isCovered = denial === null || denial.reason !== 'no_quota'
  const covered = scopes.find(answer => !isDenied(answer)) ?? scopes.toSorted(bySoonest)[0]
  const main = denial === null || (isCovered && covered?.denial !== null) ? general : (covered ?? general)
  const rest = main === general ? scopes : [...scopes.filter(answer => answer !== main), general]
  return { main, others: rest.filter(answer => differs(answer, main)) }
}

function bySoonest(one: Answer, other: Answer): number {
  const [at, otherAt] = [one.denial?.retry_at ?? '~', other.denial?.retry_at ?? '~']
  return at < otherAt ? -1 : at > otherAt ? 1 : 0
}

function differs(one: Answer, other: Answer): boolean {
  if (!isDenied(one) || !isDenied(other)) return one.available !== other.available
  return one.denial.reason !== other.denial.reason || one.denial.retry_at !== other.denial.retry_at
}

/** The caps that leave no room to the messages of an answer. */
export function blockingCaps(answer: Scope, { caps }: Pick<Summary, 'caps'>): Cap[] {
  return caps.filter(cap => cap.remaining === 0 && covers(cap, answer))
}

type BoundingCap = Cap & { limit: number; remaining: number }

/** The cap that lets fewest of the messages of an answer go, if these are fewer than with that number of units more; else null. */
export function boundingCap(
  answer: Scope,
  { caps, breakdown }: Pick<Summary, 'caps' | 'breakdown'>,
  units: number | null,
): BoundingCap | null {
  const remaining = breakdown
    .filter(grant => covers(grant, answer))
    .reduce((sum, grant) => sum + (grant.remaining ?? Number.POSITIVE_INFINITY), units ?? 0)
  const [first] = caps
    .flatMap(cap =>
      cap.limit === null || cap.remaining === null ? [] : [{ ...cap, limit: cap.limit, remaining: cap.remaining }],
    )
    .filter(cap => cap.counts === 'units' && covers(cap, answer))
    .toSorted((one, other) => one.remaining - other.remaining)
  return units === null || first === undefined || first.remaining >= remaining ? null : first
}

/** Why messages are denied. Of several caps, one that was made to block says it alone. */
export type WhyDenied =
  | { reason: 'closed'; cap: Cap }
  | { reason: 'usedUp'; caps: readonly Cap[] }
  | { reason: 'exhausted' | 'notCovered' | 'suspended' | 'capsOnly' | 'expired' | 'none' }

export function whyDenied(answer: DeniedAnswer, summary: Pick<Summary, 'caps' | 'breakdown' | 'by_status'>): WhyDenied {
  const { by_status, breakdown, caps } = summary
  switch (answer.denial.reason) {
    case 'cap_reached': {
      const blocking = blockingCaps(answer, summary)
      const cap = blocking.find(({ limit }) => limit === 0)
      return cap === undefined ? { reason: 'usedUp', caps: blocking } : { reason: 'closed', cap }
    }
    case 'quota_exhausted':
      return { reason: 'exhausted' }
    case 'no_quota':
      if (breakdown.length > 0) return { reason: 'notCovered' }
      if (by_status.suspended) return { reason: 'suspended' }
      if (caps.length > 0) return { reason: 'capsOnly' }
      return { reason: by_status.expired ? 'expired' : 'none' }
  }
}

/** What lies in the grants, if that is more than can be sent; else null. @param sendable null is unlimited */
export function remainsBeyond(
  answer: Scope,
  sendable: number | null,
  { breakdown }: Pick<Summary, 'breakdown'>,
): number | null {
  const grants = breakdown.filter(grant => covers(grant, answer))
  const remaining = grants.reduce((sum, grant) => sum + (grant.remaining ?? 0), 0)
  return sendable === null || remaining <= sendable ? null : remaining
}

/**
 * The answer to messages that name a country and no type, and whether it can differ for others of the same number.
 *
 * @param country null if the number belongs to none, undefined if it is not known yet
 */
export function answerTo(
  country: string | null | undefined,
  summary: Pick<Summary, 'available' | 'denial' | 'scopes'>,
): Pick<Answer, 'available' | 'denial'> & { canDiffer: boolean } {
  const { scopes } = summary
  const named = scopes.find(
    ({ countries, message_types }) => message_types === null && countries?.includes(country ?? ''),
  )
  const { available, denial } = named ?? summary
  const canDiffer = scopes.some(({ message_types }) => message_types !== null || country === undefined)
  return { available, denial, canDiffer }
}
