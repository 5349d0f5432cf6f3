/** Servers with certificates of a CA of one's own, which NODE_EXTRA_CA_CERTS names. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { createCertificate } from '../support/certificate.ts'
import { whenDone } from '../support/cleanup.ts'
import { createSite } from '../support/process.ts'

const certificate = createCertificate('ca of the tests', Date.UTC(2100, 0, 1))
const folder = await mkdtemp(join(tmpdir(), 'sms-quota-ca-'))
whenDone(() => rm(folder, { recursive: true }))
const site = await createSite({ prepared: true })

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('key server, mail server and receivers are reached with certificates of a CA that NODE_EXTRA_CA_CERTS names', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'a' }] }
  const web = createServer(certificate, (request, response) => {
    request.resume().on('end', () => response.end(request.method === 'GET' ? JSON.stringify(keys) : 'ok'))
  })
  const mail = new SMTPServer({ ...certificate, secure: true, authOptional: true, disableReverseLookup: true })
  whenDone(() => {
    web.closeAllConnections()
    web.close()
    mail.close()
  })
  const url = `https://localhost:${await portOf(web)}`
  await expect(fetch(url), 'this process does not know the CA').rejects.toThrow()
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, certificate.cert, { mode: 0o644 })
  const service = await site.start({
    NODE_EXTRA_CA_CERTS: ca,
    AUTH_JWKS_URL: `${url}/keys`,
    AUTH_ISSUER: 'https://issuer.example',
    AUTH_AUDIENCE: 'sms-quota',
    SMTP_URL: `smtps://localhost:${await portOf(mail.server)}`,
    MAIL_FROM: 'quotas@sms.example',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
  const token = await new SignJWT({ roles: ['sms-quota:admin'] })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .setSubject('ada')
    .setIssuer('https://issuer.example')
    .setAudience('sms-quota')
    .setExpirationTime('1h')
    .sign(privateKey)
  const headers = { authorization: `Bearer ${token}` }
  for (const body of [
    { url: `${url}/hook` },
    { kind: 'slack', url: `${url}/slack` },
    { kind: 'email', addresses: ['ops@sms.example'] },
  ]) {
    const made = await service.call('POST', '/api/sms/admin/webhooks', { body, headers })
    expect(made).toMatchObject({ status: 201 })
    const tested = await service.call('POST', `/api/sms/admin/webhooks/${made.body.id}/test`, { headers })
    expect(tested.body, JSON.stringify(body)).toMatchObject({ delivered: true, error: null })
  }
  expect((await service.stop()).code).toBe(0)
})
