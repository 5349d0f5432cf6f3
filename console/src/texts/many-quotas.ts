import { manyQuotas as german } from './de/many-quotas.tsx'
import { manyQuotas as english } from './en/many-quotas.tsx'
import { language } from './language.ts'

/** The texts of changes of many quotas. They come with these, in both languages, and not with every page. */
export const manyTexts = { en: english, de: german }[language]
