import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { COMPONENTS } from '../../contract/components.ts'
import { SEGMENTS_HEADER, writeSegmentRules } from '../../contract/segments-header.ts'
import { DEFAULT_SEGMENT_RULES } from '../../domain/messages/segment-rules.ts'
import { ERRORS, type ErrorCode } from '../../errors.ts'
import { isObject, withUsualShapes } from './openapi-shape.ts'
import { withSharedParts } from './openapi-shared.ts'
import { webhooksSection } from './openapi-webhooks.ts'
import { withReferences } from './reference-schemas.ts'

/** The version of the interface, by semantic versioning. The paths carry none. */
const INTERFACE_VERSION = '0.2.0'

const TAGS = {
  User: "A user's own quotas, for any valid token with the id or the reference of a user.",
  Administrator: 'The quotas of all users. Each operation names its permission, and the roles that have it.',
  Events: 'The event feed and webhooks. Each operation names its permission, and the roles that have it.',
  Sender: "Ask before sending, settle afterwards. Needs the senders' role; `force` needs a role of its own.",
  Deliveries: 'What receivers of webhooks get. These are no calls of the service.',
  Operations: 'Health and documentation. Needs no token.',
}

/** The head of an operation in the document. `operationId` is the name of the method in generated clients. */
export function operation(tag: keyof typeof TAGS, operationId: string, summary: string, description?: string) {
  return { operationId, summary, tags: [tag], ...(description === undefined ? {} : { description }) }
}

/* ── Responses ──────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Errors that every route with a token can answer. */
const WITH_TOKEN: readonly ErrorCode[] = ['unauthenticated', 'rate_limited', 'internal', 'unavailable']

/**
 * The responses of a route: its successes by status, and one entry per status for the errors with these codes.
 *
 * @param errors codes besides those that every route with a token can answer
 */
export function responses(successes: Record<number, TSchema>, errors: readonly ErrorCode[]): Record<number, unknown> {
  return { ...describeSuccesses(successes), ...problems([...WITH_TOKEN, ...errors]) }
}

/** The responses of a route that reads: 200, the common errors and `errors`. */
export function readResponses(schema: TSchema, errors: readonly ErrorCode[] = []): Record<number, unknown> {
  return responses({ 200: schema }, ['forbidden', 'invalid_request', ...errors])
}

/** The responses of a route that changes something. Routes without a body also refuse a body that they cannot read. */
export function changeResponses(
  successes: Record<number, TSchema>,
  errors: readonly ErrorCode[] = [],
): Record<number, unknown> {
  return responses(successes, [
    'forbidden',
    'payload_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...errors,
  ])
}

const SENDER_HEADERS = {
  [SEGMENTS_HEADER]: {
    type: 'string',
    description:
      'How the service counts segments, by its settings `SEGMENTATION`, `SMS_REFERENCE_BITS` and `SMS_SHIFT_TABLES`: for programs that have to count a text as it does.',
    example: writeSegmentRules(DEFAULT_SEGMENT_RULES),
  },
}

/** The responses of a sender's route, which has no rate limit: the queue bounds what it accepts. */
export function senderResponses(schema: TSchema, errors: readonly ErrorCode[]): Record<number, unknown> {
  return {
    ...describeSuccesses({ 200: { ...schema, headers: SENDER_HEADERS } }),
    ...problems([...WITH_TOKEN, 'forbidden', 'invalid_request', 'overloaded', ...errors]),
  }
}

/** One entry per status for the errors with these codes. */
export function problems(codes: readonly ErrorCode[]): Record<number, unknown> {
  const byStatus = Map.groupBy(codes, code => ERRORS[code].status)
  return Object.fromEntries([...byStatus].map(([status, sharing]) => [status, problemResponse(sharing)]))
}

function describeSuccesses(successes: Record<number, TSchema>): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(successes).map(([status, schema]) => [status, { description: 'Success.', ...schema }]),
  )
}

function problemResponse(codes: readonly ErrorCode[]) {
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

/* ── The document ───────────────────────────────────────────────────────────────────────────────────────────────── */

/** Collects the routes that are registered after this call into an OpenAPI 3.1 document. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  for (const schema of Object.values(COMPONENTS)) app.addSchema(schema)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'sms-quota',
        version: INTERFACE_VERSION,
        description:
          'Decides whether a user may still send SMS, and takes the units before the message is sent. Times are RFC 3339 in UTC; intervals include their start and exclude their end. Unknown fields and parameters are refused. Errors are problem details (RFC 9457).',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
      security: [{ bearer: [] }],
      webhooks: webhooksSection(),
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`) },
    transformObject: document => {
      const shaped = 'openapiObject' in document ? withUsualShapes(document.openapiObject) : {}
      return isObject(shaped) ? withSharedParts(shaped) : {}
    },
    // Routes validate bodies with the schema itself; the document refers to the component of the same name.
    transform: ({ schema, url }) => {
      const body = schema?.body as { $id?: string } | undefined
      const refers = body?.$id !== undefined && body.$id in COMPONENTS
      const shown = withReferences(schema ?? {})
      return { schema: refers ? { ...shown, body: { $ref: `${body.$id}#` } } : shown, url }
    },
  })
}
