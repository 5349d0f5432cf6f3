import type { Queryable } from '../../db/connection/database.ts'
import { hasValueKey } from '../../db/webhooks/value-key.ts'
import type { CountedValue } from '../../domain/quotas/quota-settings.ts'
import type { ValidationIssue } from '../../errors.ts'

/** What a quota that is asked for is to count each by itself. */
interface Asked {
  readonly per?: CountedValue | null
}

const SECRET: ReadonlySet<unknown> = new Set<CountedValue>(['recipient', 'tag'])
const NONE: ReadonlySet<unknown> = new Set()

/**
 * The values that no cap can count, of those that are asked for: without a key that hashes them, a recipient or a tag would be stored
 * readably. A country is no secret, and needs none.
 */
export async function findUncountable(db: Queryable, asked: readonly Asked[]): Promise<ReadonlySet<unknown>> {
  const needsKey = asked.some(({ per }) => SECRET.has(per))
  return needsKey && !(await hasValueKey(db)) ? SECRET : NONE
}

/** @param path of the quota */
export function uncountableIssues(uncountable: ReadonlySet<unknown>, { per }: Asked, path = ''): ValidationIssue[] {
  if (!uncountable.has(per)) return []
  const message = `can be ${per} only if the service has a SECRETS_KEY: it stores no ${per} readably; country needs none`
  return [{ path: `${path}/per`, message }]
}
