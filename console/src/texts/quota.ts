import { quota as german } from './de/quota.tsx'
import { quota as english } from './en/quota.tsx'
import { language } from './language.ts'

/**
 * The texts of a quota's page, forms and dialogs. They are many, so they come with these and not with every page, and in
 * both languages: a further file to wait for would cost more time than the few kilobytes of the other language.
 */
export const quotaTexts = { en: english, de: german }[language]
