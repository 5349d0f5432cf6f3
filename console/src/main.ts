import '@mantine/core/styles.layer.css'
import './shell/base.css'
// The same for every language, so it is loaded beside this file, and not after it.
import 'react-dom/client'
import { type Language, language } from './texts/language.ts'

/** The console in each language, as console/languages.ts makes it. A page loads one of them. */
const CONSOLES: Readonly<Record<Language, () => Promise<unknown>>> = {
  en: () => import('./root.tsx?language=en'),
  de: () => import('./root.tsx?language=de'),
}

document.documentElement.lang = language
void CONSOLES[language]()
