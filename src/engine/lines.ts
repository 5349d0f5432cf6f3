/**
 * The commands that no batch has, in a line per principal. The lines are served in turn, a command each (round robin), so
 * that the commands of one principal do not wait for a backlog of another.
 *
 * Lines exist while their principal has commands that are not released: as many as the queue has commands, at most.
 */
export interface Lines<E extends InLine<E>> {
  /** The line of a principal; undefined stands for the service itself. */
  lineOf(principal: string | undefined): Line<E>
  /** Commands of the principal that were added and not released. */
  queuedOf(principal: string | undefined): number
  /** Adds an entry at the end of its line. */
  add(entry: E): void
  /** Puts entries, which were taken before, at the front of their lines again, in this order. `since`: when the first came. */
  putBack(entries: readonly E[], since: number): void
  /** Begins a round of `next`, for a batch. The entries that come from now on share the time at which the first of them comes. */
  startRound(): void
  /**
   * Takes the next entry; undefined if there is none that may be taken. While several principals have entries, a round takes
   * at most `share` of each. While one of them has fewer than its share, the others have at most so many in running batches:
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

/** What an entry knows of its line. */
export interface InLine<E> {
  readonly line: Line<E>
}

/** Entries in their order, in segments of those that came while no batch was formed: the clock is not read for each. */
export interface Line<E> {
  readonly principal: string | undefined
  segments: Segment<E>[]
  /** Entries added and not released. */
  queued: number
  /** Entries taken in a round. */
  taken: { round: number; count: number }
  /** Entries in running batches. */
  running: number
  /** The line that is served after this one; undefined while no entry waits. */
  following: Line<E> | undefined
}

interface Segment<E> {
  readonly entries: E[]
  readonly since: number
  /** After the beginning of which round it came; −1 takes no more entries. */
  readonly round: number
  taken: number
}

/**
 * For how many rounds a principal with few entries is remembered: its next entry may come just after a batch of the others has
 * begun. That is a third of a second, if a batch takes ten milliseconds and two run at a time.
 */
const ROUNDS_TO_REMEMBER = 64

/** @param now a clock in milliseconds that never steps back */
export function createLines<E extends InLine<E>>(share: number, now: () => number): Lines<E> {
  return new FairLines<E>(share, now)
}

class FairLines<E extends InLine<E>> implements Lines<E> {
  private readonly share: number
  private readonly now: () => number
  private readonly lines = new Map<string | undefined, Line<E>>()
  /** The lines with waiting entries are a ring. This one is served last. */
  private last: Line<E> | undefined
  private round = 0
  /** The last round at whose beginning a principal had few entries, beside others. */
  private lastFew = Number.NEGATIVE_INFINITY
  since = 0

  constructor(share: number, now: () => number) {
    this.share = share
    this.now = now
  }

  lineOf(principal: string | undefined): Line<E> {
    let line = this.lines.get(principal)
    if (line === undefined) {
      line = { principal, segments: [], queued: 0, taken: { round: 0, count: 0 }, running: 0, following: undefined }
      this.lines.set(principal, line)
    }
    return line
  }

  queuedOf(principal: string | undefined): number {
    return this.lines.get(principal)?.queued ?? 0
  }

  add(entry: E): void {
    const { line } = entry
    line.queued += 1
    const segment = line.segments.at(-1)
    if (segment?.round === this.round) segment.entries.push(entry)
    else line.segments.push({ entries: [entry], since: this.now(), round: this.round, taken: 0 })
    this.join(line)
  }

  putBack(entries: readonly E[], since: number): void {
    const ofLines = new Map<Line<E>, E[]>()
    for (const entry of entries) {
      const ofLine = ofLines.get(entry.line)
      if (ofLine === undefined) ofLines.set(entry.line, [entry])
      else ofLine.push(entry)
    }
    for (const [line, ofLine] of ofLines) {
      line.segments.unshift({ entries: ofLine, since, round: -1, taken: 0 })
      this.join(line)
    }
  }

  startRound(): void {
    this.round += 1
    if (this.hasFew()) this.lastFew = this.round
  }

  /** Whether a principal, the service itself aside, has few entries beside others. */
  private hasFew(): boolean {
    if (this.lines.size < 2) return false
    for (const { principal, queued } of this.lines.values()) {
      if (principal !== undefined && queued < this.share) return true
    }
    return false
  }

  get hasNext(): boolean {
    for (let line = this.last?.following; line !== undefined; line = line.following) {
      if (this.mayRun(line)) return true
      if (line === this.last) return false
    }
    return false
  }

  private mayRun({ running }: Line<E>): boolean {
    return running < this.share || this.round - this.lastFew > ROUNDS_TO_REMEMBER
  }

  start({ line }: E): void {
    line.running += 1
  }

  stop({ line }: E): void {
    line.running -= 1
  }

  next(): E | undefined {
    const before = this.lineBeforeNext()
    const line = before?.following
    const segment = line?.segments[0]
    const entry = segment?.entries[segment.taken]
    if (before === undefined || line === undefined || segment === undefined || entry === undefined) return undefined
    this.since = segment.since
    segment.taken += 1
    line.taken.count += 1
    if (segment.taken === segment.entries.length) line.segments.shift()
    if (line.segments.length > 0) {
      this.last = line
    } else {
      before.following = line.following
      line.following = undefined
      this.last = line === before ? undefined : before
    }
    return entry
  }

  /** The line before the first one that has not had its share; undefined if all have. */
  private lineBeforeNext(): Line<E> | undefined {
    const max = this.lines.size > 1 ? this.share : Number.POSITIVE_INFINITY
    for (let before = this.last; before !== undefined; ) {
      const line = before.following ?? before
      if (line.taken.round !== this.round) line.taken = { round: this.round, count: 0 }
      if (line.taken.count < max && this.mayRun(line)) return before
      if (line === this.last) return undefined
      before = line
    }
    return undefined
  }

  release({ line }: E): void {
    line.queued -= 1
    if (line.queued === 0) this.lines.delete(line.principal)
  }

  /** Lets a line with a waiting entry be served, after all others. */
  private join(line: Line<E>): void {
    if (line.following !== undefined) return
    line.following = this.last?.following ?? line
    if (this.last !== undefined) this.last.following = line
    this.last = line
  }
}
