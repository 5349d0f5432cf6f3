import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The output folder of `npm run console`. */
export const DIST = resolve(import.meta.dirname, '../console/dist')

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** The start pages, each with the modules that its route loads. */
export const START_PAGES: Readonly<Record<string, readonly string[]>> = {
  overview: ['src/pages/overview/overview.tsx'],
  quotas: ['src/pages/quotas/quotas.tsx'],
  'my quotas': ['src/pages/my-quotas/my-quotas-page.tsx', 'src/pages/my-quotas/overview.tsx'],
}

interface Chunk {
  file: string
  name?: string
  css?: string[]
  /** Keys of the manifest: the chunks that it imports. */
  imports?: string[]
}

/**
 * The files that a page needs before it can be shown.
 *
 * @param modules those that its route loads
 */
export async function filesOfPage(modules: readonly string[], language: Language): Promise<string[]> {
  const manifest: Record<string, Chunk> = JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8'))
  const root = Object.keys(manifest).find(key => manifest[key]?.name === `root-${language}` && key.endsWith('.js'))
  const keys = ['index.html', root ?? 'root', ...modules.map(module => `${module}?language=${language}`)]
  return [...new Set(['index.html', ...keys.flatMap(filesOf)])]

  function filesOf(key: string): string[] {
    const chunk = manifest[key]
    if (chunk === undefined) throw new Error(`the build has no ${key}: run npm run console`)
    return [chunk.file, ...(chunk.css ?? []), ...(chunk.imports ?? []).flatMap(filesOf)]
  }
}
