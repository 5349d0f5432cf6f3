/** Writes debts to the journal, and holds those of which it is open whether the message leaves. */
import type { ReserveReq } from '../../../../client/src/api.ts'
import type { DebtSettler } from '../../../../client/src/debts.ts'
import { type Debt, type Journal, UnavailableError } from '../../../../client/src/main.ts'
import { toCamel } from '../../../../client/src/names.ts'
import type { Later } from '../../../../client/src/timers.ts'
import { type MessageName, messageKey } from '../../../../client/src/user.ts'
import type { SenderRequest } from '../../../contract/sender.ts'
import { DEFAULT_TTL_SECONDS } from '../../../domain/basics/bounds.ts'
import { Problem } from '../../../errors.ts'
import { messageNameOf } from './message-name.ts'

/** Both reject with a Problem, or with the `UnavailableError` of a full journal. */
export interface HeldDebts {
  /**
   * Holds the debt of a message until it ends, at the latest after `ttl_seconds`: then its outcome is unknown.
   * Resolves when it is on disk, to when that is, in milliseconds since 1970. Holding it again changes nothing.
   */
  hold(request: SenderRequest): Promise<number>
  has(message: MessageName): boolean
  /** Resolves when the outcome is on disk. A debt that is not held is written first. `sent` is never taken back. */
  end(request: SenderRequest, outcome: Debt['outcome']): Promise<void>
  /** On the disk, what is held is unknown. @returns how much that is */
  abandon(): number
}

interface Held {
  readonly expiresAt: number
  /** Resolves when it is on disk. */
  readonly end: ReturnType<Journal['begin']>
  readonly cancelExpiry: () => void
}

interface HeldDebtsParts {
  readonly journal: Journal
  readonly debtSettler: DebtSettler
  readonly log: (line: string) => void
  readonly later: Later
}

export function createHeldDebts({ journal, debtSettler, log, later }: HeldDebtsParts): HeldDebts {
  const held = new Map<string, Held>()

  async function begin(request: SenderRequest): ReturnType<Journal['begin']> {
    try {
      return await journal.begin(debtRequestOf(request))
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      log(`the journal cannot be written: ${error instanceof Error ? error.message : error}`)
      throw new Problem('unavailable', 'The service gives no answer, and the journal of the agent cannot be written.')
    }
  }

  /** Forgets a debt that is held. */
  function take(request: SenderRequest): Held | undefined {
    const key = keyOf(request)
    const known = held.get(key)
    known?.cancelExpiry()
    held.delete(key)
    return known
  }

  async function end(request: SenderRequest, outcome: Debt['outcome']): Promise<void> {
    const ended = await (take(request)?.end ?? begin(request))
    await ended(outcome)
    debtSettler.wake()
  }

  function holdNew(request: SenderRequest): Held {
    const ms = (request.ttl_seconds ?? DEFAULT_TTL_SECONDS) * 1_000
    const expire = () => void end(request, 'unknown').catch(() => {})
    return { expiresAt: Date.now() + ms, end: begin(request), cancelExpiry: later(ms, expire) }
  }

  return {
    has: message => held.has(messageKey(message)),
    end,
    async hold(request) {
      const key = keyOf(request)
      const known = held.get(key) ?? holdNew(request)
      held.set(key, known)
      try {
        await known.end
      } catch (error) {
        if (held.get(key) === known) take(request)
        throw error
      }
      return known.expiresAt
    },
    abandon() {
      for (const { cancelExpiry } of held.values()) cancelExpiry()
      return held.size
    },
  }
}

const keyOf = (request: SenderRequest): string => messageKey(messageNameOf(request))

/** As the journal keeps it. `force` is no field of a reserve, and the booking forces in any case. */
function debtRequestOf({ force, explain, ...content }: SenderRequest): ReserveReq {
  return toCamel(content) as ReserveReq
}
