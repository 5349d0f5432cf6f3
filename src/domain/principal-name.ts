/** Names of principals, which people read beside subjects. Nothing is decided by them. */
import { SERVICE_ACTOR } from './webhook.ts'

/** What has no width of its own or turns the direction of the text around it, and line separators. */
export const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu

/**
 * A name as it is shown: without direction marks, zero-width characters and blanks around it, so that no two names look alike and
 * no name rearranges the text beside it. Null if it has control characters, or not 1 to 100 characters.
 */
export function shownName(text: string): string | null {
  const shown = text.replaceAll(UNSEEN, '').trim()
  return /^\P{Cc}{1,100}$/u.test(shown) && shown.isWellFormed() ? shown : null
}

/** Whether a subject would look like the service itself where the audit names who changed something. */
export function isNameOfService(subject: string): boolean {
  return shownName(subject.normalize('NFKC'))?.toLowerCase() === SERVICE_ACTOR
}
