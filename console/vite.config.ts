import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { precompress } from './precompress.ts'

const SERVICE = 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), precompress()],
  // The service puts a fresh one in its place in each answer (src/http/routes/console.ts).
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'es2023',
    // The first that know light-dark(): written for older ones, it would not follow the switch in the header.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    manifest: true,
    // Its policy lets no script be written into the page, and a file of its own is kept by the browser.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/api': SERVICE, '/console/config.json': SERVICE },
  },
})
