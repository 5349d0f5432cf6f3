/** The heads of requests that the door takes. All others are Node.js's to judge. */

export interface PlainHead {
  /** What follows the prefix of the senders' operations in the path. */
  readonly operation: string
  /** Of the body, in bytes. */
  readonly contentLength: number
  readonly authorization: string
  /** What the client sends as its request id, valid or not. */
  readonly requestId: string | undefined
  readonly forwardedFor: string | undefined
}

/** Larger bodies, and those of routes with another limit, are read where they are bounded while they arrive. */
export const MAX_PLAIN_BODY_BYTES = 64 * 1024

const REQUEST_LINE = /^POST \/api\/sms\/sender\/quota\/([a-z]+) HTTP\/1\.1$/

/** A name and a value of visible ASCII, blanks around it left out. Node.js accepts more. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/

/** They change where a request ends, how its body is read, or whose trace it belongs to. */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  ...['content-encoding', 'expect', 'http2-settings', 'keep-alive', 'proxy-connection', 'te', 'traceparent'],
  ...['trailer', 'transfer-encoding', 'upgrade'],
])

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i

/**
 * The head of a plain request, or undefined: another route, a field twice, or anything that two readers might take differently.
 *
 * @param text from the first byte to the last one before the empty line, as Latin-1
 */
export function readPlainHead(text: string): PlainHead | undefined {
  const [requestLine = '', ...lines] = text.split('\r\n')
  const operation = REQUEST_LINE.exec(requestLine)?.[1]
  if (operation === undefined) return undefined
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    const key = name.toLowerCase()
    if (key === '' || NOT_PLAIN.has(key) || fields.has(key)) return undefined
    fields.set(key, value)
  }
  const authorization = fields.get('authorization')
  const length = fields.get('content-length') ?? ''
  const contentLength = /^[1-9]\d{0,4}$/.test(length) ? Number(length) : Number.NaN
  const connection = fields.get('connection')
  const isPlain =
    authorization !== undefined &&
    fields.has('host') &&
    contentLength <= MAX_PLAIN_BODY_BYTES &&
    JSON_TYPE.test(fields.get('content-type') ?? '') &&
    (connection === undefined || connection.toLowerCase() === 'keep-alive')
  if (!isPlain) return undefined
  return {
    operation,
    contentLength,
    authorization,
    requestId: fields.get('x-request-id'),
    forwardedFor: fields.get('x-forwarded-for'),
  }
}
