import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ConsoleConfig } from '../../contract/console.ts'
import type { SegmentRules } from '../../domain/messages/segment-rules.ts'
import { Problem } from '../../errors.ts'
import type { IdentityProvider } from '../auth/provider.ts'
import { createFiles } from '../platform/documents.ts'

/** The output folder of `npm run console`. */
const BUILT = resolve(import.meta.dirname, '../../../console/dist')

/** The placeholder that the build leaves in the page for the nonce (console/vite.config.ts). */
const NONCE = '__NONCE__'

/**
 * The console's files, without a token: all data comes from the API, with the user's token. Register under the prefix
 * `/console`.
 *
 * @param options.provider the identity provider for signing in, if one is configured
 * @param options.segments how the service counts segments
 * @param options.contact who helps users
 * @param options.folder the folder that the console was built into
 */
export async function consoleRoutes(
  app: FastifyInstance,
  {
    provider,
    segments,
    contact,
    folder = BUILT,
  }: {
    provider: IdentityProvider | null
    segments: SegmentRules
    contact: ConsoleConfig['contact']
    folder?: string
  },
): Promise<void> {
  const hidden = { schema: { hide: true } }
  const readPage = createPageReader(join(folder, 'index.html'))

  app.get('', hidden, (_request, reply) => reply.redirect(`${app.prefix}/`))

  app.get('/config.json', hidden, async (): Promise<ConsoleConfig> => {
    if (provider === null) return { segments, contact, oidc: null }
    const { issuer, clientId, scope } = provider.config
    return { segments, contact, oidc: { issuer, client_id: clientId, scope } }
  })

  app.get('/provider.json', hidden, async () => {
    if (provider === null) throw new Problem('not_found', 'No identity provider is configured.')
    return provider.discover()
  })

  const sendFile = createFiles(join(folder, 'assets'))
  // File names change with their content.
  app.get('/assets/*', hidden, (request, reply) => sendFile(request, reply, 'public, max-age=31536000, immutable'))

  // Exchanges the provider's response for a token: the only page that calls another service. It shows no data.
  app.get('/signed-in', hidden, async (_request, reply) => {
    const discovery = await provider?.discover().catch(() => null)
    return sendPage(reply, discovery ? [new URL(discovery.token_endpoint).origin] : [])
  })

  // All other paths are pages; the script in the page chooses which.
  app.get('/*', hidden, async (_request, reply) => sendPage(reply))

  async function sendPage(reply: FastifyReply, origins: readonly string[] = []): Promise<FastifyReply> {
    const page = await readPage()
    reply.type('text/html; charset=utf-8')
    if (page === undefined) return reply.code(503).send(NOT_BUILT)
    const nonce = randomBytes(16).toString('base64')
    return reply.header('content-security-policy', policy(nonce, origins)).send(page.replaceAll(NONCE, nonce))
  }
}

/** How long a page is kept, in milliseconds: a new build is served within a second, and a flood reads the file once a second. */
const FRESH_MS = 1_000

/** Undefined: there is no such file. */
function createPageReader(path: string): () => Promise<string | undefined> {
  let page: Promise<string | undefined> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (page === undefined || performance.now() - readAt >= FRESH_MS) {
      readAt = performance.now()
      page = readFile(path, 'utf8').catch(error => {
        if (error.code !== 'ENOENT') throw error
        return undefined
      })
    }
    return page
  }
}

/**
 * The Content-Security-Policy of a page: it loads only files of this service. Styles that components create carry the
 * nonce of this response.
 *
 * @param origins other services that the page may call
 */
function policy(nonce: string, origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>sms-quota</title></head>
<body>
<h1>The console is not built</h1>
<p>Run <code>npm run console</code> in the folder of the service, then reload this page.</p>
</body>
</html>
`
