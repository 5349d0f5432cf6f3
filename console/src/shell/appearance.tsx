import { type MantineColorScheme, NativeSelect, useMantineColorScheme } from '@mantine/core'
import { chooseLanguage, LANGUAGES, type Language, language } from '../texts/language.ts'
import { texts } from '../texts/texts.ts'

const SCHEMES: { value: MantineColorScheme; label: string }[] = [
  { value: 'auto', label: texts.shell.colorScheme.auto },
  { value: 'light', label: texts.shell.colorScheme.light },
  { value: 'dark', label: texts.shell.colorScheme.dark },
]

/** Light, dark, or as in the system settings. Stored in this browser. */
export function ColorScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <NativeSelect
      aria-label={texts.shell.colorScheme.label}
      size="xs"
      data={SCHEMES}
      value={colorScheme}
      onChange={event => setColorScheme(event.currentTarget.value as MantineColorScheme)}
    />
  )
}

const CHOICES = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))

/** The language of the page. Stored in this browser. */
export function LanguageChoice() {
  return (
    <NativeSelect
      aria-label={texts.shell.language}
      size="xs"
      data={CHOICES}
      value={language}
      onChange={event => chooseLanguage(event.currentTarget.value as Language)}
    />
  )
}
