import type { Api } from '../api/types.ts'
import type { Progress } from './job.ts'
import { receiverOf } from './transfers.ts'

/** Counts of a roll-out, or of its dry run. */
export type RollOutCounts = Omit<Extract<Api['RollOutRecord'], { record: 'end' }>, 'record'>

/** Who gets the current version of a plan, and why; without any of them, all who have it in an earlier version. */
export type RollOutSelection = Pick<Api['RollOutReq'], 'users' | 'from_version' | 'from_plan' | 'reason' | 'fresh'>

/** A user as a list names one. */
export type ListedUser = { user_id: number } | { ref: string }

/** The users of a typed list; what in it is neither an id nor ref: and a reference makes it wrong. */
export function usersIn(list: string): { users: readonly ListedUser[]; wrong: readonly string[] } {
  const words = [...new Set(list.split(/[\s,;]+/).filter(word => word !== ''))]
  return {
    users: words.flatMap(word => receiverOf(word) ?? []),
    wrong: words.filter(word => receiverOf(word) === null),
  }
}

/** One roll-out: the same key for all its attempts. */
export interface RollOutCall {
  plan_id: number
  /** The version that the preview showed, and no later one. */
  version: number
  select: RollOutSelection
  key: string
}

/** A roll-out that was confirmed, how many users it is about, and how many of them have all of it already. */
export interface ConfirmedRollOut {
  call: RollOutCall
  total: number
  unchanged: number
}

export type RollOutWords = Record<
  'changed' | 'exhausted' | 'carried' | 'again' | 'kept' | 'unchanged' | 'failed' | 'made' | 'changedQuotas' | 'ended',
  (count: number) => string
>

/** The preview in words, in two sentences: what becomes of users, and of their quotas. Counts of 0 are left out. */
export function previewSentences(
  { users, quotas, exhausted, carried, again }: RollOutCounts,
  words: RollOutWords,
): string[] {
  const parts = (counts: readonly (readonly [count: number, word: (count: number) => string])[]) =>
    counts.filter(([count]) => count > 0).map(([count, word]) => word(count))
  const ofUsers = [
    words.changed(users.changed),
    ...parts([
      [exhausted, words.exhausted],
      [carried, words.carried],
      [again, words.again],
      [quotas.kept, words.kept],
      [users.unchanged, words.unchanged],
      [users.failed, words.failed],
    ]),
  ]
  const ofQuotas = parts([
    [quotas.made, words.made],
    [quotas.changed, words.changedQuotas],
    [quotas.ended, words.ended],
  ])
  return [ofUsers, ofQuotas].filter(sentence => sentence.length > 0).map(sentence => `${sentence.join('; ')}.`)
}

/** How far a roll-out is, over all its attempts: one that goes on counts only those who still have another version. */
export function progressOf(before: Progress, { users }: RollOutCounts, failures: Progress['failures']): Progress {
  const changed = (before.counts.changed ?? 0) + users.changed
  const unchanged = (before.counts.unchanged ?? 0) + users.unchanged
  // Those who could not get it are tried again.
  return { done: changed + unchanged + users.failed, counts: { changed, unchanged }, failed: users.failed, failures }
}

/** How far a roll-out to listed users is. After a break it counts all of them again, and those who got it before as unchanged. */
export function progressOfList(
  { unchanged: before }: Pick<ConfirmedRollOut, 'unchanged'>,
  { users }: RollOutCounts,
  failures: Progress['failures'],
): Progress {
  const unchanged = Math.min(users.unchanged, before)
  const changed = users.changed + users.unchanged - unchanged
  return { done: changed + unchanged + users.failed, counts: { changed, unchanged }, failed: users.failed, failures }
}

/** The end of a roll-out that was interrupted: those who had the plan already by then got it before the break. */
export function endAfterBreak(end: Progress, total: number): Progress {
  const before = Math.max(0, total - end.done)
  const changed = (end.counts.changed ?? 0) + before
  return { ...end, done: end.done + before, counts: { ...end.counts, changed } }
}
