/** The addresses of the proxies before the service. */
import { BlockList, isIP } from 'node:net'
import { type Refusal, refuse } from './parse.ts'

const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

/** The addresses and networks of proxies. A number of proxies would not say which connections are theirs. */
export function parseProxies(text: string): string[] | Refusal {
  const parts = text.split(',').map(part => part.trim())
  if (!parts.every(part => NAMED.has(part) || isNetwork(part))) {
    return refuse('is no list of addresses and networks')
  }
  const whole = parts.find(part => isWhole(proxiesOf([part])))
  return whole === undefined
    ? parts
    : refuse(`trusts every address (${whole}), so each client could choose the address that it is counted by`)
}

/** @param texts what `parseProxies` returned */
export function proxiesOf(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts.flatMap(text => NAMED.get(text) ?? [text])) {
    const [address = '', bits] = text.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** Whether a network has all addresses of a version: it has the first and the last. */
function isWhole(list: BlockList): boolean {
  const hasAll4 = ['0.0.0.0', '255.255.255.255'].every(address => list.check(address, 'ipv4'))
  return hasAll4 || ['::', `${'ffff:'.repeat(7)}ffff`].every(address => list.check(address, 'ipv6'))
}
