import { denials as german } from './de/denials.tsx'
import { denials as english } from './en/denials.tsx'
import { language } from './language.ts'

/** The texts of denials and of the life of messages, in both languages. They come with these pages: see `quota.ts`. */
export const denialTexts = { en: english, de: german }[language]
