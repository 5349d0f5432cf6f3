/** Names of principals, which people read beside subjects. Nothing is decided by them. */
import { INVISIBLE, UNSEEN } from '../basics/invisible.ts'
import { SERVICE_ACTOR } from '../webhooks/webhook.ts'

/**
 * A name as it is shown: without direction marks, zero-width characters and blanks around it, so that no two names look alike and
 * no name rearranges the text beside it. Null if it has control characters, not 1 to 100 characters, or looks like the service's.
 */
export function shownName(text: string): string | null {
  const shown = text.replaceAll(UNSEEN, '').trim()
  return /^\P{Cc}{1,100}$/u.test(shown) && shown.isWellFormed() && !isNameOfService(shown) ? shown : null
}

/** Whether a text may be the subject of a token. */
export function isSubject(text: string): boolean {
  return text.search(INVISIBLE) < 0 && /^.{1,255}$/u.test(text) && text === text.trim() && text.isWellFormed()
}

/** What looks like a letter of the service's name, in lower case: of Cyrillic, Greek, Armenian and phonetic letters (unicode.org/reports/tr39). */
const LOOKALIKES: Readonly<Record<string, string>> = {
  ...{ ѕ: 's', ꜱ: 's', м: 'm', μ: 'm', ᴍ: 'm', ԛ: 'q', զ: 'q', գ: 'q', ս: 'u', υ: 'u', ᴜ: 'u', ʋ: 'u' },
  ...{ о: 'o', ο: 'o', օ: 'o', ᴏ: 'o', ס: 'o', 0: 'o', т: 't', τ: 't', ᴛ: 't', а: 'a', α: 'a', ɑ: 'a', ᴀ: 'a' },
}

/** Whether a subject or a name would look like the service itself where the audit names who changed something. */
export function isNameOfService(text: string): boolean {
  const plain = text.normalize('NFKD').replaceAll(UNSEEN, '').replaceAll(/\p{M}/gu, '').trim().toLowerCase()
  return (
    plain.replaceAll(/[\p{Dash}\u2043]/gu, '-').replaceAll(/\P{ASCII}|0/gu, one => LOOKALIKES[one] ?? one) ===
    SERVICE_ACTOR
  )
}
