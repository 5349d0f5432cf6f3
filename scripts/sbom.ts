/**
 * Writes a software bill of materials (CycloneDX 1.6, JSON) of the service and what it installs and ships:
 * `npm run sbom` prints it, `npm run sbom -- FILE` writes a file. The same lockfile gives the same bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type LockedPackage, readLockfile } from './lockfile.ts'

const own = JSON.parse(readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8'))

const purlOf = ({ name, version }: { name: string; version: string }) =>
  `pkg:npm/${name.replace(/^@/, '%40')}@${version.replaceAll('+', '%2B')}`

function licensesOf(license: string) {
  return [/ (?:AND|OR) /.test(license) ? { expression: license } : { license: { id: license } }]
}

function hashesOf(integrity: string) {
  const [algorithm, digest = ''] = integrity.split('-', 2)
  if (algorithm !== 'sha512') throw new Error(`package-lock.json: ${integrity} is not a SHA-512 digest`)
  return [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }]
}

function componentOf(found: LockedPackage) {
  return {
    type: 'library',
    'bom-ref': purlOf(found),
    name: found.name,
    version: found.version,
    scope: found.isOptional ? 'optional' : 'required',
    ...(found.integrity === undefined ? {} : { hashes: hashesOf(found.integrity) }),
    ...(found.license === undefined ? {} : { licenses: licensesOf(found.license) }),
    purl: purlOf(found),
  }
}

/** Two places can hold the same version: one component, whose dependencies are those of the first place. */
function uniqueBy<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const byKey = new Map<string, T>()
  for (const value of values) if (!byKey.has(keyOf(value))) byKey.set(keyOf(value), value)
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

const references = (packages: readonly LockedPackage[]) => [...new Set(packages.map(purlOf))].sort()

const { packages, direct } = readLockfile()
const unique = uniqueBy(packages, purlOf)
const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': purlOf(own),
      name: own.name,
      version: own.version,
      licenses: licensesOf(own.license),
      purl: purlOf(own),
    },
  },
  components: unique.map(componentOf),
  dependencies: [
    { ref: purlOf(own), dependsOn: references(direct) },
    ...unique.map(found => ({ ref: purlOf(found), dependsOn: references(found.dependsOn) })),
  ],
}

const text = `${JSON.stringify(bom, null, 2)}\n`
const [file] = process.argv.slice(2)
if (file === undefined) process.stdout.write(text)
else writeFileSync(file, text)
