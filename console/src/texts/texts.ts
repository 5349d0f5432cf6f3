/**
 * Every text of the console in the language of the page, by the part of the console that shows it: here in English, and in
 * another language where the console is built for it (console/languages.ts). A text with a value in it is a function,
 * because languages differ in word order and plural.
 */
export * as texts from './parts.ts'
