/** The parsers of variables: each returns the value of a text, or the reason why it refuses the text. */
import { BlockList, isIP } from 'node:net'
import { isAbsolute, normalize } from 'node:path'
import { Temporal } from 'temporal-polyfill'
import { changeUrl, hostUrls } from './database-url.ts'

class RefusedText {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** Why a text is refused. In messages, the accepted values from the table of variables follow it. */
export type Refusal = RefusedText

export const refuse = (why: string): Refusal => new RefusedText(why)

export const isRefusal = (value: unknown): value is Refusal => value instanceof RefusedText

export const MASK = '********'

export function parseRatio(text: string): number | Refusal {
  if (!/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(text)) return refuse('is not a number from 0 to 1')
  return Number(text)
}

export function parseHttpUrl(text: string): string | Refusal {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return refuse('is not an http or https URL')
  return url.username === '' && url.password === '' ? text : refuse('contains a user or a password')
}

/** Without the slash at its end, so that paths follow. */
export function parsePublicUrl(text: string): string | Refusal {
  if (/[?#]/.test(text)) return refuse('contains a query or a fragment')
  const url = parseHttpUrl(text)
  return typeof url === 'string' ? url.replace(/\/+$/, '') : url
}

/** Of options in its query only `tls=off` is known, where mail and passwords leave no private network. */
export function parseSmtpUrl(text: string): string | Refusal {
  const url = URL.parse(text)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return refuse('is not an SMTP URL')
  const isPlain = url.protocol === 'smtp:' && url.search === PLAIN_SMTP
  if (!/^\/?$/.test(url.pathname) || !(url.search === '' || isPlain) || url.hash !== '') {
    return refuse('has a path, a query, a fragment, or a special character that is not percent-encoded')
  }
  if (isPlain && !isPrivateHost(url.hostname)) return refuse('would send mail unencrypted beyond a private network')
  try {
    decodeURIComponent(`${url.username}${url.password}`)
  } catch {
    return refuse('has a % that does not begin a percent-encoding')
  }
  return text
}

const PLAIN_SMTP = '?tls=off'

/** Whether the server of an SMTP URL is reached without TLS: on this machine, and where the URL says so. */
export function isPlainSmtp(text: string): boolean {
  const { protocol, hostname, search } = new URL(text)
  return protocol === 'smtp:' && (search === PLAIN_SMTP || isLoopback(hostname))
}

const privateNetworks = new BlockList()
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateNetworks.addSubnet(net, prefix, 'ipv4')
privateNetworks.addSubnet('fc00::', 7, 'ipv6')

/** Whether a host is in a private network by its address, or by a name that the public DNS does not have. */
function isPrivateHost(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(address)
  if (family !== 0) return isLoopback(hostname) || privateNetworks.check(address, family === 4 ? 'ipv4' : 'ipv6')
  return /^[^.]+$|\.(?:internal|local|localhost|home\.arpa)$/i.test(hostname)
}

export function parseSender(text: string): string | Refusal {
  if (/[^\p{ASCII}][^<@]*@/u.test(text.split('<').at(-1) ?? '')) {
    return refuse('has letters beyond ASCII before the @, which few servers take')
  }
  const address = '[^\\s<>@,;:"]+@[^\\s<>@,;:"]+'
  const isOne = new RegExp(`^(?:${address}|[^<>\\p{Cc}]+ <${address}>)$`, 'u').test(text)
  return isOne ? text : refuse('is no address')
}

export function parseReferenceBits(text: string): 8 | 16 | Refusal {
  return text === '8' ? 8 : text === '16' ? 16 : refuse('is neither')
}

export const SHIFT_TABLES = ['turkish', 'spanish', 'portuguese'] as const
export type ShiftTable = (typeof SHIFT_TABLES)[number]

export function parseShiftTables(text: string): ShiftTable[] | Refusal {
  const tables: ShiftTable[] = []
  for (const name of text.split(',').map(part => part.trim())) {
    const table = SHIFT_TABLES.find(known => known === name)
    if (table === undefined) return refuse('names a table that is none of them')
    if (tables.includes(table)) return refuse('names a table twice')
    tables.push(table)
  }
  return tables
}

/** As the API takes them (`messageType`). */
const MESSAGE_TYPE = /^[a-z0-9][a-z0-9_-]{0,63}$/

export function parseMessageTypes(text: string): string[] | Refusal {
  const types = [...new Set(text.split(',').map(part => part.trim()))]
  return types.every(type => MESSAGE_TYPE.test(type)) ? types : refuse('names none')
}

export function parseText(text: string): string | Refusal {
  return /\p{Cc}/u.test(text) ? refuse('contains control characters') : text
}

export function parseWord(text: string): string | Refusal {
  return /[\s\p{Cc}]/u.test(text) ? refuse('contains spaces') : text
}

export function parseSecret(text: string): string | Refusal {
  const bytes = Buffer.byteLength(text)
  return bytes < 32 ? refuse(`has only ${bytes} bytes`) : text
}

/** The IANA name of a time zone, in its canonical case. Offsets are none, nor are abbreviations: `BST` is in Bangladesh for some. */
export function parseTimeZone(text: string): string | Refusal {
  const refusal = refuse('is no time zone')
  if (!/^(?!systemv\/)[a-z][a-z0-9_+/-]*$/i.test(text)) return refusal
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId
  } catch {
    return refusal
  }
}

export function parseHost(text: string): string | Refusal {
  const isName = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?$/i.test(text)
  return isName || isIP(text) !== 0 ? text : refuse('is neither')
}

/** Operators sometimes paste the key itself, and it may be a private one: variables of keys do not repeat the text. */
export function parseKeyPath(text: string): string | Refusal {
  return /-----BEGIN|^\s*\{/.test(text) ? refuse('holds a key, not the path of its file') : parseText(text)
}

export function parseFolder(text: string): string | Refusal {
  return isAbsolute(text) && !text.includes('\0') ? normalize(text) : refuse('is not absolute')
}

/** A URL with one host or with several. */
export function parseDatabaseUrl(text: string): string | Refusal {
  const urls = hostUrls(text)
  const refusal = urls.map(url => parseHostUrl(url)).find(isRefusal)
  if (refusal !== undefined) return refusal
  const isEmpty = urls.some(url => new URL(url).hostname === '')
  return urls.length > 1 && isEmpty ? refuse('has an empty host in its list') : text
}

function parseHostUrl(text: string): string | Refusal {
  const url = URL.parse(text)
  if (url === null) return refuse('is not a URL')
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') return refuse('is not a PostgreSQL URL')
  // Each of # ? / ends the password early, and the rest of it would be taken for a path or a parameter.
  if (url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) {
    return refuse('has a special character that is not percent-encoded')
  }
  try {
    decodeURIComponent(`${url.username}${url.password}${url.hostname}${url.pathname}`)
  } catch {
    return refuse('has a % that does not begin a percent-encoding')
  }
  return text
}

/** Parses URLs of an identity provider. @param unencrypted why http is refused, except on the local machine */
function providerUrl(unencrypted: string): (text: string) => string | Refusal {
  return text => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) return refuse('is not an https URL')
    if (url.username !== '' || url.password !== '') return refuse('contains a user or a password')
    return url.protocol === 'https:' || isLoopback(url.hostname) ? text : refuse(unencrypted)
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && /^127\./.test(hostname))
}

export const parseJwksUrl = providerUrl('would fetch keys without encryption')

const parseProviderUrl = providerUrl('would sign people in without encryption')

/** Tokens must have exactly this issuer, and its discovery document is at a path below it. */
export function parseIssuerUrl(text: string): string | Refusal {
  if (/[?#]/.test(text)) return refuse('contains a query or a fragment')
  return parseProviderUrl(text)
}

/** The requested scopes. Without `openid` the provider does not sign anyone in. */
export function parseScope(text: string): string | Refusal {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)) {
    return refuse('is not a list of scopes separated by one space')
  }
  return text.split(' ').includes('openid') ? text : refuse('does not include openid')
}

/** A key of 32 bytes in base64 or base64url. */
export function parseKey(text: string): Uint8Array | Refusal {
  const key = Buffer.from(text, 'base64')
  const canonical = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  if (key.toString('base64').replace(/=+$/, '') !== canonical) return refuse('is not base64')
  return key.length === 32 ? key : refuse(`has ${key.length} bytes`)
}

/** Parameters of URLs of databases and of mail servers that are no secrets. There are too many names for secrets to list those. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set([
  'application_name',
  'connect_timeout',
  'host',
  'port',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
  'tls',
  'uselibpqcompat',
  'user',
])

export function maskUrl(text: string): string {
  return changeUrl(text, url => {
    if (url.password !== '') url.password = MASK
    url.hash = ''
    const names = new Set(url.searchParams.keys())
    for (const name of names) if (!SHOWN_PARAMETERS.has(name)) url.searchParams.set(name, MASK)
  })
}
