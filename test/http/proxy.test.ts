import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startService } from '../support/service.ts'

/** Sends an invalid token from an address of this machine. Resolves to the status. */
function refuse(url: string, localAddress: string, forwardedFor: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer invalid', 'x-forwarded-for': forwardedFor }
    request(`${url}/api/sms/me`, { localAddress, headers, agent: false }, response => {
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
