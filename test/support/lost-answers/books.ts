/** What the senders were told, as counts, and what of it was not true. */
export interface Books {
  readonly counts: Map<string, number>
  /** Not true, with the message. */
  readonly untrue: string[]
  /** Units of messages that were sent past the limits of their user, as debts. */
  readonly debts: Map<number, number>
  count(what: string): void
}

export function createBooks(): Books {
  const counts = new Map<string, number>()
  return {
    counts,
    untrue: [],
    debts: new Map(),
    count: what => void counts.set(what, (counts.get(what) ?? 0) + 1),
  }
}
