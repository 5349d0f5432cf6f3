/** What receivers answer, as administrators read it: a little text, without controls, and without what is secret of the address. */
import { UNSEEN } from '../domain/basics/invisible.ts'
import { cut } from '../messages/message.ts'

/** Of an answer that is kept with its delivery. */
const MAX_ANSWER = 500

/** Names in paths are shorter, and tokens longer. */
const MIN_SECRET = 16

/** The text of an answer; null if there is none. @param secrets what it does not repeat */
export function answerText(text: string, secrets: readonly string[]): string | null {
  const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
  const shown = hidden
    .replaceAll(UNSEEN, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return shown === '' ? null : cut(shown.toWellFormed(), MAX_ANSWER)
}

/** What is long enough to be a secret in a URL: receivers write the address that was asked for into their errors. */
export function secretsOf({ username, password, pathname, searchParams }: URL): string[] {
  const parts = [username, password, ...pathname.split('/'), ...searchParams.values()].filter(
    (part, place) => part.length >= (place < 2 ? 1 : MIN_SECRET),
  )
  return parts.flatMap(part => [part, decoded(part), encodeURIComponent(part)])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
