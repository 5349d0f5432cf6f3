import type { Plugin } from 'vite'

const ALL = '@mantine/core/styles.layer.css'
const BASE = ['baseline', 'default-css-variables', 'global']

/**
 * The build has the styles of those Mantine components that it contains, in the chunks that use them, instead of the styles
 * of all components: the class names of a component are a module, and its styles are imported with it. The development
 * server keeps all styles.
 */
export function mantineStyles(): Plugin {
  return {
    name: 'mantine-styles',
    apply: 'build',
    enforce: 'pre',
    resolveId: id => (id === ALL ? '\0mantine-base' : null),
    load: id => (id === '\0mantine-base' ? BASE.map(importOf).join('\n') : null),
    transform(code, id) {
      const [, component] = /\/@mantine\/core\/esm\/.+\/(\w+)\.module\.mjs$/.exec(id) ?? []
      return component === undefined ? null : { code: `${importOf(component)}\n${code}`, map: null }
    },
  }
}

const importOf = (name: string) => `import '@mantine/core/styles/${name}.layer.css'`
