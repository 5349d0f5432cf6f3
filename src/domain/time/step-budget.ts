/** The steps that a computation may take, so that a user with many quotas of short windows does not keep the process busy. */
export interface StepBudget {
  readonly left: number
  /** @throws OutOfSteps before steps that are no longer in the budget */
  take(steps: number): void
}

export function createStepBudget(steps: number): StepBudget {
  let left = steps
  return {
    get left() {
      return left
    },
    take(taken) {
      if (taken > left) throw new OutOfSteps()
      left -= taken
    },
  }
}

class OutOfSteps extends Error {
  override readonly name = 'OutOfSteps'
}

/** What a computation comes to; null if it would take more steps than `most`. */
export function withinSteps<Result>(most: number, compute: (budget: StepBudget) => Result): Result | null {
  try {
    return compute(createStepBudget(most))
  } catch (error) {
    if (error instanceof OutOfSteps) return null
    throw error
  }
}
