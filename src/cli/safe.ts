/** Texts of others, such as names, answers and files, on a terminal: it would obey some of their characters. */

/** Control characters, and those that turn the direction of text: they would change what surrounds them. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gv
const UNSAFE_IN_LINES = /[[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]--\n]/gv

/** Text that is safe to show in a line: what a terminal would obey is replaced. */
export const safe = (text: string): string => text.replace(UNSAFE, '\ufffd')

/** Text of several lines that is safe to show. */
export const safeLines = (text: string): string => text.replace(UNSAFE_IN_LINES, '\ufffd')

/** JSON with the same value, in which these characters are escaped. */
export const safeJson = (json: string): string =>
  json.replace(UNSAFE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
