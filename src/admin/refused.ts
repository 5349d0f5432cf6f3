/** What a transaction is rolled back with, so that a refused change leaves nothing. */
class Refused extends Error {}

/**
 * Runs a change in a transaction that it may have written in before it is refused: a lock makes the account of a user who had none, and who
 * would be listed from then on.
 *
 * @param work gets what refuses: it throws, which undoes the transaction
 * @returns what the work has done, or what it was refused with
 */
export async function unlessRefused<Done, Refusal>(
  work: (refuse: (outcome: Refusal) => never) => Promise<Done>,
): Promise<{ done: Done } | { refused: Refusal }> {
  let refusal: { refused: Refusal } | undefined
  try {
    const done = await work(outcome => {
      refusal = { refused: outcome }
      throw new Refused('the change is refused')
    })
    return { done }
  } catch (error) {
    if (error instanceof Refused && refusal !== undefined) return refusal
    throw error
  }
}
