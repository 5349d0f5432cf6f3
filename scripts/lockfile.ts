/** What package-lock.json says of the packages that an installation without development tools has. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** A package that is installed in one place. */
export interface LockedPackage {
  name: string
  version: string
  /** An SPDX expression; undefined if the package names none. */
  license: string | undefined
  /** Subresource integrity: `sha512-` and a base64 digest. */
  integrity: string | undefined
  /** Packages of another platform are not installed. */
  isOptional: boolean
  /** The installed packages that it depends on. */
  dependsOn: LockedPackage[]
}

/** An entry of the lockfile's `packages`, whose keys are paths such as `node_modules/a/node_modules/b`. */
interface Entry {
  name?: string
  version?: string
  license?: string
  integrity?: string
  dev?: boolean
  optional?: boolean
  link?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const FOLDER = 'node_modules/'

/** All packages of production, the console's among them, and what the project itself depends on. */
export function readLockfile(): { packages: LockedPackage[]; direct: LockedPackage[] } {
  const path = resolve(import.meta.dirname, '../package-lock.json')
  const entries: Record<string, Entry> = JSON.parse(readFileSync(path, 'utf8')).packages
  const byPath = new Map<string, LockedPackage>()
  for (const [place, entry] of Object.entries(entries)) {
    if (!place.includes(FOLDER) || entry.dev || entry.link) continue
    byPath.set(place, {
      name: entry.name ?? place.slice(place.lastIndexOf(FOLDER) + FOLDER.length),
      version: entry.version ?? '',
      license: entry.license,
      integrity: entry.integrity,
      isOptional: entry.optional === true,
      dependsOn: [],
    })
  }
  const dependenciesOf = (place: string) => {
    const { dependencies, optionalDependencies, peerDependencies } = entries[place] ?? {}
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    return names.flatMap(name => find(byPath, place, name) ?? [])
  }
  for (const [place, found] of byPath) found.dependsOn = dependenciesOf(place)
  return { packages: [...byPath.values()], direct: [...dependenciesOf(''), ...dependenciesOf('console')] }
}

/** The package that `name` means in a folder: that of the innermost node_modules around it, as Node.js looks it up. */
function find(byPath: Map<string, LockedPackage>, folder: string, name: string): LockedPackage | undefined {
  const found = byPath.get(folder === '' ? `${FOLDER}${name}` : `${folder}/${FOLDER}${name}`)
  if (found !== undefined || folder === '') return found
  const outer = folder.lastIndexOf(`/${FOLDER}`)
  return find(byPath, outer === -1 ? '' : folder.slice(0, outer), name)
}
