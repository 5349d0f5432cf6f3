/** Long work of calls is done in slices, and all of it takes turns: between two looks at the connections the process does one slice. */
import { setImmediate as nextTick } from 'node:timers/promises'

/** Rows of a slice: some two milliseconds. */
export const SLICE_ROWS = 250

let last: Promise<unknown> = Promise.resolve()

/** Does work, and gives way where it yields. */
export async function inSlices<Result>(work: Generator<unknown, Result, void>): Promise<Result> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    await giveWay()
  }
}

/** Resolves when the connections were looked at, and each piece of work that waited before has done a slice. */
export function giveWay(): Promise<unknown> {
  last = last.then(() => nextTick())
  return last
}
