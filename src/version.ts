import { readFileSync } from 'node:fs'

const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The version of this service, from package.json: three numbers, `1.20.3`. */
export const VERSION = manifest.version

/** The version of the time zone data that windows are counted with: the year and a letter, `2026c`. */
export const TIME_ZONES = process.versions.tz ?? 'unknown'
