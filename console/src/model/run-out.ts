const SOON_MS = 15 * 60_000

/** Whether an estimated time is so near that people say "within minutes". */
export function isWithinMinutes(at: string, now: string): boolean {
  return Date.parse(at) - Date.parse(now) < SOON_MS
}
