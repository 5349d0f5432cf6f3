import { overviewParts as german } from './de/overview-parts.tsx'
import { overviewParts as english } from './en/overview-parts.tsx'
import { language } from './language.ts'

/** The texts of those parts of the overview that are loaded after its first screen, in both languages. */
export const overviewPartTexts = { en: english, de: german }[language]
