/**
 * The addresses that webhooks may be sent to: those of the public internet, unless the operator allows private ones. An
 * administrator sets the URL, but others control what its host name resolves to, so the address is checked when the
 * connection is made.
 */
import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** IPv4 addresses that are not public (IANA's special-purpose address registry). */
const SPECIAL_V4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/**
 * A public address that leads to the host of each virtual machine of Azure: its agent's configuration and DNS. Those of other
 * clouds, such as 169.254.169.254, 100.100.100.200, 192.0.0.192 and fd00:ec2::254, are in networks that are not public.
 */
const AZURE_HOST = '168.63.129.16'

/**
 * Special addresses inside 2000::/3: protocols (such as Teredo), documentation, and 6to4, which wraps any IPv4 address.
 */
const SPECIAL_V6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [net, prefix] of SPECIAL_V4) special.addSubnet(net, prefix, 'ipv4')
special.addAddress(AZURE_HOST, 'ipv4')
for (const [net, prefix] of SPECIAL_V6) special.addSubnet(net, prefix, 'ipv6')

/** All other IPv6 addresses are loopback, link-local, unique local, multicast, or wrap an IPv4 address. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The IP address in a URL; undefined if its host is a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(address) === 0 ? undefined : address
}

/** The host has no address that webhooks may be sent to. */
export class ForbiddenAddress extends Error {
  override name = 'ForbiddenAddress'
  constructor() {
    super('the address is not on the public internet')
  }
}

/** Resolves a host name to its public addresses only. The connection that uses it can reach no others. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, [])
    const allowed = addresses.filter(({ address }) => isPublicAddress(address))
    const [first] = allowed
    if (first === undefined) return callback(new ForbiddenAddress(), [])
    if (options.all === true) callback(null, allowed)
    else callback(null, first.address, first.family)
  })
}
