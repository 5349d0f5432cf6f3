/** What people call the characters that most often make a message cost more than they thought. */
const NAMES: Record<string, string> = {
  '‘': 'left single quotation mark',
  '’': 'right single quotation mark',
  '“': 'left double quotation mark',
  '”': 'right double quotation mark',
  '„': 'low double quotation mark',
  '«': 'left angle quotation mark',
  '»': 'right angle quotation mark',
  '´': 'acute accent',
  '`': 'grave accent',
  '–': 'en dash',
  '—': 'em dash',
  '…': 'ellipsis',
  '•': 'bullet',
  '·': 'middle dot',
  '™': 'trade mark sign',
  '©': 'copyright sign',
  '®': 'registered sign',
  '°': 'degree sign',
  '½': 'one half',
  '\t': 'tab',
  '\u00a0': 'no-break space',
  '\u202f': 'narrow no-break space',
  '\u200b': 'zero width space',
  '\u200d': 'zero width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u202e': 'right-to-left override',
  '\ufeff': 'byte order mark',
}

/** What the others are, by the first that fits. */
const KINDS: readonly [RegExp, string][] = [
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u, 'emoji'],
  [/^\p{Cc}/u, 'control character'],
  [/^\p{Cf}/u, 'invisible character'],
  [/^\p{Z}/u, 'space'],
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
  [/^\p{L}/u, 'letter'],
  [/^\p{N}/u, 'digit'],
  [/^\p{M}/u, 'accent'],
  [/^\p{P}/u, 'punctuation mark'],
  [/^\p{S}/u, 'sign'],
]

/** What a character is called, or at least what it is. */
export function nameOf(character: string): string {
  return NAMES[character] ?? KINDS.find(([pattern]) => pattern.test(character))?.[1] ?? 'character'
}

/** U+2019, or several of them, for some characters are made of more than one. */
export function codePointsOf(character: string): string {
  return Array.from(
    character,
    part => `U+${(part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  ).join(' ')
}

/** The character as it can be seen: what shows nothing is shown by its name. */
export function isVisible(character: string): boolean {
  return !/^[\p{C}\p{Z}]+$/u.test(character)
}
