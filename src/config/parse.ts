/** How the texts of variables are read and shown: a reader answers the value, or why it refuses the text. */
import { isIP } from 'node:net'
import { isAbsolute, normalize } from 'node:path'

/** Why a text is refused. What is accepted is in the table and follows in the message. */
export class Refusal {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

export const MASK = '********'

export function whole(min: number, max: number): (text: string) => number | Refusal {
  return text => {
    if (!/^(0|[1-9]\d*)$/.test(text)) return new Refusal('is not a whole number')
    const value = Number(text)
    return value >= min && value <= max ? value : new Refusal('is out of bounds')
  }
}

export function parseFlag(text: string): boolean | Refusal {
  return text === 'true' || text === 'false' ? text === 'true' : new Refusal('is neither')
}

export function parseText(text: string): string | Refusal {
  return /\p{Cc}/u.test(text) ? new Refusal('holds control characters') : text
}

export function parseWord(text: string): string | Refusal {
  return /[\s\p{Cc}]/u.test(text) ? new Refusal('holds spaces') : text
}

export function parseHost(text: string): string | Refusal {
  const isName = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?$/i.test(text)
  return isName || isIP(text) !== 0 ? text : new Refusal('is neither')
}

export function parseFolder(text: string): string | Refusal {
  return isAbsolute(text) && !text.includes('\0') ? normalize(text) : new Refusal('is not absolute')
}

export function parseDatabaseUrl(text: string): string | Refusal {
  const url = URL.parse(text)
  if (url === null) return new Refusal('is not a URL')
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') return new Refusal('is not a PostgreSQL URL')
  // Each of # ? / ends the password early, and what is left of it would pass for a path or a parameter.
  if (url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) {
    return new Refusal('has a special character that is not escaped')
  }
  try {
    decodeURIComponent(`${url.username}${url.password}${url.hostname}${url.pathname}`)
  } catch {
    return new Refusal('has a % that begins no escape')
  }
  return text
}

/** Reads addresses of an identity provider. @param inTheClear what is wrong with http, where others could listen */
function providerUrl(inTheClear: string): (text: string) => string | Refusal {
  return text => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) return new Refusal('is not an https URL')
    if (url.username !== '' || url.password !== '') return new Refusal('holds a user or a password')
    return url.protocol === 'https:' || isLoopback(url.hostname) ? text : new Refusal(inTheClear)
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && /^127\./.test(hostname))
}

export const parseJwksUrl = providerUrl('would fetch keys in the clear')

const parseProviderUrl = providerUrl('would sign in in the clear')

/** An issuer is compared letter by letter, and its discovery document lies below it. */
export function parseIssuerUrl(text: string): string | Refusal {
  if (/[?#]/.test(text)) return new Refusal('holds a query or a fragment')
  return parseProviderUrl(text)
}

/** The scopes to ask for: without `openid` it is no sign-in. */
export function parseScope(text: string): string | Refusal {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)) {
    return new Refusal('is not a list of words with one space between them')
  }
  return text.split(' ').includes('openid') ? text : new Refusal('has no openid')
}

export function maskUrl(text: string): string {
  const url = new URL(text)
  if (url.password !== '') url.password = MASK
  for (const name of url.searchParams.keys()) if (/pass|secret|token/i.test(name)) url.searchParams.set(name, MASK)
  return url.href
}
