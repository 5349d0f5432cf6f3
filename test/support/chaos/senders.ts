/** Senders (64 by default): each settles its own messages, and sometimes repeats or reads those of others. */
import { setTimeout as pause } from 'node:timers/promises'
import { MAX_REPEAT_S } from './caller.ts'
import { createCommands } from './commands.ts'
import type { Deployment } from './deployment.ts'
import { createMessages, HOT_USER, USERS } from './messages.ts'
import type { Entry, RunRecord } from './record.ts'

export interface Senders {
  /** Sends one more message, of this user. */
  sendOneOf(user: number): Promise<void>
  /** Resolves when every call is answered. */
  stop(): Promise<void>
}

export function startSenders(deployment: Deployment, record: RunRecord, random: () => number, count = 64): Senders {
  const messages = createMessages(random)
  const commands = createCommands(deployment, record, random)
  const recent: Entry[] = []
  let isStopped = false
  const below = (bound: number) => Math.floor(random() * bound)
  const remember = (entry: Entry) => {
    recent[below(200)] = entry
  }

  async function sendMessage(entry: Entry, byTwins: boolean): Promise<void> {
    await (byTwins ? commands.askByTwins(entry) : commands.ask(entry, true))
    remember(entry)
    await settleInSteps(entry)
  }

  async function settleInSteps(entry: Entry): Promise<void> {
    for (let step = 0; step < 4 && entry.shown !== undefined; step++) {
      const { units, committed, released, refunded } = entry.shown
      const choice = random()
      if (choice < 0.25)
        await commands.settle(entry, 'commit', Math.min(units - released, committed + 1 + below(units)))
      else if (choice < 0.4) await commands.settle(entry, 'commit')
      else if (choice < 0.52) await commands.settle(entry, 'release', Math.min(units - committed, released + 1))
      else if (choice < 0.62) await commands.settle(entry, 'refund', Math.min(committed, refunded + 1))
      else if (choice < 0.66) await commands.settle(entry, 'release')
      else if (choice < 0.71) await commands.settleByTwins(entry)
      else if (choice < 0.77) await commands.find(entry, true)
      else if (choice < 0.82) await pause(below(1_500))
      else if (choice < 0.88) await commands.feedback(entry)
      else return
    }
  }

  /** Repeats the command of any sender's recent message, or reads its reservation. */
  async function visit(): Promise<void> {
    const entry = recent[below(recent.length)]
    if (entry === undefined) return
    // Retention may remove older reservations.
    if (entry.shown !== undefined && performance.now() - entry.shownAt > MAX_REPEAT_S * 1_000) return
    if (random() < 0.7) await commands.ask(entry, false)
    else await commands.find(entry, false)
  }

  /** Sends several new messages in one call. */
  async function sendBatch(): Promise<void> {
    const entries = Array.from({ length: 2 + below(6) }, () => messages.next())
    await commands.askTogether(entries)
    for (const entry of entries) remember(entry)
  }

  /** A user without quotas: everything is denied or not found, except what is forced. */
  async function sendOfUnknownUser(): Promise<void> {
    const entry = messages.ofUnknownUser(random() < 0.6)
    if (random() < 0.3) await commands.check(entry.user, entry.asked)
    if (random() < 0.3) await commands.find(entry, true)
    await (random() < 0.5 ? commands.askByTwins(entry) : commands.ask(entry, true))
    remember(entry)
    if (random() < 0.5) await commands.find(entry, true)
    if (entry.shown !== undefined && random() < 0.5) await commands.settle(entry, 'refund', 1)
  }

  async function sender(): Promise<void> {
    while (!isStopped) {
      const choice = random()
      if (choice < 0.65) await sendMessage(messages.next(), choice < 0.1)
      else if (choice < 0.85) await visit()
      else if (choice < 0.9) await commands.check(random() < 0.5 ? HOT_USER : below(USERS), 1 + below(6))
      else if (choice < 0.95) await sendOfUnknownUser()
      else await sendBatch()
    }
  }

  const senders = Promise.all(Array.from({ length: count }, sender))
  // `stop` rejects with the first error.
  senders.catch(() => {})
  return {
    sendOneOf: user => sendMessage(messages.next(user), false),
    async stop() {
      isStopped = true
      await senders
    },
  }
}
