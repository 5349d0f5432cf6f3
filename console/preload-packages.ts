import type { Plugin } from 'vite'

/** The page loads the packages at once, before its script has chosen the language of the files that import them. */
export function preloadPackages(): Plugin {
  return {
    name: 'preload-packages',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.values(bundle)
          .filter(file => file.type === 'chunk' && file.name === 'packages')
          .map(({ fileName }) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/console/${fileName}` },
            injectTo: 'head',
          })),
    },
  }
}
