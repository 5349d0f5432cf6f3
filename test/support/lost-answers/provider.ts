import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { UnknownIfSent } from '../../../client/src/main.ts'
import type { Random } from '../fuzz/random.ts'
import { serve } from '../listening.ts'
import { type Message, NotTaken, nameOf, type Taken } from './message.ts'

/** A send of a message, an earlier send of which has not failed. */
interface Again {
  readonly name: string
  readonly by: string
}

export interface Provider {
  readonly taken: readonly Taken[]
  readonly again: readonly Again[]
  /** Messages whose sender was answered that it is not known whether they were sent, whether or not they were taken. */
  readonly unknown: ReadonlySet<string>
  /** Messages a send of which has failed. */
  readonly failed: ReadonlySet<string>
  /**
   * Sends a message, or fails.
   *
   * @param mayBeUnknown whether it may answer that it cannot tell
   * @throws Error if it was not taken, and UnknownIfSent
   */
  send(message: Message, by: string, random: Random, mayBeUnknown?: boolean): Promise<'sent'>
  has(message: Pick<Message, 'userId' | 'id'>): boolean
  /** Whether a send has begun, and has not failed. */
  hasBegun(message: Pick<Message, 'userId' | 'id'>): boolean
  /** Counts an unknown message as taken: its sender says that it is charged. */
  assume(message: Message, by: string): void
  /** Takes a message for unknown: its sender was answered so, and has sent nothing. */
  doubt(message: Message): void
}

export function createProvider(): Provider {
  const taken: Taken[] = []
  const again: Again[] = []
  const names = new Set<string>()
  const unknown = new Set<string>()
  const failed = new Set<string>()
  /** Sends that have not failed. */
  const begun = new Map<string, number>()
  const take = ({ userId, id, units }: Message, by: string) => {
    taken.push({ userId, id, units, by })
    names.add(nameOf({ userId, id }))
  }
  return {
    taken,
    again,
    unknown,
    failed,
    has: message => names.has(nameOf(message)),
    hasBegun: message => (begun.get(nameOf(message)) ?? 0) > 0,
    doubt: message => void unknown.add(nameOf(message)),
    assume(message, by) {
      unknown.delete(nameOf(message))
      if (!names.has(nameOf(message))) take(message, by)
    },
    async send(message, by, random, mayBeUnknown = true) {
      const name = nameOf(message)
      const earlier = begun.get(name) ?? 0
      if (earlier > 0) again.push({ name, by })
      begun.set(name, earlier + 1)
      await pause(random.integer(20))
      const luck = random.integer(100)
      if (luck < 8) {
        begun.set(name, (begun.get(name) ?? 0) - 1)
        failed.add(name)
        throw new NotTaken('the provider did not take it')
      }
      if (!mayBeUnknown || luck >= 12) {
        take(message, by)
        return 'sent'
      }
      unknown.add(name)
      if (random.percent(50)) take(message, by)
      throw new UnknownIfSent()
    },
  }
}

/** The provider for senders of other processes. It answers `sent`, `failed` or `unknown`. @returns its URL */
export async function serveProvider(provider: Provider, random: Random): Promise<string> {
  return serve(async (request, response) => {
    const { by, ...message } = (await json(request)) as Taken
    const outcome = await provider.send(message, by, random).catch(error => {
      if (error instanceof UnknownIfSent) return 'unknown'
      if (error instanceof NotTaken) return 'failed'
      throw error
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(outcome))
  })
}
