import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createAddressOf } from '../../src/http/platform/client-address.ts'
import { startService } from '../support/service.ts'

/** Sends an invalid token from an address of this machine. Resolves to the status. */
function refuse(
  url: string,
  localAddress: string,
  forwardedFor?: string,
  path = '/api/sms/me',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const forwarded = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    const headers = { authorization: 'Bearer invalid', ...forwarded }
    request(url, { path, localAddress, headers, agent: false }, response => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}

test('the address of a call comes from trusted proxies only, and from no header of the client', async () => {
  const service = await startService({ env: { TRUST_PROXY: '127.0.0.2', AUTH_FAILURES_PER_MINUTE: '2' } })
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })

  // An untrusted client counts as itself, as often as it changes the header.
  const spoofed = []
  for (let n = 1; n <= 3; n++) spoofed.push(await refuse(url, '127.0.0.3', `203.0.113.${n}`))
  expect(spoofed).toEqual([401, 401, 429])

  // Behind the proxy, each client counts for itself. What it sent itself comes before the address that the proxy adds.
  const proxied = []
  for (let n = 1; n <= 3; n++) proxied.push(await refuse(url, '127.0.0.2', `192.0.2.${n}, 198.51.100.7`))
  expect(proxied).toEqual([401, 401, 429])
  expect(await refuse(url, '127.0.0.2', '198.51.100.8')).toBe(401)
})

test('addresses with a port or brackets are one client each, and what is no address counts as the proxy', async () => {
  const lines: { client?: string }[] = []
  const service = await startService({
    env: { TRUST_PROXY: '127.0.0.2', AUTH_FAILURES_PER_MINUTE: '2', LOG_CLIENT_ADDRESS: 'prefix' },
    onLogLine: line => lines.push(JSON.parse(line)),
  })
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  const from = async (...addresses: string[]) => {
    const statuses = []
    for (const address of addresses) statuses.push(await refuse(url, '127.0.0.2', address))
    return statuses
  }
  expect(await from('9.9.9.7:4001', '9.9.9.7:4002', '9.9.9.7')).toEqual([401, 401, 429])
  expect(await from('[2001:db8::1]:443', '[2001:db8::2]', '2001:db8::3')).toEqual([401, 401, 429])
  expect(await from('unknown', '198.51.100.9, _hidden', '1.2.3.4:x')).toEqual([401, 401, 429])
  const clients = new Set(lines.flatMap(({ client }) => client ?? []))
  expect(clients).toEqual(new Set(['9.9.9.0/24', '2001:db8:0::/48', '127.0.0.0/24']))
})

test('a path that cannot be decoded counts for the client, not for the proxy', async () => {
  const service = await startService({ env: { TRUST_PROXY: '127.0.0.2', AUTH_FAILURES_PER_MINUTE: '1' } })
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  const order: string[] = []
  const ask = async (client: string) => {
    expect(await refuse(url, '127.0.0.2', client, '/%zz')).toBe(400)
    order.push(client)
  }
  await ask('192.0.2.1')
  await Promise.all([ask('192.0.2.1'), ask('192.0.2.2')])
  expect(order).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1'])
})

test("neither health checks of others nor their broken requests delay the proxy's own health checks", async () => {
  const service = await startService({ env: { TRUST_PROXY: '127.0.0.2', AUTH_FAILURES_PER_MINUTE: '2' } })
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  for (let n = 0; n < 3; n++) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: '127.0.0.2' })
    socket.on('error', () => {}).end('nonsense\r\n\r\n')
    await once(socket.resume(), 'close')
  }
  const order: string[] = []
  const check = async (name: string, path: string, client?: string) => {
    expect(await refuse(url, '127.0.0.2', client, path)).toBe(200)
    order.push(name)
  }
  await check('client', '/livez', '192.0.2.1')
  await check('client', '/readyz', '192.0.2.1')
  await Promise.all([
    check('client', '/livez', '192.0.2.1').then(() => check('client', '/readyz', '192.0.2.1')),
    check('proxy', '/livez').then(() => check('proxy', '/readyz')),
  ])
  expect(order).toEqual(['client', 'client', 'proxy', 'proxy', 'client', 'client'])
})

test.each([
  ['10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['10.0.0.1', '192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['10.0.0.1', '192.0.2.1:80,10.0.0.2:81 , [fd00::1]:82', '192.0.2.1'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', '192.0.2.1, , 10.0.0.2', '192.0.2.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '192.0.2.1:', '10.0.0.1'],
  ['10.0.0.1', '[192.0.2.1]', '10.0.0.1'],
  ['10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['::ffff:10.0.0.1', '192.0.2.1, ::ffff:10.0.0.2', '192.0.2.1'],
  ['fd00::7', '::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['fe80::7%eth0', '192.0.2.1', '192.0.2.1'],
  ['169.254.7.7', '192.0.2.1', '192.0.2.1'],
  ['127.8.8.8', '192.0.2.1', '192.0.2.1'],
  ['11.0.0.1', '192.0.2.1', '11.0.0.1'],
  [undefined, '192.0.2.1', undefined],
])('a call from %s that was forwarded for %s comes from %s', (remoteAddress, forwarded, address) => {
  const addressOf = createAddressOf(['10.0.0.0/8', 'fd00::/8', 'linklocal', 'loopback'])
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  expect(addressOf({ socket: { remoteAddress }, headers })).toBe(address)
  expect(createAddressOf(null)({ socket: { remoteAddress }, headers })).toBe(remoteAddress)
})
