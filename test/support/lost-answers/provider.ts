/** The provider of SMS: its list of what it took is the truth. And what the senders were told. */
import { setTimeout as pause } from 'node:timers/promises'
import { UnknownIfSent } from '../../../client/src/main.ts'
import type { Random } from '../fuzz/random.ts'

export interface Message {
  readonly userId: number
  readonly id: string
  readonly units: number
}

export interface Taken extends Message {
  /** The sender. */
  readonly by: string
}

export interface Provider {
  readonly taken: readonly Taken[]
  /** Messages whose sender was told that it is not known whether they were sent, whether or not they were taken. */
  readonly unknown: ReadonlySet<string>
  /**
   * Sends a message, or fails.
   *
   * @param mayBeUnknown whether it may answer that it cannot tell
   * @throws Error if it was not taken, and UnknownIfSent
   */
  send(message: Message, by: string, random: Random, mayBeUnknown?: boolean): Promise<'sent'>
  has(message: Pick<Message, 'userId' | 'id'>): boolean
  /** Counts an unknown message as taken: its sender says that it is charged. */
  assume(message: Message, by: string): void
  /** Takes a message for unknown: its sender was told so, and has sent nothing. */
  doubt(message: Message): void
}

/** Thrown by a send that failed. */
export class NotTaken extends Error {}

export const nameOf = ({ userId, id }: Pick<Message, 'userId' | 'id'>): string => `${userId} ${id}`

export function createProvider(): Provider {
  const taken: Taken[] = []
  const names = new Set<string>()
  const unknown = new Set<string>()
  const take = ({ userId, id, units }: Message, by: string) => {
    taken.push({ userId, id, units, by })
    names.add(nameOf({ userId, id }))
  }
  return {
    taken,
    unknown,
    has: message => names.has(nameOf(message)),
    doubt: message => void unknown.add(nameOf(message)),
    assume(message, by) {
      unknown.delete(nameOf(message))
      if (!names.has(nameOf(message))) take(message, by)
    },
    async send(message, by, random, mayBeUnknown = true) {
      await pause(random.integer(20))
      const luck = random.integer(100)
      if (luck < 8) throw new NotTaken('the provider did not take it')
      if (!mayBeUnknown || luck >= 12) {
        take(message, by)
        return 'sent'
      }
      unknown.add(nameOf(message))
      if (random.percent(50)) take(message, by)
      throw new UnknownIfSent()
    },
  }
}
