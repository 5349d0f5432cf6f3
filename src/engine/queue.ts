/**
 * The queue: gathers commands into batches, within bounds. It runs nothing.
 *
 * There is one queue for all users, so that batches grow with the load by themselves. Within it each principal has a queue,
 * in the order in which its commands came, and a batch takes a command of each queue in turn (fair-queue.ts): a backlog of one
 * sender does not delay another. While several have commands, a batch has few of each, so that it ends soon; and while one of
 * them has few, the others have one batch on its way, and the next is free for the few. A principal may have as many commands
 * in the queue as there is room left for others (a dynamic threshold, as of buffers that the ports of a switch share): alone
 * it uses half of the queue, and however many fill their share, the next one finds room.
 *
 * A principal's commands for one user take effect in their order, because a batch *holds* its users from when it is formed
 * until it ends: a command of a user that is held waits with that batch and goes to the front of its queue when it ends.
 *
 * A batch that is *isolated* has users whose commands may take long: another transaction has locked their rows, another process
 * changes them all the time, or one of their commands fails. They are isolated from the batch that met them, whose other
 * commands go on, and keep their order: the new batch takes over the hold.
 *
 * | batch   | meaning                                  | entered by             | left by        |
 * |---------|------------------------------------------|------------------------|----------------|
 * | waiting | formed to run isolated, without a worker | `isolate`, `take`      | `takeIsolated` |
 * | running | its commands are being carried out       | `take`, `takeIsolated` | `end`          |
 */
import { type Completion, Overloaded } from './completion.ts'
import { createFairQueue, type FairQueue, type PrincipalQueue } from './fair-queue.ts'

export interface QueueOptions {
  /** The maximum number of commands in a batch. */
  readonly batchSize: number
  /** The maximum of one principal's commands in a batch while others have commands in the queue. */
  readonly batchShare: number
  /** The maximum number of commands added and not released. */
  readonly queueCommands: number
  /** The maximum of their bytes. A larger command is never accepted. */
  readonly queueBytes: number
  /** A clock in milliseconds that never steps back. */
  now(): number
  /** The reason why commands of a user run isolated from the start, if they do: those for one reason share a batch. */
  difficultyOf(userId: number): string | undefined
}

/** The part of a command that the queue needs. */
export interface UserCommand {
  readonly user_id: number
  /** Undefined if the service itself asks. */
  readonly origin?: { readonly principal: string }
}

/** A command in the queue. */
interface Entry<C, R> {
  readonly command: C
  readonly bytes: number
  readonly completion: Completion<R>
  readonly queue: PrincipalQueue<Entry<C, R>>
}

export interface QueuedBatch<C, R> {
  entries: Entry<C, R>[]
  readonly isIsolated: boolean
  /** When its oldest command was added, to the precision of a batch: the clock is not read for each command. */
  since: number
  isRunning: boolean
  /** Commands of its users that came, or were next, after it was formed. */
  followers: Entry<C, R>[]
  /** When the first of them was added. */
  followersSince: number
}

export interface Queue<C extends UserCommand, R> {
  /** Adds a command. If it cannot, it returns the reason and adds nothing. */
  add(command: C, bytes: number, completion: Completion<R>): Overloaded | undefined
  /** Whether a command of the principal would find room, if it is not larger than the bytes that are left. */
  hasRoom(principal: string): boolean
  /**
   * Forms a batch of the commands that are next, which is running from now on; undefined if there is none.
   * Commands of users that run isolated, met on the way, form a batch of their own, which waits. It looks at few enough commands
   * that a long backlog of one user does not hold up the event loop; the next call goes on behind them.
   */
  take(): QueuedBatch<C, R> | undefined
  /** Takes the batch that has waited longest to run isolated, which is running from now on. */
  takeIsolated(): QueuedBatch<C, R> | undefined
  /** Moves the users' commands from a running batch to a new one, which waits to run isolated. */
  isolate(batch: QueuedBatch<C, R>, users: ReadonlySet<number>): void
  /** A running batch has ended: its users are free, and their next commands come first. */
  end(batch: QueuedBatch<C, R>): void
  /** Frees the room of commands whose completions are about to be called. */
  release(entries: readonly Entry<C, R>[]): void
  /** Commands wait that `take` may look at now. */
  readonly hasWaiting: boolean
  readonly hasIsolated: boolean
  /** Commands added and not released. */
  readonly commands: number
  readonly bytes: number
}

/** @throws RangeError if `batchSize` or `batchShare` is below 1: no command would ever run. */
export function createQueue<C extends UserCommand, R>(options: QueueOptions): Queue<C, R> {
  const { batchSize, queueCommands, queueBytes } = options
  if (!(batchSize >= 1)) throw new RangeError('batchSize must be at least 1')
  if (!(options.batchShare >= 1)) throw new RangeError('batchShare must be at least 1')
  const queues = createFairQueue<Entry<C, R>>(options.batchShare, options.now)
  const locks = createUserLocks<C, R>(batchSize, options.now)
  const isolated: QueuedBatch<C, R>[] = []
  let queued = 0
  let queuedBytes = 0
  /** Bytes have no share of their own: a command weighs 1 KiB at most, so the share of commands bounds them, too. */
  const hasRoom = (principal: string | undefined) => queues.queuedOf(principal) < queueCommands - queued

  return {
    hasRoom,
    add(command, bytes, completion) {
      const principal = command.origin?.principal
      // `bytes` that are not a number must be refused: the sum would become NaN, and the bound would never hold again.
      if (!hasRoom(principal) || !(queuedBytes + bytes <= queueBytes)) {
        const own = queues.queuedOf(principal)
        return new Overloaded(`${own} commands of the principal are queued, ${queued} of ${queuedBytes} bytes in all`)
      }
      queued += 1
      queuedBytes += bytes
      queues.add({ command, bytes, completion, queue: queues.queueOf(principal) })
      return undefined
    },
    take() {
      const { batch, besides } = formBatch(queues, locks, options)
      isolated.push(...besides)
      return batch
    },
    takeIsolated() {
      const batch = isolated.shift()
      if (batch !== undefined) batch.isRunning = true
      return batch
    },
    isolate(batch, users) {
      const before = batch.entries
      const other = locks.part(batch, users)
      if (!batch.isIsolated) for (const entry of before) if (users.has(entry.command.user_id)) queues.stop(entry)
      if (other.entries.length > 0) isolated.push(other)
    },
    end(batch) {
      const { entries, followers } = batch
      locks.end(batch)
      if (!batch.isIsolated) for (const entry of entries) queues.stop(entry)
      if (followers.length > 0) queues.putBack(followers, batch.followersSince)
    },
    release(entries) {
      queued -= entries.length
      for (const entry of entries) {
        queuedBytes -= entry.bytes
        queues.release(entry)
      }
    },
    get hasWaiting() {
      return queues.hasNext
    },
    get hasIsolated() {
      return isolated.length > 0
    },
    get commands() {
      return queued
    },
    get bytes() {
      return queuedBytes
    },
  }
}

/** A batch of the commands that are next, if any, and those of users in quarantine among them as batches of their own. */
function formBatch<C extends UserCommand, R>(
  queues: FairQueue<Entry<C, R>>,
  locks: UserLocks<C, R>,
  { batchSize, difficultyOf }: QueueOptions,
): { batch: QueuedBatch<C, R> | undefined; besides: Iterable<QueuedBatch<C, R>> } {
  queues.startRound()
  const batch = locks.newBatch(false)
  const besides = new Map<string, QueuedBatch<C, R>>()
  const batchFor = (difficulty: string | undefined) => {
    if (difficulty === undefined) return batch
    const beside = besides.get(difficulty) ?? locks.newBatch(true)
    besides.set(difficulty, beside)
    return beside
  }
  let passed = 0
  while (batch.entries.length < batchSize && passed < batchSize) {
    const entry = queues.next()
    if (entry === undefined) break
    const { user_id } = entry.command
    const holder = locks.holderOf(user_id) ?? locks.hold(user_id, batchFor(difficultyOf(user_id)))
    locks.give(holder, entry, queues.since)
    if (holder !== batch) passed += 1
  }
  batch.isRunning = true
  for (const entry of batch.entries) queues.start(entry)
  return { batch: batch.entries.length > 0 ? batch : undefined, besides: besides.values() }
}

type UserLocks<C extends UserCommand, R> = ReturnType<typeof createUserLocks<C, R>>

/** Keeps which batch holds which user. */
function createUserLocks<C extends UserCommand, R>(batchSize: number, now: () => number) {
  const holders = new Map<number, QueuedBatch<C, R>>()

  function newBatch(isIsolated: boolean): QueuedBatch<C, R> {
    return { entries: [], isIsolated, since: now(), isRunning: false, followers: [], followersSince: 0 }
  }

  function hold(userId: number, batch: QueuedBatch<C, R>): QueuedBatch<C, R> {
    holders.set(userId, batch)
    return batch
  }

  /** Gives a command to the batch that holds its user. Only one that is not running yet can still carry it out itself. */
  function give(batch: QueuedBatch<C, R>, entry: Entry<C, R>, since: number): void {
    if (batch.isRunning || batch.entries.length >= batchSize) {
      if (batch.followers.length === 0) batch.followersSince = since
      batch.followers.push(entry)
    } else {
      batch.entries.push(entry)
      if (since < batch.since) batch.since = since
    }
  }

  return {
    holderOf: (userId: number) => holders.get(userId),
    newBatch,
    hold,
    give,

    /** Moves the users' commands to a new batch, with those that follow behind them, before any that are yet to come. */
    part(batch: QueuedBatch<C, R>, users: ReadonlySet<number>): QueuedBatch<C, R> {
      const other = newBatch(true)
      const isMoved = ({ command }: Entry<C, R>) => users.has(command.user_id)
      for (const entry of batch.entries)
        if (isMoved(entry)) give(hold(entry.command.user_id, other), entry, batch.since)
      for (const entry of batch.followers) if (isMoved(entry)) give(other, entry, batch.followersSince)
      batch.entries = batch.entries.filter(entry => !isMoved(entry))
      batch.followers = batch.followers.filter(entry => !isMoved(entry))
      return other
    },

    /**
     * Frees the users, and empties the batch. A map that grows or shrinks leaves a table behind that leads to all later ones: what they
     * name is kept until the next collection of all memory, and a batch would keep its requests.
     */
    end(batch: QueuedBatch<C, R>): void {
      for (const { command } of batch.entries) holders.delete(command.user_id)
      batch.entries = []
      batch.followers = []
    },
  }
}
