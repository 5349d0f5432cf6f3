import { messageCheck as german } from './de/message-check.tsx'
import { messageCheck as english } from './en/message-check.tsx'
import { language } from './language.ts'

/** The texts of “Would this message go?”. They come with it, in both languages. */
export const checkTexts = { en: english, de: german }[language]
