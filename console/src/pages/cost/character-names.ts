/** Names of characters that often make a message cost more than expected. */
const NAMES: Record<string, string> = {
  '‘': 'Left single quotation mark',
  '’': 'Right single quotation mark',
  '“': 'Left double quotation mark',
  '”': 'Right double quotation mark',
  '„': 'Low double quotation mark',
  '«': 'Left angle quotation mark',
  '»': 'Right angle quotation mark',
  '´': 'Acute accent',
  '`': 'Grave accent',
  '–': 'En dash',
  '—': 'Em dash',
  '…': 'Ellipsis',
  '•': 'Bullet',
  '·': 'Middle dot',
  '™': 'Trade mark sign',
  '©': 'Copyright sign',
  '®': 'Registered sign',
  '°': 'Degree sign',
  '½': 'One half',
  '€': 'Euro sign',
  '[': 'Left square bracket',
  ']': 'Right square bracket',
  '{': 'Left curly bracket',
  '}': 'Right curly bracket',
  '\\': 'Backslash',
  '^': 'Circumflex',
  '~': 'Tilde',
  '|': 'Vertical bar',
  '\f': 'Form feed',
  '\t': 'Tab',
  '\u00a0': 'No-break space',
  '\u202f': 'Narrow no-break space',
  '\u200b': 'Zero width space',
  '\u200d': 'Zero width joiner',
  '\u200e': 'Left-to-right mark',
  '\u200f': 'Right-to-left mark',
  '\u202e': 'Right-to-left override',
  '\ufeff': 'Byte order mark',
}

/** Categories of other characters; the first match applies. */
const KINDS: readonly [RegExp, string][] = [
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u, 'Emoji'],
  [/^\p{Cc}/u, 'Control character'],
  [/^\p{Cf}/u, 'Invisible character'],
  [/^\p{Z}/u, 'Space'],
  [/^\p{Script=Latin}/u, 'Latin letter'],
  [/^\p{Script=Cyrillic}/u, 'Cyrillic letter'],
  [/^\p{Script=Greek}/u, 'Greek letter'],
  [/^\p{Script=Arabic}/u, 'Arabic letter'],
  [/^\p{Script=Hebrew}/u, 'Hebrew letter'],
  [/^\p{Script=Han}/u, 'Chinese character'],
  [/^\p{Script=Hiragana}|^\p{Script=Katakana}/u, 'Japanese letter'],
  [/^\p{Script=Hangul}/u, 'Korean letter'],
  [/^\p{Script=Thai}/u, 'Thai letter'],
  [/^\p{Script=Devanagari}/u, 'Devanagari letter'],
  [/^\p{L}/u, 'Letter'],
  [/^\p{N}/u, 'Digit'],
  [/^\p{M}/u, 'Accent'],
  [/^\p{P}/u, 'Punctuation mark'],
  [/^\p{S}/u, 'Sign'],
]

/** The name of a character, or its category. */
export function characterName(character: string): string {
  return NAMES[character] ?? KINDS.find(([pattern]) => pattern.test(character))?.[1] ?? 'Character'
}

/** A letter can have any number of combining accents. */
const MAX_CODE_POINTS = 8

/** "U+2019"; several code points for combined characters. */
export function codePointsOf(character: string): string {
  const parts = Array.from(character, part => part.codePointAt(0) ?? 0)
  const shown = parts.slice(0, MAX_CODE_POINTS).map(part => `U+${part.toString(16).toUpperCase().padStart(4, '0')}`)
  return [...shown, ...(parts.length > MAX_CODE_POINTS ? ['…'] : [])].join(' ')
}

/** Whether a character has a visible glyph. */
export function isVisible(character: string): boolean {
  return !/^[\p{C}\p{Z}]+$/u.test(character)
}
