/** What became of the rows or quotas so far. */
export interface Progress {
  done: number
  counts: Readonly<Partial<Record<CountName, number>>>
  failed: number
  /** The failures that the service lists: the first 1,000 of each call. */
  failures: readonly Failure[]
}
export type CountName = 'created' | 'updated' | 'changed' | 'unchanged'

export interface Failure {
  /** For example "Line 3" or "Quota 12 of user 7". */
  place: string
  reason: string
  /** What differs among failures with the same reason, such as the name of a quota. */
  detail?: string
  /** What those have in common that are shown as one; without it, their reason. */
  kind?: { key: string; label: string }
  /** What failed: the place of the row, or the id of the quota. */
  subject?: string | number
}

/** The reason with its detail. */
export function whyOf({ reason, detail }: Failure): string {
  return detail === undefined ? reason : `${reason} ${detail}`
}

export const NOTHING_DONE: Progress = { done: 0, counts: {}, failed: 0, failures: [] }

export function sumOf(parts: readonly Progress[]): Progress {
  const counts: Partial<Record<CountName, number>> = {}
  for (const part of parts) {
    for (const [name, count] of Object.entries(part.counts)) {
      const known = name as CountName
      counts[known] = (counts[known] ?? 0) + count
    }
  }
  return {
    done: parts.reduce((sum, { done }) => sum + done, 0),
    counts,
    failed: parts.reduce((sum, { failed }) => sum + failed, 0),
    failures: parts.flatMap(({ failures }) => failures),
  }
}
