/** The secrets of webhooks in the database: encrypted, re-encrypted with a new key, and removed when they have ended. */
import { describe, expect, test } from 'vitest'
import { discardSecret, rotateSecret } from '../../src/admin/webhooks/webhooks.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type SecretKeys, secretKeys, UnreadableSecret } from '../../src/db/webhooks/secret-keys.ts'
import { findSigningWebhook, findUnreadable } from '../../src/db/webhooks/secrets.ts'
import { findWebhook } from '../../src/db/webhooks/webhooks.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { ROTATION_OVERLAP_MS } from '../../src/domain/webhooks/webhook.ts'
import { createWebhookSecrets } from '../../src/jobs/webhook-secrets.ts'
import { createBench } from '../support/engine.ts'
import { addWebhook, PLAIN } from '../support/secrets.ts'

const bench = await createBench()
const { db, clock } = bench
const bytes = (value: number) => Buffer.alloc(32, value)
const [FIRST, SECOND] = [bytes(1), bytes(2)]
const [KEY, OTHER_KEY] = [bytes(11), bytes(12)]
const keyed = secretKeys(KEY, [])
const secretsOf = async (keys: SecretKeys, id: number) => (await findSigningWebhook(db, keys, id))?.secrets

const aWebhook = (keys: SecretKeys) =>
  addWebhook(db, { url: 'https://example.com/' }, clock.now, { secret: FIRST, keys })

/** A webhook whose secret was rotated. */
async function rotated(keys: SecretKeys) {
  const id = await aWebhook(keys)
  await rotateSecret(db, id, { secret: SECOND, keys }, bench.author())
  return id
}

async function stored(id: number) {
  const text = sql`select secret, previous_secret, previous_until from webhook where id = $1`
  const [row] = await db.query<{ secret: Buffer; previous_secret: Buffer | null; previous_until: number | null }>({
    text,
    values: [id],
  })
  if (row === undefined) throw new Error('there is no such webhook')
  return row
}

const upkeep = (keys: SecretKeys) => createWebhookSecrets({ db, keys, valueKey: { bytes: null }, now: () => clock.now })
const run = (keys: SecretKeys) => upkeep(keys).step(new AbortController().signal)

test('both secrets of a rotation are encrypted, and open with the key', async () => {
  const id = await rotated(keyed)
  const { secret, previous_secret } = await stored(id)
  for (const sealed of [secret, previous_secret]) {
    expect(sealed?.subarray(0, 8).toString()).toBe('sealed1:')
    for (const plain of [FIRST, SECOND]) expect(sealed?.includes(plain)).toBe(false)
  }
  expect(await secretsOf(keyed, id)).toEqual({ secret: SECOND, previous_secret: FIRST })
})

test('one secret is encrypted differently each time', () => {
  const place = { webhookId: 1, column: 'secret' } as const
  expect(keyed.seal(FIRST, place)).not.toEqual(keyed.seal(FIRST, place))
})

describe('an encrypted secret does not open', () => {
  test.each([
    ['with another key', secretKeys(OTHER_KEY, [])],
    ['without a key', PLAIN],
  ])('%s', async (_what, keys) => {
    const id = await aWebhook(keyed)
    await expect(findSigningWebhook(db, keys, id)).rejects.toThrow(UnreadableSecret)
    expect(await findUnreadable(db, keys)).toContain(id)
    expect(await findUnreadable(db, keyed)).not.toContain(id)
    await expect(rotateSecret(db, id, { secret: SECOND, keys }, bench.author())).rejects.toThrow(UnreadableSecret)
  })

  test.each(['in the row of another webhook', 'in the other column', 'changed by a bit'])('%s', async where => {
    const place = { webhookId: 7, column: 'secret' } as const
    const sealed = Buffer.from(keyed.seal(FIRST, place))
    const elsewhere = {
      'in the row of another webhook': { ...place, webhookId: 8 },
      'in the other column': { ...place, column: 'previous_secret' as const },
    }[where]
    if (elsewhere === undefined) sealed.writeUInt8(sealed.readUInt8(40) ^ 1, 40)
    expect(() => keyed.open(sealed, elsewhere ?? place)).toThrow(UnreadableSecret)
    expect(keyed.open(keyed.seal(FIRST, place), place)).toEqual(FIRST)
  })
})

describe('the job', () => {
  test.each([
    ['encrypts what is plain', PLAIN, secretKeys(KEY, [])],
    ['encrypts with a new key what the one before encrypted', keyed, secretKeys(OTHER_KEY, [KEY])],
    ['decrypts what was encrypted, when no key is wanted', keyed, secretKeys(null, [KEY])],
  ])('%s', async (_what, before, after) => {
    const id = await rotated(before)
    await run(after)
    const { secret, previous_secret } = await stored(id)
    expect([after.isCurrent(secret), after.isCurrent(previous_secret ?? Buffer.of())]).toEqual([true, true])
    expect(before.isCurrent(secret)).toBe(false)
    expect(await secretsOf(after, id)).toEqual({ secret: SECOND, previous_secret: FIRST })
    await run(after)
    expect(await stored(id)).toMatchObject({ secret, previous_secret })
  })

  test('leaves what no key opens, and goes on with the others', async () => {
    const foreign = await aWebhook(secretKeys(bytes(13), []))
    const before = await stored(foreign)
    const plain = await aWebhook(PLAIN)
    await run(keyed)
    expect(await stored(foreign)).toEqual(before)
    expect(keyed.isCurrent((await stored(plain)).secret)).toBe(true)
  })

  test('removes the secret before a rotation two days after it has signed last, and not earlier', async () => {
    const id = await rotated(keyed)
    clock.now += ROTATION_OVERLAP_MS + 2 * DAY_MS - 1
    await run(keyed)
    expect((await stored(id)).previous_secret).not.toBeNull()
    clock.now += 1
    await run(keyed)
    expect(await stored(id)).toMatchObject({ previous_secret: null, previous_until: null })
    expect(await secretsOf(keyed, id)).toEqual({ secret: SECOND, previous_secret: null })
  })
})

test('a discarded secret is replaced, and its webhook disabled until an administrator enables it', async () => {
  const id = await aWebhook(keyed)
  const keys = secretKeys(OTHER_KEY, [])
  await discardSecret(db, id, { secret: SECOND, keys }, clock.now)
  expect(await secretsOf(keys, id)).toEqual({ secret: SECOND, previous_secret: null })
  expect(await findWebhook(db, id)).toMatchObject({ enabled: false, updated_by: 'sms-quota' })
  const changes = await db.query({
    text: sql`select action, request_id from webhook_change where webhook_id = $1 order by version`,
    values: [id],
  })
  expect(changes.at(-1)).toEqual({ action: 'secret_discarded', request_id: null })
  expect(await discardSecret(db, id + 64_000, { secret: SECOND, keys }, clock.now)).toBeUndefined()
})
