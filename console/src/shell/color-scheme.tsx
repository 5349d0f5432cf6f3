import { type MantineColorScheme, NativeSelect, useMantineColorScheme } from '@mantine/core'

const SCHEMES: { value: MantineColorScheme; label: string }[] = [
  { value: 'auto', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** Light, dark, or as in the system settings. Stored in this browser. */
export function ColorScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <NativeSelect
      aria-label="Color scheme"
      size="xs"
      data={SCHEMES}
      value={colorScheme}
      onChange={event => setColorScheme(event.currentTarget.value as MantineColorScheme)}
    />
  )
}
