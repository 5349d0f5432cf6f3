/** Keys of webhook secrets: made in the data folder, refused when they do not fit, and given up when they are lost. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { findWebhook } from '../../src/db/webhooks/webhooks.ts'
import { createWebhookSecrets } from '../../src/jobs/webhook-secrets.ts'
import { startSender } from '../http/sender-fixture.ts'
import { freshDatabase } from '../support/database.ts'
import { createBench } from '../support/engine.ts'
import { createSite } from '../support/process.ts'
import { startService } from '../support/service.ts'

const site = await createSite({ prepared: true })
const bench = await createBench()
const AUTH_SECRET = 'a secret for tests only, long enough for HS256'
const key = (byte: number) => Buffer.alloc(32, byte)

test('beside its own database the service makes a key, encrypts with it, and logs no secret', async () => {
  const service = await site.start()
  expect((await stat(join(site.dataDir, 'secrets-key'))).mode & 0o777).toBe(0o600)
  const { body } = await service.call('POST', '/api/sms/admin/webhooks', { body: { url: 'https://example.com/' } })
  const plain = body.secret.slice('whsec_'.length)
  const db = openDatabase({ url: (await connectionOf(site.dataDir)) ?? '' })
  const [row] = await db.query<{ secret: Buffer }>({ text: sql`select secret from webhook` })
  await db.close()
  expect(row?.secret.subarray(0, 8).toString()).toBe('sealed1:')
  expect(row?.secret.includes(Buffer.from(plain, 'base64'))).toBe(false)
  const { code, stdout } = await service.stop()
  expect(code).toBe(0)
  expect(stdout).toContain('"route":"/api/sms/admin/webhooks"')
  expect(stdout).not.toContain(plain)
})

test('a key that does not fit is refused at the start, and discard-secrets gives up what it encrypted', async () => {
  const lost = { secret: key(1), keys: secretKeys(key(2), []) }
  const made = await createWebhook(bench.db, { url: 'https://example.com/' }, lost, bench.author())
  const id = made?.id ?? 0
  const env = { DATABASE_URL: bench.url, AUTH_SECRET, SECRETS_KEY: key(3).toString('base64') }

  const refused = await site.launch(['serve'], env).ended
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(
    `SECRETS_KEY: does not fit: the secrets of webhooks ${id} were encrypted with another key`,
  )
  expect(refused.stderr + refused.stdout).not.toContain(env.SECRETS_KEY)

  // How a process reports it is the same.
  const unset = startService({ database: Promise.resolve(bench), env: { ...env, SECRETS_KEY: '' } })
  await expect(unset).rejects.toMatchObject({
    issues: [
      {
        variable: 'SECRETS_KEY',
        message: expect.stringContaining(`is not set: the secrets of webhooks ${id} were encrypted with a key`),
      },
    ],
  })

  const listed = await site.launch(['discard-secrets'], env).ended
  expect(listed).toMatchObject({ code: 1, stderr: '' })
  expect(listed.stdout).toMatch(new RegExp(`^No key fits the secrets of webhooks ${id}\\.\\nWith --yes, `))
  expect(await findWebhook(bench.db, id)).toMatchObject({ enabled: true })

  const discarded = await site.launch(['discard-secrets', '--yes'], env).ended
  expect(discarded).toMatchObject({ code: 0, stderr: '' })
  expect(discarded.stdout).toMatch(
    new RegExp(`^Replaced the secrets of webhooks ${id} and disabled these webhooks\\.\\n`),
  )
  expect(await findWebhook(bench.db, id)).toMatchObject({ enabled: false })
  const again = await site.launch(['discard-secrets'], env).ended
  expect(again).toEqual({ code: 0, stdout: 'The keys fit all secrets of webhooks.\n', stderr: '' })
})

test('what caps have counted of recipients outlives a new key beside the one before, and begins anew after discard-secrets', async () => {
  const database = freshDatabase()
  const { db, url } = await database
  const keysOf = (now: number, previous?: number) => ({
    SECRETS_KEY: key(now).toString('base64'),
    ...(previous === undefined ? {} : { SECRETS_KEY_PREVIOUS: key(previous).toString('base64') }),
  })
  const start = (env: Record<string, string>) => startSender({ database, env })
  const one = await start(keysOf(1))
  await one.allow({ user_id: 7, limit: 10 })
  await one.allow({ user_id: 7, kind: 'cap', limit: 1, period: 'day', per: 'recipient' })
  const send = async (service: typeof one, id: string) =>
    (await service.ask('consume', { user_id: 7, id, units: 1, recipient: '+4915112345678' })).body.reason ?? 'sent'
  expect([await send(one, 'a'), await send(one, 'b')]).toEqual(['sent', 'cap_reached'])

  const next = await start(keysOf(2, 1))
  expect(await send(next, 'b')).toBe('cap_reached')
  const keys = secretKeys(key(2), [key(1)])
  await createWebhookSecrets({ db, keys, valueKey: { bytes: null }, now: () => next.clock.now }).step(
    new AbortController().signal,
  )
  expect(await send(await start(keysOf(2)), 'b')).toBe('cap_reached')

  const lost = keysOf(3)
  const message = expect.stringContaining('the key of caps on each recipient and tag was encrypted with another key')
  await expect(start(lost)).rejects.toMatchObject({ issues: [{ variable: 'SECRETS_KEY', message }] })
  const env = { DATABASE_URL: url, AUTH_SECRET, ...lost }
  expect(await site.launch(['discard-secrets', '--yes'], env).ended).toMatchObject({ code: 0, stderr: '' })
  const anew = await start(lost)
  expect([await send(anew, 'c'), await send(anew, 'd')]).toEqual(['sent', 'cap_reached'])
  // What was counted under the lost key is given back there, and makes no room.
  expect((await anew.ask('refund', { user_id: 7, id: 'a' })).body).toMatchObject({ refunded: 1 })
  expect(await send(anew, 'e')).toBe('cap_reached')
  expect((await verify(db)).differences).toEqual([])
})
