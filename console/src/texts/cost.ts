import { cost as german } from './de/cost.tsx'
import { cost as english } from './en/cost.tsx'
import { language } from './language.ts'

/** The texts of the page of costs and of what it shares. They come with these, in both languages. */
export const costTexts = { en: english, de: german }[language]
