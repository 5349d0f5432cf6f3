/**
 * Numbers that tell rows of one shard apart, of which any process adds some at any time: denials, and pending usage. A row of
 * a counter would have to be locked until the commit. A sequence repeats itself on a cluster after a crash of its
 * coordinator, whose log the commits of other nodes do not flush.
 *
 * A number is the machine's time in milliseconds and some random bits, so that numbers grow about as rows are added. If two
 * processes take the same one for rows of the same shard, which is rare, the insert fails and the batch goes again.
 */
export function nextNumber(): number {
  last = Math.max(last + 1, (Date.now() - EPOCH) * PER_MS + Math.floor(Math.random() * PER_MS))
  return last
}

/** With these, numbers are exact for 34 years. */
const EPOCH = Date.UTC(2026, 0, 1)
const PER_MS = 8_192

let last = 0
