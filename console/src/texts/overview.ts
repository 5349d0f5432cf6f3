import { overview as german } from './de/overview.tsx'
import { overview as english } from './en/overview.tsx'
import { language } from './language.ts'

/** The texts of the overview, in both languages. They come with it and not with every page: see `quota.ts`. */
export const overviewTexts = { en: english, de: german }[language]
