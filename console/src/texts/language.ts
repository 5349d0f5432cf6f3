/** The languages of the console, each with its own name. A language is a folder beside this file. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES
export const LANGUAGE_TAGS = Object.keys(LANGUAGES) as Language[]

const STORED = 'sms-quota.language'

/** The language of the page: what the user chose in this browser, else the browser's first one that the console has. */
export const language: Language = isInBrowser() ? (chosenLanguage() ?? browserLanguage()) : 'en'

/** The locale of numbers and dates: the user's variant of the page's language, such as `en-GB`. */
export const locale: string = isInBrowser() ? (variantInBrowser() ?? language) : 'en-GB'

/** Stores the choice in this browser and loads the page again in that language. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(STORED, chosen)
  location.reload()
}

/** False where Node.js runs parts of the console, in tests. */
function isInBrowser(): boolean {
  return typeof document !== 'undefined'
}

function chosenLanguage(): Language | undefined {
  return languageOf(localStorage.getItem(STORED) ?? '')
}

function browserLanguage(): Language {
  for (const tag of navigator.languages) {
    const known = languageOf(tag)
    if (known !== undefined) return known
  }
  return 'en'
}

function variantInBrowser(): string | undefined {
  return navigator.languages.filter(isVariantOf(language)).find(isValidTag)
}

/** False for what a browser makes of some settings of its system, such as `en-US@posix`. */
function isValidTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

/** @param tag such as `de-AT` */
function languageOf(tag: string): Language | undefined {
  return LANGUAGE_TAGS.find(one => isVariantOf(one)(tag))
}

function isVariantOf(one: Language): (tag: string) => boolean {
  return tag => tag === one || tag.startsWith(`${one}-`)
}
