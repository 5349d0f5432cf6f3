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
  /** The answer is such a record a line, as NDJSON. */
  isLines?: true
  /** Besides those that every such route can answer. */
  errors?: readonly ErrorCode[]
}

interface Read<Params extends TSchema, Query extends TSchema> extends Route<Params, Query> {
  /** The `$id` of the schema of its answer. */
  answer: string
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
  const lines = isLines ? { 200: linesOf(answer) } : {}
  const response = { ...readResponses(ref, errorsOf(errors, { url, query })), ...lines }
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
  /** The maximum size of its bodies, in bytes, if its scope has one of its own. */
  bodyLimit?: number
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
  { config = {}, query, bodyLimit, answer, isLines, errors, handler, ...schema }: Change<Params, Query, Headers, Body>,
): void {
  const lines = isLines && typeof answer === 'string' ? { 200: linesOf(answer) } : undefined
  const all = errorsOf(errors, { url, query, body: schema.body })
  const response = { ...changeResponses(lines === undefined ? successesOf(answer) : {}, all), ...lines }
  const limit = bodyLimit === undefined ? {} : { bodyLimit }
  server.route({
    method,
    url,
    config,
    ...limit,
    schema: { ...schema, querystring: query ?? NoQuery, response },
    handler,
  })
}

/** An answer of lines, each a record. */
export const linesOf = (answer: string) => ({
  description: 'One JSON object a line.',
  content: { 'application/x-ndjson': { schema: Type.Ref(`${answer}#`) } },
})

/** The errors of a route, with that of a reference that names no user. */
function errorsOf(errors: readonly ErrorCode[] = [], route: Parameters<typeof takesReference>[0]): ErrorCode[] {
  return takesReference(route) ? [...errors, 'unknown_user'] : [...errors]
}

function successesOf(answer: string | null | Record<number, TSchema>): Record<number, TSchema> {
  if (answer === null) return { 204: Type.Null({ description: 'Deleted. The response has no body.' }) }
  return typeof answer === 'string' ? { 200: Type.Ref(`${answer}#`) } : answer
}
