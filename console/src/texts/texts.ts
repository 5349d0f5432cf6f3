import { en, type Texts } from './en/en.ts'
import { language } from './language.ts'

/**
 * Every text of the console in the language of the page, by the part of the console that shows it. A text with a value
 * in it is a function, because languages differ in word order and plural. Loaded before any other file of the console
 * is evaluated, so module constants may use it.
 */
export let texts: Texts = en

/** English comes with the page; another language is a file of its own. */
export async function loadTexts(): Promise<void> {
  if (language === 'de') texts = (await import('./de/de.ts')).de
}
