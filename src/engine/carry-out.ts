/** Carries out one batch: runs it, halves it if one of its commands makes it fail, and completes every command. */
import type { LaneBatch } from './lane-queue.ts'
import type { Slot } from './limiter.ts'

export interface RunOptions<C, R> {
  /**
   * Carries out a batch of one lane, completely or not at all, and resolves to one result per command, in their order.
   * If it rejects or throws, all commands of the batch are rejected with that error.
   */
  run(lane: number, commands: readonly C[], slot: Pick<Slot, 'reportBlocked'>): Promise<readonly R[]>
  /** Whether a batch that failed with this error is halved until the command that causes it fails alone. */
  splits(error: unknown): boolean
}

interface CarryOutOptions<C, R> extends RunOptions<C, R> {
  /** Called with commands whose completions are called next: frees their room in the queue. */
  release(batch: LaneBatch<C, R>): void
}

/** Runs the commands and completes each of them exactly once. It never rejects. */
export async function carryOut<C, R>(
  options: CarryOutOptions<C, R>,
  lane: number,
  batch: LaneBatch<C, R>,
  slot: Slot,
): Promise<void> {
  const { commands, completions } = batch
  let results: readonly R[]
  try {
    results = await options.run(lane, commands, slot)
  } catch (error) {
    return await fail(error, options, lane, batch, slot)
  }
  // Not halved and run again: the commands may have been carried out.
  if (!Array.isArray(results) || results.length !== commands.length) {
    const count = Array.isArray(results) ? results.length : 'no'
    return rejectAll(options, batch, new Error(`a batch of ${commands.length} commands got ${count} results`))
  }
  options.release(batch)
  for (let n = 0; n < completions.length; n++) completions[n]?.resolve(results[n] as R)
}

/** The halves run one after the other, the earlier commands first, so that the order within the lane stays. */
async function fail<C, R>(
  error: unknown,
  options: CarryOutOptions<C, R>,
  lane: number,
  batch: LaneBatch<C, R>,
  slot: Slot,
): Promise<void> {
  const count = batch.commands.length
  if (count === 1) return rejectAll(options, batch, error)
  try {
    if (!options.splits(error)) return rejectAll(options, batch, error)
  } catch (splitError) {
    return rejectAll(options, batch, splitError)
  }
  slot.reportBlocked()
  const half = Math.ceil(count / 2)
  await carryOut(options, lane, part(batch, 0, half), slot)
  await carryOut(options, lane, part(batch, half, count), slot)
}

function rejectAll<C, R>(options: CarryOutOptions<C, R>, batch: LaneBatch<C, R>, error: unknown): void {
  options.release(batch)
  for (const completion of batch.completions) completion.reject(error)
}

function part<C, R>({ commands, bytes, completions }: LaneBatch<C, R>, start: number, end: number): LaneBatch<C, R> {
  return {
    commands: commands.slice(start, end),
    bytes: bytes.slice(start, end),
    completions: completions.slice(start, end),
  }
}
