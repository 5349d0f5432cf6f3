/** The heads of requests that the door takes. All others are Node.js's to judge. */

export interface PlainHead {
  /** What follows the prefix of the senders' operations in the path; `find`: a reservation is read. */
  readonly operation: string
  /** Only of `find`. */
  readonly reservation: { readonly user_id: number; readonly id: string } | undefined
  /** Of the body, in bytes; `find` has none. */
  readonly contentLength: number
  readonly authorization: string
  /** What the client sends as its request id, valid or not. */
  readonly requestId: string | undefined
  readonly forwardedFor: string | undefined
}

/** Larger bodies, and those of routes with another limit, are read where they are bounded while they arrive. */
export const MAX_PLAIN_BODY_BYTES = 64 * 1024

const REQUEST_LINE = /^POST \/api\/sms\/sender\/quota\/([a-z]+) HTTP\/1\.1$/
const FIND_LINE =
  /^GET \/api\/sms\/sender\/quota\/reservations\/(0|[1-9]\d{0,15})\/([A-Za-z0-9][A-Za-z0-9._:-]{0,127}) HTTP\/1\.1$/

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
  const reservation = reservationIn(requestLine)
  const operation = reservation === undefined ? REQUEST_LINE.exec(requestLine)?.[1] : 'find'
  if (operation === undefined) return undefined
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    const key = name.toLowerCase()
    if (key === '' || NOT_PLAIN.has(key) || fields.has(key)) return undefined
    fields.set(key, value)
  }
  const authorization = fields.get('authorization')
  const contentLength = reservation === undefined ? bodyLengthIn(fields) : fields.has('content-length') ? Number.NaN : 0
  const connection = fields.get('connection')
  const isPlain =
    authorization !== undefined &&
    fields.has('host') &&
    contentLength <= MAX_PLAIN_BODY_BYTES &&
    (connection === undefined || connection.toLowerCase() === 'keep-alive')
  if (!isPlain) return undefined
  return {
    operation,
    reservation,
    contentLength,
    authorization,
    requestId: fields.get('x-request-id'),
    forwardedFor: fields.get('x-forwarded-for'),
  }
}

function reservationIn(requestLine: string): PlainHead['reservation'] {
  const [, user = '', id = ''] = FIND_LINE.exec(requestLine) ?? []
  return user === '' || !Number.isSafeInteger(Number(user)) ? undefined : { user_id: Number(user), id }
}

/** The length of a body of JSON; NaN: it is not plain. */
function bodyLengthIn(fields: ReadonlyMap<string, string>): number {
  const length = fields.get('content-length') ?? ''
  const isPlain = /^[1-9]\d{0,4}$/.test(length) && JSON_TYPE.test(fields.get('content-type') ?? '')
  return isPlain ? Number(length) : Number.NaN
}
