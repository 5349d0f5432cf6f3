/** The frame of a route: its entry in the OpenAPI document, what it validates, and a handler whose types follow from that. */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TSchema } from 'typebox'
import { NoQuery } from '../../contract/schemas.ts'
import type { ErrorCode } from '../../errors.ts'
import { changeResponses, type operation, readResponses } from './openapi.ts'
import { takesReference } from './reference-schemas.ts'

/** A route with its schemas. A query that is left out admits no parameter. */
interface Route<Params extends TSchema, Query extends TSchema> extends ReturnType<typeof operation> {
  config?: FastifyContextConfig
  params?: Params
  query?: Query
  /** Besides those that every such route can answer. */
  errors?: readonly ErrorCode[]
}

interface Read<Params extends TSchema, Query extends TSchema> extends Route<Params, Query> {
  /** The `$id` of the schema of its answer. */
  answer: string
  /** The answer is such a record a line, as NDJSON. */
  isLines?: true
  /** Its calls can cost as much as a hundred others. */
  isReport?: true
  handler(request: FastifyRequest<{ Params: Static<Params>; Querystring: Static<Query> }>, reply: FastifyReply): unknown
}

export function get<Params extends TSchema, Query extends TSchema = typeof NoQuery>(
  server: FastifyInstance,
  url: string,
  { config, query, answer, isLines, isReport, errors, handler, ...schema }: Read<Params, Query>,
): void {
  const ref = Type.Ref(`${answer}#`)
  const lines = { description: 'One JSON object a line.', content: { 'application/x-ndjson': { schema: ref } } }
  const response = { ...readResponses(ref, errorsOf(errors, { url, query })), ...(isLines ? { 200: lines } : {}) }
  const report = isReport === true ? { isReport } : {}
  server.get(
    url,
    { config: { ...config, ...report }, schema: { ...schema, querystring: query ?? NoQuery, response } },
    handler,
  )
}

interface Change<Params extends TSchema, Query extends TSchema, Headers extends TSchema, Body extends TSchema>
  extends Route<Params, Query> {
  headers?: Headers
  body?: Body
  /** The schema of each successful status, or of 200 its `$id`; null if there is no answer but 204. */
  answer: string | null | Record<number, TSchema>
  handler(
    request: FastifyRequest<{
      Params: Static<Params>
      Querystring: Static<Query>
      Headers: Static<Headers>
      Body: Static<Body>
    }>,
    reply: FastifyReply,
  ): unknown
}

export function change<
  Params extends TSchema,
  Headers extends TSchema,
  Body extends TSchema,
  Query extends TSchema = typeof NoQuery,
>(
  server: FastifyInstance,
  method: 'POST' | 'PUT' | 'DELETE',
  url: string,
  { config = {}, query, answer, errors, handler, ...schema }: Change<Params, Query, Headers, Body>,
): void {
  const response = changeResponses(successesOf(answer), errorsOf(errors, { url, query, body: schema.body }))
  server.route({ method, url, config, schema: { ...schema, querystring: query ?? NoQuery, response }, handler })
}

/** The errors of a route, with that of a reference that names no user. */
function errorsOf(errors: readonly ErrorCode[] = [], route: Parameters<typeof takesReference>[0]): ErrorCode[] {
  return takesReference(route) ? [...errors, 'unknown_user'] : [...errors]
}

function successesOf(answer: string | null | Record<number, TSchema>): Record<number, TSchema> {
  if (answer === null) return { 204: Type.Null({ description: 'Deleted. The response has no body.' }) }
  return typeof answer === 'string' ? { 200: Type.Ref(`${answer}#`) } : answer
}
