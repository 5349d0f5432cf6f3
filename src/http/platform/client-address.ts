/** Addresses of clients, as limits count them and as the log shows them. */
import { isIPv6 } from 'node:net'

/**
 * The part of an address that one client has: an IPv4 address, or the first 64 bits of an IPv6 address, because a client can
 * choose the others freely.
 */
export function clientOf(address: string): string {
  if (!isIPv6(address)) return address
  return address.includes('.') ? address.slice(address.lastIndexOf(':') + 1) : `${firstGroups(address, 4)}::/64`
}

/** The network of an address: the first 24 bits of an IPv4 address, the first 48 of an IPv6 address. */
export function networkOf(address: string): string {
  const client = clientOf(address)
  return isIPv6(address) && client.includes(':') ? `${firstGroups(address, 3)}::/48` : client.replace(/\.\d+$/, '.0/24')
}

/** The first groups of 16 bits of an IPv6 address, without leading zeros. */
function firstGroups(address: string, count: number): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  const ends = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - groups.length - ends.length)).fill('0')
  const all = tail === undefined ? groups : [...groups, ...zeros, ...ends]
  return all
    .slice(0, count)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')
}
