/** Requests as bytes, plain and odd, in pieces: what the door and Node.js must take in the same way. */
import fc from 'fast-check'

/** A request to a route of the senders, with what is odd about it. */
interface Request {
  readonly line: string
  readonly headers: readonly string[]
  readonly body: string
}

const PATH = '/api/sms/sender/quota'
const OPERATIONS = ['check', 'reserve', 'consume', 'commit', 'release', 'refund', 'feedback']

const plainLine = fc.constantFrom(...OPERATIONS).map(name => `POST ${PATH}/${name} HTTP/1.1`)
const findLine = fc
  .constantFrom('7/a', '0/m:1.2_3-4', '9007199254740991/a')
  .map(of => `GET ${PATH}/reservations/${of} HTTP/1.1`)
const oddLine = fc.constantFrom(
  `POST ${PATH}/reserve?x=1 HTTP/1.1`,
  `POST ${PATH}/reserve# HTTP/1.1`,
  `POST ${PATH}/%72eserve HTTP/1.1`,
  `POST ${PATH}/reserve HTTP/1.0`,
  `POST ${PATH}/reserve HTTP/1.1 `,
  `POST  ${PATH}/reserve HTTP/1.1`,
  `post ${PATH}/reserve HTTP/1.1`,
  `POST http://test${PATH}/reserve HTTP/1.1`,
  `POST ${PATH}/batch HTTP/1.1`,
  `POST ${PATH}/reserve/ HTTP/1.1`,
  `PUT ${PATH}/reserve HTTP/1.1`,
  `GET ${PATH}/reservations/7 HTTP/1.1`,
  `GET ${PATH}/reservations/07/a HTTP/1.1`,
  `GET ${PATH}/reservations/9007199254740993/a HTTP/1.1`,
  `GET ${PATH}/reservations/7/.a HTTP/1.1`,
  `GET ${PATH}/reservations/7/a?b HTTP/1.1`,
  `GET ${PATH}/reservations/7/a/ HTTP/1.1`,
  `HEAD ${PATH}/reservations/7/a HTTP/1.1`,
  `GET ${PATH}/reservations/7/a HTTP/1.0`,
  `POST ${PATH}/reserve HTTP/2.0`,
  `POST ${PATH}/reserve`,
  'GET /livez HTTP/1.1',
)

/** Lines that are added, or that take the place of those of the same name. One digit less must not make a length that a server waits for. */
const oddHeader = fc.constantFrom(
  ...['Content-Length: +5', 'Content-Length: 05', 'Content-Length: 5, 5', 'Content-Length: 0x5', 'Content-Length:'],
  ...['Content-Length: 5', 'Content-Length : 5', `Content-Length: ${'9'.repeat(25)}`, 'Content-Length: -1'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'Transfer-Encoding: x, chunked', 'TE: trailers'],
  ...['Connection: close', 'Connection: keep-alive', 'Connection: Keep-Alive, x', 'Connection: upgrade'],
  ...['Expect: 100-continue', 'Expect: x', 'Upgrade: websocket', 'Content-Encoding: gzip', 'Trailer: x'],
  ...['Host: other', 'Host:', 'Authorization: Bearer b', 'authorization: Bearer c', 'Content-Type: text/plain'],
  ...['Content-Type: application/json; charset=utf-8', 'Content-Type: application/json; charset=latin1'],
  ...['X-Request-Id: mine', 'x-request-id: not valid', 'X-Forwarded-For: 192.0.2.1', 'traceparent: 00-1-1-00'],
  ...['X-Odd: \u00e9', 'X-Odd: a\u0000b', 'X-Odd: a\tb', 'X-Odd:\t x \t', 'X-Odd: a\rb', 'X-Odd: a\nb', ' folded'],
  ...['X Odd: 1', 'X-Odd', ': 1', '', 'X-Long: '.padEnd(9_000, 'x'), 'Keep-Alive: 5', 'Proxy-Connection: close'],
)

const body = fc.oneof(
  fc.constantFrom(
    '{"user_id":7,"id":"a","units":1}',
    '{',
    '[]',
    'é',
    '{"text":"é"}',
    'POST / HTTP/1.1\r\n\r\n',
    '\r\n\r\n',
  ),
  fc.nat(200).map(length => 'x'.repeat(length + 1)),
)

const PLAIN: Request = {
  line: `POST ${PATH}/check HTTP/1.1`,
  headers: ['Host: test', 'Authorization: Bearer a', 'Content-Type: application/json', 'Content-Length: 2'],
  body: '{}',
}

const request: fc.Arbitrary<Request> = fc
  .record({
    line: fc.oneof(
      { weight: 7, arbitrary: plainLine },
      { weight: 2, arbitrary: findLine },
      { weight: 1, arbitrary: oddLine },
    ),
    body,
    /** A read mostly has none. */
    hasBody: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    odd: fc.oneof(
      { weight: 1, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.array(oddHeader, { maxLength: 2 }) },
    ),
    left: fc.oneof(
      { weight: 9, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.constantFrom('host', 'authorization', 'content-type') },
    ),
    replaces: fc.boolean(),
    isLower: fc.boolean(),
  })
  .map(({ line, body: given, hasBody, odd, left, replaces, isLower }) => {
    const body = hasBody || !/^(?:GET|HEAD)/.test(line) ? given : ''
    const named = ['Host: test', 'Authorization: Bearer a']
    const ofBody = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
    const nameOf = (header: string) => (header.split(':')[0] ?? '').trim().toLowerCase()
    const usual = [...named, ...ofBody].filter(
      header => nameOf(header) !== left && !(replaces && odd.some(other => nameOf(other) === nameOf(header))),
    )
    return { line, headers: [...usual.map(header => (isLower ? header.toLowerCase() : header)), ...odd], body }
  })

const change = fc.record({ at: fc.nat(4_000), kind: fc.constantFrom('drop', 'double', 'replace'), byte: fc.nat(255) })

/** Pieces in which a client sends some requests, one after the other, perhaps with a damaged byte. */
export const pieces: fc.Arbitrary<Buffer[]> = fc
  .record({
    // Now and then as many plain ones first as fill the connection.
    ahead: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(31, 32, 33) }),
    requests: fc.array(request, { minLength: 1, maxLength: 6 }),
    changes: fc.oneof(
      { weight: 3, arbitrary: fc.constant<fc.GeneratorValue[]>([]) },
      { weight: 1, arbitrary: fc.array(change, { maxLength: 2 }) },
    ),
    cuts: fc.array(fc.nat(2_000), { maxLength: 6 }),
    isLineFeedOnly: fc.nat(30).map(number => number === 0),
  })
  .map(({ ahead, requests, changes, cuts, isLineFeedOnly }) => {
    const end = isLineFeedOnly ? '\n' : '\r\n'
    const text = [...Array<Request>(ahead).fill(PLAIN), ...requests]
      .map(({ line, headers, body }) => [line, ...headers, '', ''].join(end) + Buffer.from(body).toString('latin1'))
      .join('')
    let bytes = Buffer.from(text, 'latin1')
    for (const { at, kind, byte } of changes as { at: number; kind: string; byte: number }[]) {
      const place = at % bytes.length
      const instead = kind === 'drop' ? [] : kind === 'double' ? [bytes[place] ?? 0, bytes[place] ?? 0] : [byte]
      bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from(instead), bytes.subarray(place + 1)])
    }
    const places = [...new Set(cuts.map(cut => cut % bytes.length))].toSorted((a, b) => a - b)
    return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length))
  })
