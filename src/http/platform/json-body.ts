/** Bodies: JSON in UTF-8, and nothing else. A text that is repaired silently would be charged at another price. */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyContentTypeParser, FastifyInstance, FastifyRequest } from 'fastify'
import { invalidRequest, Problem } from '../../errors.ts'
import type { BodyReader } from './body-reader.ts'
import { readBody } from './json-text.ts'

type Done = (error: Error | null, body?: unknown) => void

/** Parses a whole body, or fails with the problem that refuses it. */
type BodyParser = (request: FastifyRequest, body: Buffer, done: Done) => void

/**
 * Parses all JSON bodies in the scope of `app`. Where a route has no body, an empty one of any type is none: many clients name a
 * type in each request. One that holds something is refused, so that what it says is never ignored.
 *
 * @param limit the maximum size of a body, in bytes
 * @param maxNames of all its objects together, where that is more than of others
 */
export function parseJsonBodies(app: FastifyInstance, reader: BodyReader, limit: number, maxNames?: number): void {
  const parse: BodyParser = (request, body, done) => parseJsonBody(request, body, done, maxNames)
  const parserOf =
    (parse: BodyParser): FastifyContentTypeParser =>
    (request, stream, done) =>
      reader.read(stream, limit, (error, body) => {
        if (body === undefined) return done(error)
        if (request.routeOptions.schema?.body !== undefined) return parse(request, body, done)
        if (BLANK.test(body.toString('latin1'))) return done(null)
        parse(request, body, (fault, parsed) =>
          fault === null && !request.is404 && !isNothing(parsed) ? done(takesNoBody()) : done(fault, parsed),
        )
      })
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('application/json', parserOf(parse))
  app.addContentTypeParser('*', parserOf(refuseType))
}

/** White space, also after a mark of UTF-8. */
const BLANK = /^(?:\xef\xbb\xbf)?[ \t\r\n]*$/

/** What clients send for nothing. */
function isNothing(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function takesNoBody(): Problem {
  return invalidRequest([{ path: '', message: 'must be empty: this call takes none' }])
}

function refuseType(_request: FastifyRequest, _body: Buffer, done: Done): void {
  done(new Problem('unsupported_media_type', 'Send the body as Content-Type: application/json.'))
}

/** Only reads the bodies in the scope of `app`: the route gets a Buffer. */
export function readRawBodies(app: FastifyInstance, reader: BodyReader, limit: number): void {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('application/json', (_request, stream, done) => reader.read(stream, limit, done))
}

/** Parses a body, or fails with the problem that refuses it. */
export function parseJsonBody(request: FastifyRequest, body: Buffer, done: Done, maxNames?: number): void {
  const read = isPlainUtf8(request.headers) ? parseJsonBytes(body, maxNames) : { refusal: notUtf8Json() }
  if ('value' in read) done(null, read.value)
  else done(read.refusal)
}

/** The value of a body whose headers say that it is JSON in UTF-8, or the problem that refuses it. */
export function parseJsonBytes(body: Buffer, maxNames?: number): ReturnType<typeof readBody> {
  if (!isUtf8(body)) return { refusal: new Problem('invalid_request', 'The body is not valid UTF-8.') }
  const text = body.toString('utf8')
  return readBody(text.startsWith('\ufeff') ? text.slice(1) : text, body, maxNames)
}

function notUtf8Json(): Problem {
  return new Problem(
    'unsupported_media_type',
    'Send the body as Content-Type: application/json in UTF-8, without Content-Encoding.',
  )
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/gi

/** Whether a body is neither compressed nor in another charset, by its headers. */
export function isPlainUtf8({ 'content-type': type, 'content-encoding': encoding }: IncomingHttpHeaders): boolean {
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return false
  if (type === undefined || type === 'application/json') return true
  // Browsers and most libraries read `utf8` as UTF-8, too.
  return [...type.matchAll(CHARSET)].every(([, quoted, plain = '']) => /^utf-?8$/i.test(quoted ?? plain))
}

/**
 * Refuses a query that is not UTF-8 with percent-encoding. The router would leave such a value as it is, and read bytes that
 * are not encoded as Latin-1.
 *
 * @throws Problem `invalid_request` with the names of the parameters
 */
export function checkQueryEncoding(url: string): void {
  const start = url.indexOf('?')
  if (start < 0) return
  const query = url.slice(start + 1)
  if (isEncoded(query)) return
  const names = query.split('&').flatMap(pair => (isEncoded(pair) ? [] : [nameOf(pair)]))
  throw invalidRequest(names.map(path => ({ path, message: 'must be UTF-8 with percent-encoding' })))
}

function isEncoded(text: string): boolean {
  if (/[^\x21-\x7e]/.test(text)) return false
  if (!text.includes('%')) return true
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The parameter of a pair `name=value`; a name that cannot be decoded stays as it is. */
function nameOf(pair: string): string {
  const name = (pair.split('=')[0] ?? '').slice(0, 64)
  return isEncoded(name) ? decodeURIComponent(name) : name.replaceAll(/[^\x21-\x7e]/g, '?')
}
