import type { ConsoleConfig } from '../../../src/contract/console.ts'
import { setReachable } from '../api/reachability.ts'

const RETRY_MS = 2_000

let config: Promise<ConsoleConfig> | null = null

/** The sign-in options. Requested once; retries until the service responds. */
export function consoleConfig(): Promise<ConsoleConfig> {
  config ??= load()
  return config
}

async function load(): Promise<ConsoleConfig> {
  const response = await fetch('/console/config.json', { credentials: 'omit', cache: 'no-store' }).catch(() => null)
  setReachable(response?.ok === true)
  if (response?.ok) return response.json()
  await new Promise(resolve => setTimeout(resolve, RETRY_MS))
  return load()
}
