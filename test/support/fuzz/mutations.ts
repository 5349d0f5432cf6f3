/** Changes of a valid call: by one, it is nearly valid; by some, it is not. */
import type { Body, Call } from './calls.ts'
import { bytesOf } from './calls.ts'
import { isObject, type Json, type JsonObject, objectOf, pathsIn, Raw, replaceAt, textOf, valueAt } from './json.ts'
import type { Random } from './random.ts'

const WRONG: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  2 ** 53,
  -(2 ** 53),
  new Raw('-0'),
  new Raw('1e400'),
  new Raw('1.0'),
  new Raw('1e2'),
  new Raw('0.1e-400'),
  new Raw('123456789012345678901234567890'),
  '',
  '1',
  'x',
  'true',
  'null',
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  { toString: 1, valueOf: 2, constructor: { prototype: { admin: true } } },
]

const TEXTS: readonly string[] = [
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202e\u200b',
  '\ufeff',
  "' or 1=1 --",
  "'; select pg_sleep(9); --",
  '$1',
  '%',
  '\\',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'de',
  'ZZ',
  'EU',
  '+01:00',
  'Etc/../UTC',
  'posixrules',
  'systemv/EST5',
  'GMT+0',
  '2026-02-29T00:00:00Z',
  '2024-02-29T23:59:60Z',
  '1969-12-31T23:59:59Z',
  '9999-12-31T23:59:59.999-00:01',
  '2026-01-01',
  '2026-01-01T24:00:00Z',
  '+275760-09-13T00:00:00Z',
  'javascript:alert(1)',
  'http://user:password@127.0.0.1/',
  'http:/127.0.0.1/',
  'http://127.0.0.1:99999/',
  'HTTP://127.0.0.1:1/',
  'P',
  'P1Y2D',
  'P1,5M',
  '*',
  '"1", "2"',
  'W/"1"',
  '٣',
  'ﬁ',
  'İ',
]

const LENGTHS = [1, 16, 64, 65, 120, 121, 128, 129, 255, 256, 500, 501, 512, 513, 2_048, 2_049, 5_001, 20_000, 70_000]
const LETTERS = ['x', 'é', '😀', 'e\u0301', '\u0301', '"', '\\', '\u0001', '0', ' ', '[', '€']

const NAMES = ['~', '/', '', ' ', '__proto__', 'constructor', 'toString', 'a.b', 'x', '0', 'Ü', '\ud83d', "'"]
/** Numbers of unknown names: few, and those around which lists of errors end. */
const NAME_COUNTS = [1, 1, 1, 2, 3, 16, 17, 100, 101, 499, 500, 501, 1_000, 5_000]

function longText(random: Random): string {
  return random.pick(LETTERS).repeat(random.pick(LENGTHS))
}

function withNames(value: JsonObject, random: Random): JsonObject {
  const count = random.pick(NAME_COUNTS)
  const prefix = random.pick(NAMES)
  const names = Array.from({ length: count }, (_, place) => (count === 1 ? prefix : `${prefix}${place}`))
  const inside = random.pick(WRONG)
  const members = [...Object.entries(value), ...names.map(name => [name, inside] as const)]
  return objectOf(random.percent(50) ? members : members.reverse())
}

/** Every member is of the wrong type, and there are names that are not known. */
function allWrong(value: JsonObject, random: Random): JsonObject {
  return withNames(objectOf(Object.entries(value).map(([name]) => [name, random.pick(WRONG)])), random)
}

function nested(random: Random): Raw {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"__proto__":', '}'],
  ] as const)
  const depth = random.pick([3, 100, 2_000, 10_000, 30_000])
  return new Raw(`${open.repeat(depth)}1${close.repeat(depth)}`)
}

/** A member twice, with different values. */
function withMemberTwice(value: JsonObject, random: Random): Json {
  const members = Object.entries(value)
  if (members.length === 0) return value
  const [name] = random.pick(members)
  const text = textOf(value)
  return new Raw(`${text.slice(0, -1)},${JSON.stringify(name)}:${textOf(random.pick(WRONG))}}`)
}

function changeNumber(value: number, random: Random): Json {
  return random.pick([value + 1, value - 1, -value, value + 0.5, value * 1e9, `${value}`, new Raw(`${value}.0`)])
}

/** The value at a place, changed in one of many ways; undefined: it is left out. */
function changeValue(value: Json, random: Random): Json | undefined {
  if (random.percent(15)) return undefined
  if (random.percent(25)) return random.pick(WRONG)
  if (random.percent(5)) return nested(random)
  if (Array.isArray(value)) {
    const [first = 0] = value
    return random.pick([[...value, ...value], Array.from({ length: random.pick([51, 101, 301, 1_001]) }, () => first)])
  }
  if (isObject(value)) {
    return random.pick([withNames, withNames, allWrong, withMemberTwice])(value, random)
  }
  if (typeof value === 'number') return changeNumber(value, random)
  if (random.percent(40)) return longText(random)
  return random.percent(70) ? random.pick(TEXTS) : `${value}${random.pick(TEXTS)}`
}

function changeJson(value: Json, random: Random): Json {
  const paths = pathsIn(value)
  // Of the whole as often as of any part.
  const path = random.percent(30) ? [] : random.pick(paths)
  const by = changeValue(valueAt(value, path), random)
  return replaceAt(value, path, by) ?? null
}

function changeBytes(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1')
  const cut = random.integer(text.length + 1)
  const changed = random.pick([
    text.slice(0, cut),
    `${text.slice(0, cut)}\xff${text.slice(cut)}`,
    `${text}${text}`,
    `\xef\xbb\xbf${text}`,
    `${text},`,
    `\n\r\t ${text} \n`,
    '',
    ' ',
    'null',
    '\0',
    text.replaceAll('"', "'"),
    Buffer.from(text, 'utf16le').toString('latin1'),
    text.padEnd(random.pick([65_536, 65_537, 262_145])),
  ])
  return Buffer.from(changed, 'latin1')
}

function changeBody(body: Body, random: Random): Body {
  if (body.kind === 'bytes' || random.percent(8)) return { kind: 'bytes', bytes: changeBytes(bytesOf(body), random) }
  if (body.kind === 'value') return { kind: 'value', value: changeJson(body.value, random) }
  const place = random.integer(body.values.length)
  const values = body.values.map((value, at) => (at === place ? changeJson(value, random) : value))
  return { kind: 'lines', values: random.percent(10) ? [...values, ...values] : values }
}

const QUERY_TEXTS = [
  '+7',
  '07',
  '7.0',
  '7e0',
  '0x7',
  ' 7',
  '-1',
  '-0',
  '9007199254740992',
  '1'.repeat(400),
  'NaN',
  'true',
  '[]',
]
const RAW_TEXTS = [
  '%',
  '%zz',
  '%ff',
  '%00',
  '%C0%80',
  '%ED%A0%80',
  '&',
  '=',
  '#',
  ';',
  '%26',
  '%2F',
  '..',
  '%2e%2e',
  "'",
  '"',
  '+',
  '[',
  '%0d%0a',
]

function encodedText(random: Random): string {
  if (random.percent(30)) return random.pick(RAW_TEXTS)
  const text = random.pick([
    random.pick(QUERY_TEXTS),
    random.pick(TEXTS),
    random.pick(LETTERS).repeat(random.pick([1, 121, 1_000])),
  ])
  return encodeURIComponent(text.toWellFormed())
}

function changeQuery(query: Call['query'], random: Random): Call['query'] {
  const count = random.pick(NAME_COUNTS)
  const many = Array.from(
    { length: Math.min(count, 1_000) },
    (_, at) => [`${encodeURIComponent(random.pick(['~', 'x', '_']))}${at}`, ''] as const,
  )
  const some = query.length === 0 ? (['page', '1'] as const) : random.pick(query)
  return random.pick([
    () => [...query, ...many],
    () => [...query, some],
    () => query.filter(pair => pair !== some),
    () => query.map(pair => (pair === some ? ([pair[0], encodedText(random)] as const) : pair)),
    () => query.map(pair => (pair === some ? ([pair[0], encodedText(random)] as const) : pair)),
    () => [...query, [encodedText(random), encodedText(random)] as const],
    () => [...query.map(([name]) => [name, encodedText(random)] as const), ...many],
    () => [...query, [`${some[0]}[]`, some[1]] as const, [`${some[0]}.a`, some[1]] as const],
  ])()
}

function changePath(path: string, random: Random): string {
  const parts = path.split('/')
  const place = 1 + random.integer(parts.length - 1)
  const changed = parts.map((part, at) => {
    if (at !== place) return part
    return random.pick([
      encodedText(random),
      encodeURIComponent(random.pick(TEXTS).toWellFormed()),
      `${part}${random.pick(RAW_TEXTS)}`,
      '',
      part.toUpperCase(),
    ])
  })
  return random.percent(10) ? `${path}/` : changed.join('/')
}

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['if-match', ['*', '"1"', '"0"', '"9007199254740992"', '1', '"1","1"', 'W/"1"', '""', '"1" , "2"', '"1"'.repeat(90)]],
  ['idempotency-key', ['', 'ü', 'a b', 'x'.repeat(255), 'x'.repeat(256), 'key-1', "'"]],
  [
    'content-type',
    [
      'text/plain',
      'application/json; charset=utf-16',
      'application/json;charset=UTF8',
      'application/x-ndjson',
      'application/JSON',
      'x',
      'multipart/form-data; boundary=x',
    ],
  ],
  ['content-encoding', ['gzip', 'identity', 'br', 'x']],
  ['accept', ['text/html', 'application/xml', '*/*;q=0']],
  ['accept-encoding', ['gzip', 'br;q=0', 'x']],
  ['x-request-id', ['x'.repeat(200), 'a b', 'ü', '<script>', '']],
  ['traceparent', ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-0-0-00', 'x']],
  ['x-forwarded-for', ['1.2.3.4', '1.2.3.4, x', '[::1]:80']],
  ['x-http-method-override', ['DELETE']],
  ['if-none-match', ['*', '"x"']],
  ['range', ['bytes=0-1']],
  ['authorization', ['Bearer', 'Bearer x.y.z', 'Basic eDp5', 'bearer  ', 'x'.repeat(9_000)]],
  ['cookie', ['a=b']],
  ['origin', ['https://elsewhere.invalid']],
]

function changeHeaders(headers: Call['headers'], random: Random): Call['headers'] {
  const [name, values] = random.pick(HEADERS)
  const others = random.percent(80) ? headers.filter(([other]) => other !== name) : headers
  return [...others, [name, random.pick(values)]]
}

/** A call that differs from this one in one place. */
export function mutate(call: Call, random: Random): Call {
  const { body } = call
  const change = random.pick([
    ...(body === undefined ? [] : (['body', 'body', 'body', 'body', 'body'] as const)),
    ...(['query', 'query', 'headers', 'path', 'other'] as const),
  ])
  switch (change) {
    case 'body':
      return body === undefined ? call : { ...call, body: changeBody(body, random) }
    case 'query':
      return { ...call, query: changeQuery(call.query, random) }
    case 'headers':
      return { ...call, headers: changeHeaders(call.headers, random) }
    case 'path':
      return { ...call, path: changePath(call.path, random) }
    case 'other':
      return otherKind(call, random)
  }
}

/** The method of another, or a body where there is none. */
function otherKind(call: Call, random: Random): Call {
  if (random.percent(50)) {
    return { ...call, method: random.pick(['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']) }
  }
  const headers = [
    ...call.headers.filter(([name]) => name !== 'content-type'),
    ['content-type', 'application/json'] as const,
  ]
  return { ...call, headers, body: { kind: 'value', value: random.pick(WRONG) } }
}
