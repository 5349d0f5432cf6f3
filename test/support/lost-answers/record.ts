/** What the senders' calls answered, as counts, and what of it was not true. */
import { type Message, nameOf } from './message.ts'
import type { Expiry } from './send-outcome.ts'

/** Of the senders of one kind. */
export interface SenderCounts {
  messages: number
  /** Calls of the sender, with those that repeat a message. */
  calls: number
  kills: number
  /** Messages that were under way or not settled in a process that was killed. */
  'under way at a kill': number
  'not known if sent': number
}

/** A message that was under way, or not settled, in a process that was killed; or that its sender has forgotten with it. */
export interface Killed extends Pick<Message, 'userId' | 'id' | 'units'> {
  /** The type of the message. */
  readonly by: string
  readonly onExpiry: Expiry
  /** Whether its sender sends without the service. */
  readonly mayBeDebt: boolean
}

/** A message that two senders have. */
interface Shared {
  readonly message: Message
  readonly onExpiry: Expiry | undefined
  /** Whether the second one had it before the first one had ended, or had settled what it left open. */
  isTogether: boolean
  /** Whether one of them may have given it back, which takes what the other one was charged, too. */
  mayBeGivenBack: boolean
}

export interface RunRecord {
  readonly counts: Map<string, number>
  /** Not true, with the message. */
  readonly untrue: string[]
  /** Units of messages that were sent past the limits of their user, as debts. */
  readonly debts: Map<number, number>
  /** By name. */
  readonly killed: Map<string, Killed>
  readonly shared: Map<string, Shared>
  readonly countsOfSenders: Map<string, SenderCounts>
  count(what: string): void
  /** Of the senders of one kind. */
  countsOf(kind: string): SenderCounts
  addDebt(message: Message): void
  addKilled(message: Killed): void
}

export function createRunRecord(): RunRecord {
  const counts = new Map<string, number>()
  const debts = new Map<number, number>()
  const killed = new Map<string, Killed>()
  const countsOfSenders = new Map<string, SenderCounts>()
  const addDebt = ({ userId, units }: Message) => void debts.set(userId, (debts.get(userId) ?? 0) + units)
  return {
    counts,
    untrue: [],
    debts,
    killed,
    shared: new Map(),
    countsOfSenders,
    count: what => void counts.set(what, (counts.get(what) ?? 0) + 1),
    countsOf(kind) {
      const known = countsOfSenders.get(kind)
      if (known !== undefined) return known
      const made = { messages: 0, calls: 0, kills: 0, 'under way at a kill': 0, 'not known if sent': 0 }
      countsOfSenders.set(kind, made)
      return made
    },
    addDebt,
    addKilled(message) {
      if (killed.has(nameOf(message))) return
      killed.set(nameOf(message), message)
      if (message.mayBeDebt) addDebt(message)
    },
  }
}
