/** How wide text is on a terminal. */

const graphemes = new Intl.Segmenter()

/** Emoji, and the characters of East Asia that take two columns. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{RGI_Emoji}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/v

/** The number of columns that text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1
  return width
}

/** The text, or as much of it as fits into this many columns, with an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 1
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment)
    if (width > columns) break
    kept += segment
  }
  return columns < 1 ? '' : `${kept}…`
}

/** The text, with spaces before or behind it. */
export function pad(text: string, columns: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return isRight ? space + text : text + space
}
