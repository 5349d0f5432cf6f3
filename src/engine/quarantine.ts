/** The reason why a user's commands run isolated from those of others. */
type Difficulty =
  /** Another transaction has locked rows of the user for longer than a batch of many users waits. */
  | 'locked'
  /** Another process changes the user's rows, again and again. */
  | 'contended'
  /** One of the user's commands fails, and every batch with it. */
  | 'failing'

/**
 * The users whose commands run isolated for some batches, after a batch met a difficulty with them. Without it, each next
 * batch would meet the same difficulty, and take the others' commands through it.
 */
export interface Quarantine {
  difficultyOf(userId: number): Difficulty | undefined
  add(userIds: Iterable<number>, difficulty: Difficulty): void
  /** A batch of these users has ended without a difficulty. */
  release(userIds: Iterable<number>): void
}

/** This many batches of a user run isolated: a conflict with another process is followed by more of them. */
const BATCHES_APART = 50
/** The most users that are known as difficult. One that is forgotten is found again by the next batch. */
const MAX_USERS = 10_000

export function createQuarantine(): Quarantine {
  const users = new Map<number, { readonly difficulty: Difficulty; batchesLeft: number }>()
  return {
    difficultyOf: userId => users.get(userId)?.difficulty,
    add(userIds, difficulty) {
      for (const userId of userIds) {
        users.delete(userId)
        users.set(userId, { difficulty, batchesLeft: BATCHES_APART })
        if (users.size <= MAX_USERS) continue
        const [oldest] = users.keys()
        if (oldest !== undefined) users.delete(oldest)
      }
    },
    release(userIds) {
      for (const userId of userIds) {
        const user = users.get(userId)
        if (user === undefined) continue
        user.batchesLeft -= 1
        if (user.batchesLeft === 0) users.delete(userId)
      }
    },
  }
}
