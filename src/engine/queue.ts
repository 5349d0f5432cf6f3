/**
 * The queue: gathers commands into batches in the order in which they came, within bounds. It runs nothing.
 *
 * There is one queue for all users, so that batches grow with the load by themselves. Commands of one user take effect in
 * their order all the same, because a batch *holds* its users from when it is formed until it ends: a command of a user
 * that is held waits with that batch and goes to the front of the queue when it ends.
 *
 * A batch that runs *apart* has users whose commands may take long: somebody has locked their rows, another process
 * changes them all the time, or one of their commands fails. They are set apart from the batch that met them, whose other
 * commands go on, and keep their order: the new batch takes over the hold.
 *
 * | batch   | meaning                                  | entered by                | left by          |
 * |---------|------------------------------------------|---------------------------|------------------|
 * | waiting | formed to run apart, waits for a worker  | `setApart`, `take`        | `takeApart`      |
 * | running | its commands are being carried out       | `take`, `takeApart`       | `end`            |
 */
import type { Completion } from './completion.ts'
import { Overloaded } from './failures.ts'

export interface QueueOptions {
  /** The maximum number of commands in a batch. */
  readonly batchSize: number
  /** The maximum number of commands added and not released. */
  readonly queueCommands: number
  /** The maximum of their bytes. A larger command is never accepted. */
  readonly queueBytes: number
  /** A clock in milliseconds that never steps back. */
  now(): number
  /** Why commands of a user run apart from the start, if they do: those for one reason share a batch. */
  difficultyOf(userId: number): string | undefined
}

/** What the queue needs to know of a command. */
export interface UserCommand {
  readonly user_id: number
}

/** A command in the queue. */
export interface Entry<C, R> {
  readonly command: C
  readonly bytes: number
  readonly completion: Completion<R>
}

export interface Batch<C, R> {
  entries: Entry<C, R>[]
  readonly isApart: boolean
  /** When its oldest command was added, to the precision of a batch: the clock is not read for each command. */
  readonly since: number
  isRunning: boolean
  /** Commands of its users that came, or were next, after it was formed. */
  followers: Entry<C, R>[]
}

/** Commands that were added between two batches. */
interface Segment<C, R> {
  readonly entries: Entry<C, R>[]
  readonly since: number
  /** How many of them were taken. */
  taken: number
}

export interface Queue<C extends UserCommand, R> {
  /** Adds a command. If it cannot, it returns the reason and adds nothing. */
  add(command: C, bytes: number, completion: Completion<R>): Overloaded | undefined
  /**
   * Forms a batch of the commands that have waited longest, which is running from now on; undefined if there is none.
   * Commands of users that run apart, met on the way, form a batch of their own, which waits. It looks at so many commands
   * at most that a long backlog of one user does not hold up the event loop; the next call goes on behind them.
   */
  take(): Batch<C, R> | undefined
  /** Takes the batch that has waited longest to run apart, which is running from now on. */
  takeApart(): Batch<C, R> | undefined
  /** Moves the users' commands from a running batch to a new one, which waits to run apart. */
  setApart(batch: Batch<C, R>, users: ReadonlySet<number>): void
  /** A running batch has ended: its users are free, and their next commands come first. */
  end(batch: Batch<C, R>): void
  /** Frees the room of commands whose completions are about to be called. */
  release(entries: readonly Entry<C, R>[]): void
  /** Commands wait that no batch holds, or that `take` has yet to look at. */
  readonly hasWaiting: boolean
  readonly hasApart: boolean
  /** Commands added and not released. */
  readonly commands: number
  readonly bytes: number
}

/** @throws RangeError if `batchSize` is below 1: no command would ever run. */
export function createQueue<C extends UserCommand, R>(options: QueueOptions): Queue<C, R> {
  const { batchSize, queueCommands, queueBytes, now, difficultyOf } = options
  if (!(batchSize >= 1)) throw new RangeError('batchSize must be at least 1')
  /** The commands that no batch holds, in their order. */
  const segments: Segment<C, R>[] = []
  /** Whether the last segment takes more commands: since it was opened, no batch was formed. */
  let isOpen = false
  const holders = new Map<number, Batch<C, R>>()
  const apart: Batch<C, R>[] = []
  let queued = 0
  let queuedBytes = 0

  function openSegment(): Segment<C, R> {
    const segment: Segment<C, R> = { entries: [], since: now(), taken: 0 }
    segments.push(segment)
    isOpen = true
    return segment
  }

  function newBatch(isApart: boolean, since: number): Batch<C, R> {
    return { entries: [], isApart, since, isRunning: !isApart, followers: [] }
  }

  function join(batch: Batch<C, R>, entry: Entry<C, R>): void {
    batch.entries.push(entry)
    holders.set(entry.command.user_id, batch)
  }

  /** Gives a command to the batch that holds its user. Only one that waits to run apart can still carry it out itself. */
  function follow(batch: Batch<C, R>, entry: Entry<C, R>): void {
    const joins = !batch.isRunning && batch.followers.length === 0 && batch.entries.length < batchSize
    if (joins) batch.entries.push(entry)
    else batch.followers.push(entry)
  }

  /** The next command that no batch holds, and that `take` has yet to look at. */
  function next(): Entry<C, R> | undefined {
    for (let segment = segments[0]; segment !== undefined; segment = segments[0]) {
      const entry = segment.entries[segment.taken]
      segment.taken += 1
      if (entry !== undefined) return entry
      segments.shift()
    }
    return undefined
  }

  function take(): Batch<C, R> | undefined {
    isOpen = false
    const since = segments[0]?.since ?? now()
    const batch = newBatch(false, since)
    const besides = new Map<string, Batch<C, R>>()
    let passed = 0
    while (batch.entries.length < batchSize && passed < batchSize) {
      const entry = next()
      if (entry === undefined) break
      const { user_id } = entry.command
      const holder = holders.get(user_id)
      const difficulty = holder === undefined ? difficultyOf(user_id) : undefined
      if (holder === undefined && difficulty === undefined) join(batch, entry)
      else if (holder === batch) batch.entries.push(entry)
      else passed += 1
      if (difficulty !== undefined) {
        const beside = besides.get(difficulty) ?? newBatch(true, since)
        besides.set(difficulty, beside)
        join(beside, entry)
      } else if (holder !== undefined && holder !== batch) follow(holder, entry)
    }
    apart.push(...besides.values())
    return batch.entries.length > 0 ? batch : undefined
  }

  return {
    add(command, bytes, completion) {
      // `bytes` that are not a number must be refused: the sum would become NaN, and the bound would never hold again.
      const hasRoom = queued < queueCommands && queuedBytes + bytes <= queueBytes
      if (!hasRoom) return new Overloaded(`${queued} commands of ${queuedBytes} bytes are waiting already`)
      queued += 1
      queuedBytes += bytes
      const segment = (isOpen ? segments.at(-1) : undefined) ?? openSegment()
      segment.entries.push({ command, bytes, completion })
      return undefined
    },

    take,

    takeApart() {
      const batch = apart.shift()
      if (batch !== undefined) batch.isRunning = true
      return batch
    },

    setApart(batch, users) {
      const other = newBatch(true, batch.since)
      const isMoved = ({ command }: Entry<C, R>) => users.has(command.user_id)
      for (const entry of batch.entries) if (isMoved(entry)) join(other, entry)
      if (other.entries.length === 0) return
      batch.entries = batch.entries.filter(entry => !isMoved(entry))
      // In their place, before any command that is yet to come.
      for (const entry of batch.followers) if (isMoved(entry)) follow(other, entry)
      batch.followers = batch.followers.filter(entry => !isMoved(entry))
      apart.push(other)
    },

    end({ entries, followers, since }) {
      for (const { command } of entries) holders.delete(command.user_id)
      if (followers.length > 0) segments.unshift({ entries: followers, since, taken: 0 })
    },

    release(entries) {
      queued -= entries.length
      for (const { bytes } of entries) queuedBytes -= bytes
    },

    get hasWaiting() {
      return segments.length > 0
    },
    get hasApart() {
      return apart.length > 0
    },
    get commands() {
      return queued
    },
    get bytes() {
      return queuedBytes
    },
  }
}
