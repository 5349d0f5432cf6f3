import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ERRORS, type ErrorCode } from '../../errors.ts'
import { createDocument, createFiles, type Document, madeOnce, sendDocument } from '../platform/documents.ts'
import { operation, problems } from '../platform/openapi.ts'

/** The files of the page that shows the API. */
const FILES = join(dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui'))), 'static')

type Send = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** The API's documentation: `/openapi.json`, `/docs` to browse it, `/docs/errors` for the `type` of errors. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const errorPage = madeOnce(() => createDocument('text/html; charset=utf-8', Buffer.from(renderErrorPage())))
  const api = madeOnce(() =>
    createDocument('application/json; charset=utf-8', Buffer.from(JSON.stringify(app.swagger()))),
  )
  // JSON is YAML, and it would take a second to write it in another way.
  const yaml = madeOnce(async () => ({ ...(await api()), type: 'application/yaml' }))

  app.get(
    '/openapi.json',
    {
      schema: {
        ...operation('Operations', 'openapi', 'This document'),
        security: [],
        response: {
          200: Type.Object({}, { additionalProperties: true }),
          304: Type.Null({ description: '`If-None-Match` names the document. The response has no body.' }),
          ...problems(['invalid_request', 'internal', 'rate_limited']),
        },
      },
    },
    send(api),
  )
  app.get('/docs/errors', { schema: { hide: true } }, async (request, reply) => {
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    return sendDocument(request, reply, await errorPage())
  })
  await app.register(async scope => {
    serveFromMemory(scope, { '/docs/json': send(api), '/docs/yaml': send(yaml), '/docs/static/*': createFiles(FILES) })
    // The page loads and runs only files of this service.
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      uiConfig: { layout: 'BaseLayout', deepLinking: true, displayOperationId: true, tryItOutEnabled: true },
      staticCSP:
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
    })
  })
}

/** The plugin writes the document anew, and reads its files, for each call. These routes of it answer with bytes instead. */
function serveFromMemory(app: FastifyInstance, handlers: Readonly<Record<string, Send>>): void {
  app.addHook('onRoute', route => {
    const handler = handlers[route.url]
    if (handler !== undefined) route.handler = handler
  })
}

function send(document: () => Promise<Document>): Send {
  return async (request, reply) => sendDocument(request, reply, await document())
}

function renderErrorPage(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, title, means }]) =>
    renderError(code as ErrorCode, status, title, means),
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>sms-quota: errors</title></head>
<body>
<h1>Errors</h1>
<p>Errors are problem details (RFC 9457). Programs use <code>code</code>; <code>detail</code> is for people.
A denial is not an error: it is a 200 with <code>granted: false</code>.</p>
<dl>
${rows.join('\n')}
</dl>
</body>
</html>
`
}

function renderError(code: ErrorCode, status: number, title: string, means: string): string {
  const marked = means.replaceAll(/`([^`]+)`/g, '<code>$1</code>')
  return `<dt id="${code}"><strong>${status} <code>${code}</code></strong> ${title}</dt>\n<dd>${marked}</dd>`
}
