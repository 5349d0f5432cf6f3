import { join } from 'node:path'
import type { Plugin } from 'vite'

const TEXTS = join(import.meta.dirname, 'src/texts/')
const QUERY = /\?language=(\w+)$/
/** The modules of the project, of which each language has its own. */
const OWN = /^(?!.*\/node_modules\/).*\.(?:tsx?|css)$/

/**
 * Makes the console once for each language, so that a page loads the texts of one: `root.tsx?language=de` is `root.tsx` with
 * texts/de/ in place of texts/en/, and so is everything of the project that it imports, at once or later. Packages are the
 * same for all.
 */
export function languages(): Plugin {
  return {
    name: 'languages',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      const [query, language] = QUERY.exec(source) ?? QUERY.exec(importer ?? '') ?? []
      if (query === undefined || language === undefined) return null
      const module = await this.resolve(source.replace(query, ''), importer?.replace(query, ''), options)
      if (module === null || !OWN.test(module.id)) return module
      return { ...module, id: module.id.replace(`${TEXTS}en/`, `${TEXTS}${language}/`) + query }
    },
    transform: {
      filter: { id: /\/src\/texts\// },
      // A file gets those parts of the texts that it uses.
      handler: code => ({ code, map: null, moduleSideEffects: false }),
    },
  }
}

/** The language of a module of the project, in the output. */
export function languageOf(id: string): string | null {
  return QUERY.exec(id)?.[1] ?? null
}
