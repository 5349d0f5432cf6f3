/** The database's URL, `postgres://user:password@host:5432/database`, in which several hosts may stand: `a:5432,b:5432`. */

/** A URL for each host, in their order. A URL without a list of hosts stays as it is. */
export function hostUrls(url: string): [string, ...string[]] {
  const { before, hosts, behind } = partsOf(url)
  const [first = '', ...others] = hosts.map(host => `${before}${host}${behind}`)
  return [first, ...others]
}

/** Replaces the list of hosts by the first one while `change` changes the rest of the URL. */
export function changeUrl(url: string, change: (url: URL) => void): string {
  const changed = new URL(hostUrls(url)[0])
  change(changed)
  const { hosts } = partsOf(url)
  if (hosts.length === 1) return changed.href
  const { before, behind } = partsOf(changed.href)
  return `${before}${hosts.join()}${behind}`
}

/** The URL with the host and the port of a node. User, password, database and the rest are the same on all nodes. */
export function nodeUrl(url: string, { host, port }: { readonly host: string; readonly port: number }): string {
  const changed = new URL(hostUrls(url)[0])
  changed.hostname = host.includes(':') ? `[${host}]` : host
  changed.port = String(port)
  changed.searchParams.delete('host')
  changed.searchParams.delete('port')
  return changed.href
}

/** The part before the hosts ends with the last @ before the path; a password can contain a comma. */
function partsOf(url: string): { before: string; hosts: string[]; behind: string } {
  const [, before = '', hosts = '', behind = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/is.exec(url) ?? [
    '',
    '',
    url,
  ]
  return { before, hosts: hosts.split(','), behind }
}

const VERIFYING = new Set(['verify-full', 'verify-ca', 'require'])

/**
 * Whether a host is not this machine, and the connection to it is not encrypted with a verified certificate. The driver
 * verifies with each of these modes, unless the URL asks for libpq's looser meaning.
 */
export function isUnencrypted(url: string): boolean {
  return hostUrls(url).some(text => {
    const { searchParams } = new URL(text)
    const mode = searchParams.get('sslmode') ?? ''
    const isVerified = mode === 'verify-full' || (VERIFYING.has(mode) && !searchParams.has('uselibpqcompat'))
    return isBeyondThisMachine(text) && !isVerified
  })
}

/** Whether a host of the URL is not this machine. */
export function isBeyondThisMachine(url: string): boolean {
  return hostUrls(url).some(text => {
    const { hostname, searchParams } = new URL(text)
    return !isLocal(searchParams.get('host') ?? decodeURIComponent(hostname))
  })
}

/** A Unix socket (a folder, or no host at all) or an address of this machine. */
function isLocal(host: string): boolean {
  return host === '' || host.startsWith('/') || host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}
