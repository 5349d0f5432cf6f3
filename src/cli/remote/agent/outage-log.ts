/** Tells the operator when an outage of the service begins and ends, as the calls of senders meet it. */
import { QuotaError, UnavailableError } from '../../../../client/src/main.ts'

export interface OutageLog {
  /** Notes what a call of the service came to; null stands for an answer. */
  note(error: unknown): void
  /** Notes that a message was allowed as a debt. */
  noteDebt(): void
  isOutage(): boolean
}

interface Outage {
  readonly since: number
  debts: number
  failures: number
}

/** @param now a clock in milliseconds that never steps back */
export function createOutageLog(log: (line: string) => void, now: () => number): OutageLog {
  let outage: Outage | null = null

  function begin(reason: string): Outage {
    log(`the service gives no answer: ${reason}`)
    return { since: now(), debts: 0, failures: 0 }
  }

  function end({ since, debts, failures }: Outage): void {
    const seconds = Math.round((now() - since) / 1_000)
    log(
      `the service answers again after ${seconds} s: ${failures} calls got no answer of it, and ${debts} messages were allowed as debts`,
    )
  }

  return {
    note(error) {
      if (error instanceof UnavailableError && error.isOutage) {
        outage ??= begin(error.message)
        outage.failures += 1
      } else if (outage !== null && (error === null || error instanceof QuotaError)) {
        end(outage)
        outage = null
      }
    },
    noteDebt() {
      if (outage !== null) outage.debts += 1
    },
    isOutage: () => outage !== null,
  }
}
