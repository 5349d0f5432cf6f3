import type { Plugin } from 'vite'

const ALL = '@mantine/core/styles.layer.css'
const BASE = ['baseline', 'default-css-variables', 'global']
const VARIABLES = /default-css-variables\.layer\.css$/
/** Variables of the colors that neither the console nor a component that it uses takes. */
const UNUSED = /--mantine-color-(?:cyan|grape|green|lime|orange|pink|violet|yellow)-[^;]+;/g

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
      if (VARIABLES.test(id)) return { code: code.replace(UNUSED, ''), map: null }
      const [, component] = /\/@mantine\/core\/esm\/.+\/(\w+)\.module\.mjs$/.exec(id) ?? []
      return component === undefined ? null : { code: `${importOf(component)}\n${code}`, map: null }
    },
  }
}

const importOf = (name: string) => `import '@mantine/core/styles/${name}.layer.css'`
