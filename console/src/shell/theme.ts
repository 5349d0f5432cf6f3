import { type CSSVariablesResolver, createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  // Light enough to be calm, dark enough for white text on it (4.5 : 1).
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Open Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
})

/** Mantine's own greys and reds are too pale for text; these keep 4.5 : 1 on every surface of theirs. */
export const colours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1b1f24',
    '--mantine-color-dimmed': '#59626b',
    '--mantine-color-placeholder': '#6b747d',
    '--mantine-color-error': '#c02323',
    '--mantine-color-anchor': '#3b50d0',
    '--mantine-color-default-border': '#d5d9de',
    '--surface': '#f7f8f9',
    '--line': '#e4e7ea',
    '--used': '#4263eb',
    '--reserved': '#91a7ff',
    '--overage': '#d6336c',
    '--series-1': '#4263eb',
    '--series-2': '#0b7285',
    '--series-3': '#d9480f',
    '--series-4': '#862e9c',
    '--series-5': '#5c940d',
    '--series-6': '#868e96',
  },
  dark: {
    '--mantine-color-body': '#17191c',
    '--mantine-color-text': '#dfe2e6',
    '--mantine-color-dimmed': '#a3abb3',
    '--mantine-color-placeholder': '#8d959d',
    '--mantine-color-error': '#ff8f8f',
    '--mantine-color-anchor': '#9db0ff',
    '--mantine-color-default-border': '#3a3f45',
    '--surface': '#1d2024',
    '--line': '#2c3036',
    '--used': '#748ffc',
    '--reserved': '#3b4f9e',
    '--overage': '#f06595',
    '--series-1': '#748ffc',
    '--series-2': '#3bc9db',
    '--series-3': '#ffa94d',
    '--series-4': '#da77f2',
    '--series-5': '#a9e34b',
    '--series-6': '#868e96',
  },
})
