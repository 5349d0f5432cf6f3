/**
 * The queue of the lanes: gathers the commands of each lane into batches, in the order in which they were added, within
 * bounds over all lanes. It runs nothing.
 *
 * | lane    | meaning                                    | entered by       | left by                             |
 * |---------|--------------------------------------------|------------------|-------------------------------------|
 * | idle    | nothing has gathered, nothing is in flight | the start, `end` | `add` (ready)                       |
 * | ready   | a batch has gathered and waits for a slot  | `add`, `end`     | `take` (running)                    |
 * | running | a batch is in flight, the next one gathers | `take`           | `end` (ready if one gathered, idle) |
 *
 * Ready lanes are served in the order in which they became ready, so a lane with a backlog waits behind the others.
 */
import type { Completion } from './completion.ts'
import { Overloaded } from './failures.ts'

export interface LaneQueueOptions {
  readonly lanes: number
  /** The maximum number of commands in a batch. */
  readonly batchSize: number
  /** The maximum number of commands added and not released, over all lanes. */
  readonly queueCommands: number
  /** The maximum of their bytes. A larger command is never accepted. */
  readonly queueBytes: number
  /** A clock in milliseconds that never steps back. */
  now(): number
  /** A batch was opened in a lane that is not running. */
  onReady(): void
}

/** Commands of one lane that are carried out together: the same index in each list belongs to the same command. */
export interface LaneBatch<C, R> {
  readonly commands: C[]
  readonly bytes: number[]
  readonly completions: Completion<R>[]
}

export interface QueuedBatch<C, R> extends LaneBatch<C, R> {
  /** When its first command was added. The clock is read once per batch, not once per command. */
  readonly since: number
  next: QueuedBatch<C, R> | undefined
}

export interface Lane<C, R> {
  readonly number: number
  /** The batches not yet taken, as a linked list: taking the first one costs the same however many there are. */
  first: QueuedBatch<C, R> | undefined
  last: QueuedBatch<C, R> | undefined
  isRunning: boolean
}

export interface LaneQueue<C, R> {
  /** Adds a command to the last batch of a lane. If it cannot, it returns the reason and adds nothing. */
  add(lane: number, command: C, bytes: number, completion: Completion<R>): Overloaded | RangeError | undefined
  /** The ready lanes, the longest waiting first. */
  readonly ready: ReadonlySet<Lane<C, R>>
  /** Takes the first batch of a ready lane, which is running from now on. */
  take(lane: Lane<C, R>): QueuedBatch<C, R> | undefined
  /** The batch of a running lane has ended. */
  end(lane: Lane<C, R>): void
  /** Frees the room of commands whose completions are about to be called. */
  release(batch: LaneBatch<C, R>): void
  /** Commands added and not released. */
  readonly commands: number
  readonly bytes: number
}

/** @throws RangeError if `lanes` or `batchSize` is below 1: no command would ever run. */
export function createLaneQueue<C, R>(options: LaneQueueOptions): LaneQueue<C, R> {
  const { batchSize, queueCommands, queueBytes, now, onReady } = options
  for (const count of [options.lanes, batchSize]) {
    if (!(count >= 1)) throw new RangeError('lanes and batchSize must be at least 1')
  }
  const lanes = Array.from(
    { length: options.lanes },
    (_, number): Lane<C, R> => ({ number, first: undefined, last: undefined, isRunning: false }),
  )
  const ready = new Set<Lane<C, R>>()
  let queued = 0
  let queuedBytes = 0

  function openBatch(lane: Lane<C, R>): QueuedBatch<C, R> {
    const batch: QueuedBatch<C, R> = { commands: [], bytes: [], completions: [], since: now(), next: undefined }
    if (lane.last === undefined) lane.first = batch
    else lane.last.next = batch
    lane.last = batch
    if (!lane.isRunning) {
      ready.add(lane)
      onReady()
    }
    return batch
  }

  return {
    add(number, command, bytes, completion) {
      const lane = lanes[number]
      if (lane === undefined) return new RangeError(`there is no lane ${number}`)
      // `bytes` that are not a number must be refused: the sum would become NaN, and the bound would never hold again.
      const hasRoom = queued < queueCommands && queuedBytes + bytes <= queueBytes
      if (!hasRoom) return new Overloaded(`${queued} commands of ${queuedBytes} bytes are waiting already`)
      queued += 1
      queuedBytes += bytes
      const batch = lane.last !== undefined && lane.last.commands.length < batchSize ? lane.last : openBatch(lane)
      batch.commands.push(command)
      batch.bytes.push(bytes)
      batch.completions.push(completion)
      return undefined
    },
    ready,
    take(lane) {
      ready.delete(lane)
      const batch = lane.first
      if (batch === undefined) return undefined
      lane.first = batch.next
      if (batch.next === undefined) lane.last = undefined
      lane.isRunning = true
      return batch
    },
    end(lane) {
      lane.isRunning = false
      if (lane.first !== undefined) ready.add(lane)
    },
    release({ commands, bytes }) {
      queued -= commands.length
      for (const weight of bytes) queuedBytes -= weight
    },
    get commands() {
      return queued
    },
    get bytes() {
      return queuedBytes
    },
  }
}
