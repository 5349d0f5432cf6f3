import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { COMPONENTS } from '../../contract/components.ts'
import { ERRORS, type ErrorCode } from '../../errors.ts'

/** The version of the interface; grows by semantic versioning. The paths carry none. */
const INTERFACE_VERSION = '0.2.0'

/** Errors that every route with a token can answer. */
const ALWAYS: readonly ErrorCode[] = ['unauthenticated', 'internal', 'unavailable']

/**
 * The answers of a route for its schema: the successes as given, and every error it can answer by its code. Several
 * codes of one status share an entry.
 */
export function responses(successes: Record<number, TSchema>, errors: readonly ErrorCode[]): Record<number, unknown> {
  return { ...describeSuccesses(successes), ...problems([...ALWAYS, 'rate_limited', ...errors]) }
}

/** The same for a sender's route, where the queue bounds what is taken and no rate is limited. */
export function senderResponses(
  successes: Record<number, TSchema>,
  errors: readonly ErrorCode[],
): Record<number, unknown> {
  return {
    ...describeSuccesses(successes),
    ...problems([...ALWAYS, 'forbidden', 'invalid_request', 'overloaded', ...errors]),
  }
}

/** The errors of a route that needs no token. */
export function problems(codes: readonly ErrorCode[]): Record<number, unknown> {
  const byStatus = Map.groupBy(codes, code => ERRORS[code].status)
  return Object.fromEntries([...byStatus].map(([status, sharing]) => [status, problemAnswer(sharing)]))
}

function describeSuccesses(successes: Record<number, TSchema>): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(successes).map(([status, schema]) => [status, { description: 'Done.', ...schema }]),
  )
}

function problemAnswer(codes: readonly ErrorCode[]) {
  const examples = codes.map(code => [code, { summary: ERRORS[code].title, value: exampleOf(code) }])
  return {
    description: codes.map(code => `\`${code}\`: ${ERRORS[code].means}`).join('\n\n'),
    content: {
      'application/problem+json': { schema: { $ref: 'Problem#' }, examples: Object.fromEntries(examples) },
    },
  }
}

function exampleOf(code: ErrorCode) {
  const { status, title, means } = ERRORS[code]
  return { type: problemType(code), title, status, code, detail: means, request_id: 'b7a1…' }
}

/** The page of the service's own docs that explains a code. */
export function problemType(code: ErrorCode): string {
  return `/docs/errors#${code}`
}

/** Collects the routes registered after it into an OpenAPI 3.1 document. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  for (const schema of Object.values(COMPONENTS)) app.addSchema(schema)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'sms-quota',
        version: INTERFACE_VERSION,
        description:
          'Tells an SMS platform who may still send, and takes the units before the message leaves. Times are RFC 3339 in UTC, intervals half-open; unknown fields and parameters are refused; errors are RFC 9457 problem details.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'User', description: 'What users see of their own. Any good token with a numeric user id.' },
        { name: 'Administrator', description: "Quotas of all users. Needs the administrators' role." },
        { name: 'Events', description: "What happens, to be followed or sent. Needs the administrators' role." },
        { name: 'Sender', description: "Ask before sending, settle after. Needs the senders' role." },
        { name: 'Operations', description: 'Health and documents. No token.' },
      ],
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`) },
    // Bodies are checked by the schema itself; the document refers to the component of the same name.
    transform: ({ schema, url }) => {
      const body = schema?.body as { $id?: string } | undefined
      const refers = body?.$id !== undefined && body.$id in COMPONENTS
      return { schema: refers ? { ...schema, body: { $ref: `${body.$id}#` } } : (schema ?? {}), url }
    },
  })
}
