import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { ERRORS, type ErrorCode } from '../../errors.ts'
import { operation, problems } from '../platform/openapi.ts'

/** The API's documentation: `/openapi.json`, `/docs` to browse it, `/docs/errors` for the `type` of errors. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const errorPage = renderErrorPage()

  app.get(
    '/openapi.json',
    {
      schema: {
        ...operation('Operations', 'openapi', 'This document'),
        security: [],
        response: { 200: Type.Object({}, { additionalProperties: true }), ...problems(['internal']) },
      },
    },
    async () => app.swagger(),
  )
  app.get('/docs/errors', { schema: { hide: true } }, async (_request, reply) => {
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    return reply.type('text/html; charset=utf-8').send(errorPage)
  })
  // The page loads and runs only files of this service.
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { layout: 'BaseLayout', deepLinking: true, displayOperationId: true, tryItOutEnabled: true },
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
  })
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
