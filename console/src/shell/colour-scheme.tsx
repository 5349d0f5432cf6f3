import { type MantineColorScheme, NativeSelect, useMantineColorScheme } from '@mantine/core'

const SCHEMES: { value: MantineColorScheme; label: string }[] = [
  { value: 'auto', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** Light, dark, or as the system is. Kept in this browser. */
export function ColourScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <NativeSelect
      aria-label="Colours"
      size="xs"
      data={SCHEMES}
      value={colorScheme}
      onChange={event => setColorScheme(event.currentTarget.value as MantineColorScheme)}
    />
  )
}
