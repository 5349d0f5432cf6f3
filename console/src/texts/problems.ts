import { texts } from './texts.ts'

/** A code of the service in the language of the page; undefined for one of a newer service. */
export function problemTexts(code: string): { title: string; text: string } | undefined {
  const known: Partial<Record<string, { title: string; text: string }>> = texts.components.errors.problems
  return known[code]
}
