import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { ConsoleConfig } from '../../contract/console.ts'
import { Problem } from '../../errors.ts'
import type { IdentityProvider } from '../auth/provider.ts'

/** Where `npm run console` builds it. */
const BUILT = resolve(import.meta.dirname, '../../../console/dist')

/** What the build leaves in the page where the nonce belongs (console/vite.config.ts). */
const NONCE = '__NONCE__'

/**
 * The console's files, for anybody: what they show is asked from the API, with a token. To be registered under the
 * prefix `/console`.
 *
 * @param options.provider whom people may sign in through
 * @param options.folder where it was built
 */
export async function consoleRoutes(
  app: FastifyInstance,
  { provider, folder = BUILT }: { provider: IdentityProvider | null; folder?: string },
): Promise<void> {
  const hidden = { schema: { hide: true } }

  app.get('', hidden, (_request, reply) => reply.redirect(`${app.prefix}/`))

  app.get('/config.json', hidden, async (): Promise<ConsoleConfig> => {
    if (provider === null) return { oidc: null }
    const { issuer, clientId, scope } = provider.config
    return { oidc: { issuer, client_id: clientId, scope } }
  })

  app.get('/provider.json', hidden, async () => {
    if (provider === null) throw new Problem('not_found', 'No identity provider is configured.')
    return provider.discover()
  })

  await app.register(
    async files => {
      // A folder, a range past the end: for whatever is asked wrongly there is no file.
      files.setErrorHandler((error: FastifyError) => {
        throw (error.statusCode ?? 500) < 500 ? new Problem('not_found', 'There is no such file.') : error
      })
      // Their names change with their content. Compressed once, at the build.
      await files.register(fastifyStatic, {
        root: join(folder, 'assets'),
        preCompressed: true,
        decorateReply: false,
        index: false,
        maxAge: '1y',
        immutable: true,
      })
    },
    { prefix: '/assets' },
  )

  // Here the provider's answer is exchanged for a token: the one page that talks to somebody else, and it shows nothing.
  app.get('/signed-in', hidden, async (_request, reply) => {
    const elsewhere = await provider?.discover().catch(() => null)
    return sendPage(reply, elsewhere ? [new URL(elsewhere.token_endpoint).origin] : [])
  })

  // Whatever is no file is a page, and the script in it knows which.
  app.get('/*', hidden, async (_request, reply) => sendPage(reply))

  async function sendPage(reply: FastifyReply, elsewhere: readonly string[] = []): Promise<FastifyReply> {
    // Read each time, so that one built meanwhile is served: it is small, and few ask.
    const page = await readFile(join(folder, 'index.html'), 'utf8').catch(error => {
      if (error.code !== 'ENOENT') throw error
    })
    reply.type('text/html; charset=utf-8')
    if (page === undefined) return reply.code(503).send(NOT_BUILT)
    const nonce = randomBytes(16).toString('base64')
    return reply.header('content-security-policy', policy(nonce, elsewhere)).send(page.replaceAll(NONCE, nonce))
  }
}

/**
 * Only files of this service run and are shown. Styles that the components make carry the nonce of this one answer.
 *
 * @param elsewhere origins that may be called beside this service
 */
function policy(nonce: string, elsewhere: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...elsewhere].join(' '),
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
<p>Run <code>npm run console</code> in the folder of the service, and load this page again.</p>
</body>
</html>
`
