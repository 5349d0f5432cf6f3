import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { DEFAULT_SEGMENT_RULES } from '../../src/domain/messages/segment-rules.ts'
import { consoleRoutes } from '../../src/http/console/routes.ts'
import { PROJECT } from '../support/paths.ts'
import { startService } from '../support/service.ts'

const { app } = await startService()
const ASSETS = join(PROJECT, 'console/dist/assets')
const assets = await readdir(ASSETS)
const script = assets.find(name => /^packages-.*\.js$/.test(name)) ?? ''
const get = (url: string, headers = {}) => app.inject({ url, headers })

test('the address of the service and /console redirect to /console/', async () => {
  for (const path of ['/', '/console']) {
    const answer = await get(path)
    expect([answer.statusCode, answer.headers.location], path).toEqual([302, '/console/'])
  }
})

test('every path that is not a file serves the page, which is not cached', async () => {
  for (const path of ['', 'quotas', 'quotas/164?page=2', 'assets', 'users/7/', '%3Cscript%3E']) {
    const answer = await get(`/console/${path}`)
    expect(answer.statusCode, path).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.body).toContain('<div id="root">')
  }
})

test('the content security policy allows only this service, with a new nonce in each response', async () => {
  const nonces = await Promise.all(
    [1, 2].map(async () => {
      const { headers, body } = await get('/console/')
      const policy = String(headers['content-security-policy'])
      const [, nonce = ''] = /'nonce-([\w+/=]{22,})'/.exec(policy) ?? []
      expect(policy.replace(nonce, '…').split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'nonce-…'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ])
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      })
      expect(body).toContain(`<meta property="csp-nonce" nonce="${nonce}">`)
      expect(body).not.toContain('__NONCE__')
      expect(body).not.toMatch(/<script(?![^>]* src="\/console\/assets\/)|<style|https?:\/\//)
      return nonce
    }),
  )
  expect(new Set(nonces).size).toBe(2)
})

test('files are cached forever, because their names contain a hash', async () => {
  const { statusCode, headers } = await get(`/console/assets/${script}`)
  expect(statusCode).toBe(200)
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(headers['content-type']).toMatch(/^(text|application)\/javascript/)
})

test('each color that a style names has a value, also after the build has left out unused ones', async () => {
  const files = assets.filter(name => name.endsWith('.css'))
  const styles = (await Promise.all(files.map(name => readFile(join(ASSETS, name), 'utf8')))).join('\n')
  const allOf = (pattern: RegExp) => new Set([...styles.matchAll(pattern)].map(([, name]) => name))
  const named = allOf(/var\((--mantine-color-[\w-]+)\)/g)
  expect(named.size).toBeGreaterThan(50)
  expect(named.difference(allOf(/(--mantine-color-[\w-]+):/g))).toEqual(new Set())
})

test('files are compressed if the client accepts it', async () => {
  const original = await readFile(join(ASSETS, script))
  const brotli = await get(`/console/assets/${script}`, { 'accept-encoding': 'gzip, br' })
  expect(brotli.headers).toMatchObject({ 'content-encoding': 'br', vary: expect.stringMatching(/accept-encoding/i) })
  expect(brotliDecompressSync(brotli.rawPayload).equals(original)).toBe(true)
  const gzip = await get(`/console/assets/${script}`, { 'accept-encoding': 'gzip' })
  expect(gzip.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzip.rawPayload).equals(original)).toBe(true)
  const plain = await get(`/console/assets/${script}`)
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.rawPayload.equals(original)).toBe(true)
})

test('a missing file is not found, nor is a file outside of the folder', async () => {
  await access(join(PROJECT, 'console/dist/.vite/manifest.json'))
  for (const path of ['nothing.js', '', '../.vite/manifest.json', '..%2f.vite%2fmanifest.json', '%2e%2e/index.html']) {
    const { statusCode, body } = await get(`/console/assets/${path}`)
    // A normalized path outside of the folder is a page.
    if (statusCode === 200) expect(body).toContain('<div id="root">')
    else expect({ path, statusCode }).toEqual({ path, statusCode: 404 })
  }
  expect((await get('/console/assets/nothing.js')).json()).toMatchObject({ status: 404, code: 'not_found' })
})

test('serves the sign-in options', async () => {
  expect((await get('/console/config.json')).json()).toEqual({
    oidc: null,
    segments: { split: 'graphemes', referenceBits: 8, shiftTables: [] },
    contact: { text: null, url: null },
  })
  expect((await get('/console/provider.json')).json()).toMatchObject({ status: 404, code: 'not_found' })
})

test('accepts only GET and HEAD', async () => {
  expect((await app.inject({ method: 'POST', url: '/console/' })).statusCode).toBe(405)
  expect((await app.inject({ method: 'HEAD', url: '/console/' })).statusCode).toBe(200)
})

test('without a build the page explains how to build it', async () => {
  const bare = Fastify()
  await bare.register(consoleRoutes, {
    prefix: '/console',
    provider: null,
    segments: DEFAULT_SEGMENT_RULES,
    contact: { text: null, url: null },
    folder: '/nowhere',
  })
  const answer = await bare.inject('/console/')
  expect(answer.statusCode).toBe(503)
  expect(answer.body).toContain('npm run console')
  await bare.close()
})
