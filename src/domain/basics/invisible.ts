/** Characters that no reader sees. The patterns have the flag `g`, for `replaceAll`. */

/** Of format (marks of direction, zero width, soft hyphens), breaks of lines and paragraphs, and what fonts leave out (fillers, variation selectors). */
export const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** These, and control characters. */
export const INVISIBLE = new RegExp(`${UNSEEN.source}|\\p{Cc}`, 'gu')

/** The first invisible character of a text and its place, counted in characters from 1: `U+200B at position 4`. */
export function invisibleIn(text: string): string | undefined {
  const at = text.search(INVISIBLE)
  if (at < 0) return undefined
  const code = (text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `U+${code} at position ${[...text.slice(0, at)].length + 1}`
}

/** JSON with the same value, in which characters that no reader sees are escaped. */
export const withoutUnseen = (json: string): string =>
  json.replaceAll(UNSEEN, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
