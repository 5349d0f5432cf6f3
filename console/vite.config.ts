import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { mantineStyles } from './mantine-styles.ts'
import { precompress } from './precompress.ts'

const SERVICE = 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), mantineStyles(), precompress()],
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
          // A file for each part of a package that several pages share would be some 30 more requests for the first
          // page. The console's own modules stay out: in one file with packages that the entry imports, they would be
          // evaluated before the texts of the language are loaded.
          groups: [{ name: 'packages', test: /node_modules/, minShareCount: 8 }],
        },
      },
    },
  },
  server: {
    proxy: { '/api': SERVICE, '/console/config.json': SERVICE },
  },
})
