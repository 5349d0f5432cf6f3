import type { ConsoleConfig } from '../../../src/contract/console.ts'
import { setReachable } from '../api/reachability.ts'

const RETRY_MS = 2_000

let asked: Promise<ConsoleConfig> | null = null

/** How people sign in here. Asked once; waits as long as the service does not answer. */
export function consoleConfig(): Promise<ConsoleConfig> {
  asked ??= ask()
  return asked
}

async function ask(): Promise<ConsoleConfig> {
  const answer = await fetch('/console/config.json', { credentials: 'omit', cache: 'no-store' }).catch(() => null)
  setReachable(answer?.ok === true)
  if (answer?.ok) return answer.json()
  await new Promise(resolve => setTimeout(resolve, RETRY_MS))
  return ask()
}
