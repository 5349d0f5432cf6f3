/** The API on webhooks whose secrets are encrypted. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { writeSecrets } from '../../src/db/webhooks/secrets.ts'
import { whenDone } from '../support/cleanup.ts'
import { startService } from '../support/service.ts'

const AUTH_SECRET = 'a secret for tests only, long enough for HS256'
const KEY = Buffer.alloc(32, 1)
const service = await startService({ env: { SECRETS_KEY: KEY.toString('base64') } })
const { call, db } = service
const WEBHOOKS = '/api/sms/admin/webhooks'
const body = { url: 'https://example.com/' }

test('a repeated call shows the secret again, from its encrypted form', async () => {
  const headers = { 'idempotency-key': 'create' }
  const { id, secret } = (await call('POST', WEBHOOKS, { body, headers })).body
  const [row] = await db.query<{ secret: Buffer }>({
    text: sql`select secret from webhook where id = $1`,
    values: [id],
  })
  expect(row?.secret.includes(Buffer.from(secret.slice('whsec_'.length), 'base64'))).toBe(false)
  expect((await call('POST', WEBHOOKS, { body, headers })).body.secret).toBe(secret)

  const keyed = { headers: { 'idempotency-key': 'rotate' } }
  const rotated = (await call('POST', `${WEBHOOKS}/${id}/rotate-secret`, keyed)).body.secret
  expect((await call('POST', `${WEBHOOKS}/${id}/rotate-secret`, keyed)).body.secret).toBe(rotated)
  expect((await call('POST', WEBHOOKS, { body, headers })).body.secret).toBeNull()
})

test('a process without the key of a webhook refuses what needs its secret, for a retry, and serves the rest', async () => {
  const { id } = (await call('POST', WEBHOOKS, { body })).body
  const foreign = secretKeys(Buffer.alloc(32, 2), [])
  const secrets = { secret: Buffer.alloc(32, 3), previous_secret: null }
  await db.transaction(tx => writeSecrets(tx, foreign, { id, previous_until: null }, secrets))
  for (const path of ['rotate-secret', 'test']) {
    const answer = await call('POST', `${WEBHOOKS}/${id}/${path}`)
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(answer.body.detail).toMatch(/no key for the secret of the webhook/)
    expect(answer.headers['retry-after']).toBe('1')
  }
  expect(await call('PUT', `${WEBHOOKS}/${id}`, { body: { description: 'new' } })).toMatchObject({ status: 200 })
  expect(await call('GET', `${WEBHOOKS}/${id}`)).toMatchObject({ status: 200 })
  expect(await call('DELETE', `${WEBHOOKS}/${id}`)).toMatchObject({ status: 204 })
})

/** Starts another service on the database, and returns what it logs. */
async function startBeside(env: Record<string, string>): Promise<string[]> {
  const lines: string[] = []
  const loaded = loadConfig({ DATABASE_URL: service.databaseUrl, AUTH_SECRET, ...env })
  if ('issues' in loaded) throw new Error('the configuration of the test is invalid')
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const { close } = await createApp(loaded.config, log, { runJobs: false })
  whenDone(close)
  return lines
}

test('a service starts with any key that fits, and says when secrets are not encrypted', async () => {
  const other = Buffer.alloc(32, 9).toString('base64')
  const known = KEY.toString('base64')
  await expect(startBeside({})).rejects.toThrow(/SECRETS_KEY: is not set: the secrets of webhooks \d/)
  await expect(startBeside({ SECRETS_KEY: other })).rejects.toThrow('SECRETS_KEY: does not fit')
  expect(await startBeside({ SECRETS_KEY: other, SECRETS_KEY_PREVIOUS: known })).toEqual([])
  expect(await startBeside({ SECRETS_KEY: 'off', SECRETS_KEY_PREVIOUS: known })).toEqual([])
  for (const { id } of (await call('GET', WEBHOOKS)).body.items) await call('DELETE', `${WEBHOOKS}/${id}`)
  expect(await startBeside({})).toEqual(['secrets: webhook secrets are stored as plain text; set SECRETS_KEY'])
})
