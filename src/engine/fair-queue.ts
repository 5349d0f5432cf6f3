/**
 * The commands that no batch has, in a queue per principal. The queues are served in turn, a command each (round robin), so
 * that the commands of one principal do not wait for a backlog of another.
 *
 * A principal has one while it has commands that are not released: there are as many as commands, at most.
 */
export interface FairQueue<E extends Queued<E>> {
  /** The queue of a principal; undefined stands for the service itself. */
  queueOf(principal: string | undefined): PrincipalQueue<E>
  /** Commands of the principal that were added and not released. */
  queuedOf(principal: string | undefined): number
  /** Adds an entry at the end of its queue. */
  add(entry: E): void
  /** Puts entries, which were taken before, at the front of their queues again, in this order. `since`: when the first came. */
  putBack(entries: readonly E[], since: number): void
  /** Begins a round of `next`, for a batch. The entries that come from now on share the time at which the first of them comes. */
  startRound(): void
  /**
   * Takes the next entry; undefined if there is none that may be taken. While several principals have entries that wait or are in
   * running batches, a round takes at most `share` of each. While one of them has fewer than its share, the others have at most as many in running batches:
   * a batch of theirs is on its way, and the next one is free for the few.
   */
  next(): E | undefined
  /** Whether `next` would find an entry in a new round. */
  readonly hasNext: boolean
  /** An entry that was taken is in a batch that is about to run. */
  start(entry: E): void
  /** An entry that was started is in it no more. */
  stop(entry: E): void
  /** Since when the entry that was next has waited. */
  readonly since: number
  /** Frees the room of an entry that was taken. */
  release(entry: E): void
}

/** The place of an entry in its queue. */
export interface Queued<E> {
  readonly queue: PrincipalQueue<E>
}

/** Entries in their order, in segments of those that came while no batch was formed: the clock is not read for each. */
export interface PrincipalQueue<E> {
  readonly principal: string | undefined
  segments: Segment<E>[]
  /** Entries added and not released. */
  queued: number
  /** Entries taken in a round. */
  taken: { round: number; count: number }
  /** Entries in running batches. */
  running: number
  /** The queue that is served after this one; undefined while no entry waits. */
  following: PrincipalQueue<E> | undefined
}

interface Segment<E> {
  readonly entries: E[]
  readonly since: number
  /** After the beginning of which round it came; −1 takes no more entries. */
  readonly round: number
  taken: number
}

/**
 * A principal with few entries is remembered for this many rounds: its next entry may come just after a batch of the
 * others has begun. That is a third of a second, if a batch takes ten milliseconds and two run at a time.
 */
const ROUNDS_TO_REMEMBER = 64

/** @param now a clock in milliseconds that never steps back */
export function createFairQueue<E extends Queued<E>>(share: number, now: () => number): FairQueue<E> {
  return new FairPrincipalQueues<E>(share, now)
}

class FairPrincipalQueues<E extends Queued<E>> implements FairQueue<E> {
  private readonly share: number
  private readonly now: () => number
  private readonly queues = new Map<string | undefined, PrincipalQueue<E>>()
  /** The queues with waiting entries are a ring. This one is served last. */
  private last: PrincipalQueue<E> | undefined
  private round = 0
  /** Whether several principals have commands in this round. */
  private isShared = false
  /** The last round at whose beginning a principal had few entries, beside others. */
  private lastFew = Number.NEGATIVE_INFINITY
  since = 0

  constructor(share: number, now: () => number) {
    this.share = share
    this.now = now
  }

  queueOf(principal: string | undefined): PrincipalQueue<E> {
    let queue = this.queues.get(principal)
    if (queue === undefined) {
      queue = { principal, segments: [], queued: 0, taken: { round: 0, count: 0 }, running: 0, following: undefined }
      this.queues.set(principal, queue)
    }
    return queue
  }

  queuedOf(principal: string | undefined): number {
    return this.queues.get(principal)?.queued ?? 0
  }

  add(entry: E): void {
    const { queue } = entry
    queue.queued += 1
    const segment = queue.segments.at(-1)
    if (segment?.round === this.round) segment.entries.push(entry)
    else queue.segments.push({ entries: [entry], since: this.now(), round: this.round, taken: 0 })
    this.join(queue)
  }

  putBack(entries: readonly E[], since: number): void {
    const ofLines = new Map<PrincipalQueue<E>, E[]>()
    for (const entry of entries) {
      const ofLine = ofLines.get(entry.queue)
      if (ofLine === undefined) ofLines.set(entry.queue, [entry])
      else ofLine.push(entry)
    }
    for (const [queue, ofLine] of ofLines) {
      queue.segments.unshift({ entries: ofLine, since, round: -1, taken: 0 })
      this.join(queue)
    }
  }

  startRound(): void {
    this.round += 1
    let present = 0
    let hasFew = false
    for (const { principal, queued, running, following } of this.queues.values()) {
      // Those of it that run isolated, or wait for these, gain nothing by others that hold back.
      if (running === 0 && following === undefined) continue
      present += 1
      hasFew ||= principal !== undefined && queued < this.share
      if (present > 1 && hasFew) break
    }
    this.isShared = present > 1
    if (this.isShared && hasFew) this.lastFew = this.round
  }

  get hasNext(): boolean {
    for (let queue = this.last?.following; queue !== undefined; queue = queue.following) {
      if (this.mayRun(queue)) return true
      if (queue === this.last) return false
    }
    return false
  }

  private mayRun({ running }: PrincipalQueue<E>): boolean {
    return running < this.share || this.round - this.lastFew > ROUNDS_TO_REMEMBER
  }

  start({ queue }: E): void {
    queue.running += 1
  }

  stop({ queue }: E): void {
    queue.running -= 1
  }

  next(): E | undefined {
    const before = this.lineBeforeNext()
    const queue = before?.following
    const segment = queue?.segments[0]
    const entry = segment?.entries[segment.taken]
    if (before === undefined || queue === undefined || segment === undefined || entry === undefined) return undefined
    this.since = segment.since
    segment.taken += 1
    queue.taken.count += 1
    if (segment.taken === segment.entries.length) queue.segments.shift()
    if (queue.segments.length > 0) {
      this.last = queue
    } else {
      before.following = queue.following
      queue.following = undefined
      this.last = queue === before ? undefined : before
    }
    return entry
  }

  /** The queue before the first one that has not had its share; undefined if all have. */
  private lineBeforeNext(): PrincipalQueue<E> | undefined {
    const max = this.isShared ? this.share : Number.POSITIVE_INFINITY
    for (let before = this.last; before !== undefined; ) {
      const queue = before.following ?? before
      if (queue.taken.round !== this.round) queue.taken = { round: this.round, count: 0 }
      if (queue.taken.count < max && this.mayRun(queue)) return before
      if (queue === this.last) return undefined
      before = queue
    }
    return undefined
  }

  release({ queue }: E): void {
    queue.queued -= 1
    if (queue.queued === 0) this.queues.delete(queue.principal)
  }

  /** Lets a queue with a waiting entry be served, after all others. */
  private join(queue: PrincipalQueue<E>): void {
    if (queue.following !== undefined) return
    queue.following = this.last?.following ?? queue
    if (this.last !== undefined) this.last.following = queue
    this.last = queue
  }
}
