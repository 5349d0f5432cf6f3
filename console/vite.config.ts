import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { languageOf, languages } from './languages.ts'
import { mantineStyles } from './mantine-styles.ts'
import { precompress } from './precompress.ts'
import { preloadPackages } from './preload-packages.ts'

const SERVICE = 'http://127.0.0.1:8080'

/** What every page is made of, in any language: packages with what these import, and the icon. */
const OF_EVERY_PAGE =
  /\.svg$|\/node_modules\/(?:@tanstack|wouter|get-nonce|@mantine\/hooks\/esm\/(?:utils\/use-callback-ref|use-(?:disclosure|id|merged-ref|uncontrolled))|@mantine\/core\/esm\/(?:core\/MantineProvider|components\/(?:Anchor|Burger|Button|Code|Group|Loader|Skeleton|Stack|Text|Title|UnstyledButton|VisuallyHidden)))\//

/** What forms and dialogs share: a list has none until a row is changed. */
const OF_FORMS = /\/src\/(?:components\/(?:dialog|form|form-errors)|model\/typed)\.tsx?/

/** What forms, dialogs and pages of quotas, plans and users are made of, and the list of quotas is not: more of them share it than share the rest. */
const OF_QUOTA_FORMS =
  /\/src\/(?:components\/text-field\.|texts\/\w+\/quota(?:-dialogs|-description)?\.|model\/quota-form\.|pages\/quota\/(?:settings|quota-description)\.|domain\/anchor\.|queries\/user\.)/

/** A file for each language. */
const perLanguage = (name: string) => (id: string) => {
  const language = languageOf(id)
  return language === null ? null : `${name}-${language}`
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [languages(), react(), mantineStyles(), preloadPackages(), precompress()],
  // The service replaces it with a new nonce in each response (src/http/console/routes.ts).
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'es2023',
    // The first versions with light-dark(); the fallback for older ones would ignore the color scheme switch.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    manifest: true,
    // The content security policy forbids inline scripts, and separate files are cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // By default, each part of a package that several pages share is a file: some 30 more requests for the first page.
          groups: [
            { name: 'react', test: /node_modules|preload-helper/, tags: ['$initial'], priority: 4 },
            { name: 'packages', test: OF_EVERY_PAGE, priority: 3 },
            { name: 'inputs', test: /node_modules/, minShareCount: 39, priority: 2 },
            { name: perLanguage('root'), test: /\/src\/root\.tsx/, priority: 1 },
            { name: perLanguage('forms'), test: OF_FORMS, priority: 1 },
            { name: perLanguage('shared'), test: id => !OF_QUOTA_FORMS.test(id), minShareCount: 15 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/api': SERVICE, '/console/config.json': SERVICE },
  },
})
