import { locale } from '../texts/language.ts'

export interface Option {
  value: string
  label: string
}

/** The options that a text finds. Enter takes the first: “de” means Germany, not Bangladesh, and “guinea” not Equatorial Guinea. */
export function matchingOptions(options: readonly Option[], text: string): Option[] {
  const typed = text.trim().toLocaleLowerCase(locale)
  const rankOf = ({ value, label }: Option) => {
    const shown = label.toLocaleLowerCase(locale)
    if (value.toLocaleLowerCase(locale) === typed) return 0
    if (shown.startsWith(typed)) return 1
    if (shown.split(/[\s(),]+/).includes(typed)) return 2
    return shown.includes(typed) ? 3 : null
  }
  return [0, 1, 2, 3].flatMap(rank => options.filter(option => rankOf(option) === rank))
}
