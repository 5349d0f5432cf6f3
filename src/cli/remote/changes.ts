/** Changes of fields in words: of a plan by a file, and of a quota by its history. */
import { isDeepEqual } from '../../domain/quotas/quota-settings.ts'
import { exceptionsText } from './countries.ts'

/** The fields that differ, each as `limit 100 → 200`. */
export function changesIn(before: object, after: object): string[] {
  const stored = new Map<string, unknown>(Object.entries(before))
  return Object.entries(after)
    .filter(([field, value]) => !isDeepEqual(stored.get(field), value))
    .map(([field, value]) => `${field} ${valueText(stored.get(field))} → ${valueText(value)}`)
}

export function valueText(value: unknown): string {
  const exceptions = Array.isArray(value) ? exceptionsText(value) : undefined
  return exceptions ?? (typeof value === 'string' ? value : JSON.stringify(value ?? null))
}
