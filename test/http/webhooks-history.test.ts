import { expect, test } from 'vitest'
import { disableWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call, clock, db } = service
const WEBHOOKS = '/api/sms/admin/webhooks'
const body = { url: 'https://example.com/hook' }

async function create() {
  const answer = await call('POST', WEBHOOKS, { body, headers: { 'x-request-id': 'call-1' } })
  const { secret, ...shown } = answer.body
  return { id: shown.id as number, secret: secret as string, shown, path: `${WEBHOOKS}/${shown.id}` }
}
const historyOf = async (id: number) => (await call('GET', `/api/sms/admin/audit?resource=webhook&thing_id=${id}`)).body

test('the audit of a webhook lists who changed what, when and by which call, newest first, also after its deletion', async () => {
  const { path, shown } = await create()
  const at = clock.now
  clock.now += 1_000
  const colleague = await service.token({ sub: 'colleague', roles: ['sms-quota:admin'] })
  const updated = (await call('PUT', path, { body: { description: 'new' }, token: colleague })).body
  const rotated = (await call('POST', `${path}/rotate-secret`)).body
  await db.transaction(tx => disableWebhook(tx, shown.id, 'gone', clock.now))
  await call('DELETE', path)

  const history = await historyOf(shown.id)
  expect(history).toMatchObject({ page_size: 20, next_cursor: null })
  const [deletion, disabling, rotation, update, creation, ...more] = history.items
  expect(more).toEqual([])
  expect(creation).toMatchObject({
    thing_id: shown.id,
    version: 1,
    action: 'created',
    at: new Date(at).toISOString(),
    actor: '1',
    request_id: 'call-1',
    before: null,
    after: shown,
  })
  expect(update).toMatchObject({ version: 2, action: 'updated', actor: 'colleague', before: shown, after: updated })
  expect(update.at).toBe(new Date(at + 1_000).toISOString())
  const { secret: _, ...rotatedShown } = rotated
  expect(rotation).toMatchObject({ version: 3, action: 'secret_rotated', after: rotatedShown })
  const disabled = { enabled: false, disabled_reason: 'gone', updated_by: 'sms-quota' }
  expect(disabling).toMatchObject({
    version: 4,
    action: 'disabled',
    actor: 'sms-quota',
    request_id: null,
    after: disabled,
  })
  expect(deletion).toMatchObject({ version: 5, action: 'deleted', before: disabled, after: null })
})

test('the audit of a webhook holds no secret', async () => {
  const { id, path, secret } = await create()
  const rotated = (await call('POST', `${path}/rotate-secret`)).body.secret
  const rows = await db.query<{ row: string }>({
    text: sql`select c::text as row from webhook_change c where webhook_id = $1`,
    values: [id],
  })
  expect(rows).toHaveLength(2)
  for (const text of [secret, rotated]) {
    const bytes = Buffer.from(text.slice('whsec_'.length), 'base64')
    for (const form of [bytes.toString('base64'), bytes.toString('hex')])
      expect(JSON.stringify(rows)).not.toContain(form)
  }
})

test('a repeated call is recorded once, and a refused one not at all', async () => {
  const headers = { 'idempotency-key': 'once' }
  const { id } = (await call('POST', WEBHOOKS, { body, headers })).body
  await call('POST', WEBHOOKS, { body, headers })
  await call('PUT', `${WEBHOOKS}/${id}`, { body: { url: 'http://127.0.0.1/' } })
  expect((await historyOf(id)).items).toHaveLength(1)
})
