/** Addresses of clients, as limits count them and as the log shows them. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import { proxiesOf } from '../../config/proxies.ts'

/** Returns the address that a request comes from; undefined if its connection has none any more. */
export type AddressOf = (request: {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: IncomingHttpHeaders
}) => string | undefined

/**
 * The address of a connection; behind trusted proxies, the last address in X-Forwarded-For that is not a proxy's. Proxies may
 * add a port or brackets. What is no address ends the search: the request counts as that of the proxy that added it.
 *
 * @param trustProxy addresses and networks of proxies; null: none
 */
export function createAddressOf(trustProxy: readonly string[] | null): AddressOf {
  if (trustProxy === null) return ({ socket }) => socket.remoteAddress
  const proxies = proxiesOf(trustProxy)
  const isProxy = (address: string) => proxies.check(withoutZone(address), isIPv6(address) ? 'ipv6' : 'ipv4')
  return ({ socket, headers }) => {
    let address = socket.remoteAddress
    // Node.js joins several headers of this name with commas.
    const entries = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .reverse()
    for (const entry of entries) {
      if (address === undefined || !isProxy(address)) break
      if (entry.trim() === '') continue
      const forwarded = addressIn(entry.trim())
      if (forwarded === undefined) break
      address = forwarded
    }
    return address
  }
}

/** The address in an entry such as `192.0.2.1:4001`, `[2001:db8::1]:443` or `2001:db8::1`; undefined if there is none. */
function addressIn(entry: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1]
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined
  const address = entry.replace(/^([\d.]+):\d+$/, '$1')
  return isIP(address) === 0 ? undefined : address
}

const withoutZone = (address: string) => address.replace(/%.*$/, '')

/**
 * The part of an address that one client has: an IPv4 address, or the first 64 bits of an IPv6 address, because a client can
 * choose the others freely.
 */
export function clientOf(address: string): string {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  return mappedAddress(groups) ?? `${shown(groups, 4)}::/64`
}

/** The network of an address: the first 24 bits of an IPv4 address, the first 48 of an IPv6 address. */
export function networkOf(address: string): string {
  const client = clientOf(address)
  return client.includes(':') ? `${shown(groupsOf(address), 3)}::/48` : client.replace(/\.\d+$/, '.0/24')
}

/** The eight groups of 16 bits of an IPv6 address. */
function groupsOf(address: string): number[] {
  // URL writes the last 32 bits as two groups, also those that come as an IPv4 address.
  const { hostname } = new URL(`http://[${withoutZone(address)}]`)
  const [head = '', tail = ''] = hostname.slice(1, -1).split('::')
  const starts = head.split(':').filter(Boolean)
  const ends = tail.split(':').filter(Boolean)
  const zeros = Array<string>(8 - starts.length - ends.length).fill('0')
  return [...starts, ...zeros, ...ends].map(group => Number.parseInt(group, 16))
}

function shown(groups: readonly number[], count: number): string {
  return groups
    .slice(0, count)
    .map(group => group.toString(16))
    .join(':')
}

/** The IPv4 address in an IPv4-mapped one, such as ::ffff:192.0.2.1. */
function mappedAddress(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  if (shown(groups, 6) !== '0:0:0:0:0:ffff') return undefined
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
