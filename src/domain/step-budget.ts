/** The steps that a computation may take, so that a user with many quotas of short windows does not keep the process busy. */
export class StepBudget {
  left: number

  constructor(steps: number) {
    this.left = steps
  }

  /** @throws OutOfSteps before steps that are no longer in the budget */
  take(steps: number): void {
    if (steps > this.left) throw new OutOfSteps()
    this.left -= steps
  }
}

class OutOfSteps extends Error {
  override readonly name = 'OutOfSteps'
}

/** What a computation comes to; null if it would take more steps than `most`. */
export function withinSteps<Result>(most: number, compute: (budget: StepBudget) => Result): Result | null {
  try {
    return compute(new StepBudget(most))
  } catch (error) {
    if (error instanceof OutOfSteps) return null
    throw error
  }
}
