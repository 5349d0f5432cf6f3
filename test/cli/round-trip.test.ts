/** What an export of quotas writes, an import reads back: as CSV and as newline-delimited JSON, by id and by reference. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { invisibleIn } from '../../src/domain/basics/invisible.ts'
import { anchorFor } from '../domain/any-anchor.ts'
import { runs } from '../support/runs.ts'
import { startService } from '../support/service.ts'
import { run as runCommand } from '../support/terminal.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'sms-quota-round-trip-'))
afterAll(async () => {
  await service.app.close()
  await rm(folder, { recursive: true })
})
const run = (...words: string[]) =>
  runCommand(words, { env: { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.adminToken } })

let lastUser = 1_000
type Settings = Record<string, unknown>

async function quotasOf(user: number): Promise<Settings[]> {
  const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=id`)
  return body.items
}

/** The exported fields of a quota that an import sets. */
function settingsOf({
  user_id,
  kind,
  period,
  anchor,
  time_zone,
  name,
  limit,
  external_ref,
  metadata,
  ...quota
}: Settings) {
  const { rollover_limit, overage_limit, priority, starts_at, expires_at, per, counts } = quota
  const { countries, message_types, alert_at, enabled } = quota
  const identity = { user_id, kind, period, anchor, time_zone, per, counts, external_ref, name, metadata }
  const units = { limit, rollover_limit, overage_limit, priority, starts_at, expires_at }
  return { ...identity, ...units, countries, message_types, alert_at, enabled }
}

const pieces = fc.constantFrom(
  ...'=+-@\t\r\n;,\'" |[]{}ä😀',
  'null',
  'TRUE',
  '\r\n',
  '＝',
  '\u00A0',
  'Müller',
  '\uFFFD',
  '1.000',
)
const text = fc.oneof(
  fc.constantFrom(
    '',
    "'",
    "''",
    'null',
    'NULL',
    "'null",
    '[]',
    '{}',
    ' ',
    'true',
    '007',
    '2027-12-31',
    'sep=;',
    '=1+1',
    '\\N',
    '#N/A',
    "'#REF!",
    '####',
    '1.23E+11',
    '="0042"',
    '#TYPE x',
    '\x1A',
  ),
  fc.array(pieces, { maxLength: 12 }).map(parts => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 20 }).filter(value => value.isWellFormed() && !value.includes('\0')),
)
const types = fc.uniqueArray(fc.constantFrom('null', 'otp', 'true', '7'), { minLength: 1 })
const units = fc.oneof(fc.constantFrom(0, 1, 10 ** 12), fc.nat())
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })

const grant = fc.record({
  name: orNull(text),
  limit: orNull(units),
  priority: fc.nat(255),
  starts_at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-03-01T12:34:56.789Z', '2030-01-01T00:00:00.000Z'),
  expires_at: fc.constantFrom(null, '2031-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z', '2030-01-02T00:00:00.000Z'),
  window: fc
    .tuple(fc.constantFrom(null, 'hour', 'day', 'week', 'month', 'year'), fc.nat(2_000))
    .map(([period, n]) => ({ period, anchor: anchorFor(period, n) })),
  time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
  countries: orNull(fc.uniqueArray(fc.constantFrom('DE', 'NO', '001', 'AT'), { minLength: 1 })),
  message_types: orNull(types),
  alert_at: fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 4 }),
  enabled: fc.boolean(),
  external_ref: orNull(
    text.filter(value => value !== '' && value.trim() === value && invisibleIn(value) === undefined),
  ),
  metadata: fc.dictionary(fc.constantFrom('contract', 'a.b', 'constructor', 'null'), text, { noNullPrototype: true }),
})
const counting = fc.record({
  per: fc.constantFrom(null, 'country', 'recipient', 'tag'),
  counts: fc.constantFrom('units', 'messages'),
})
/** A cap with the other settings of a grant, or a grant with those that only a grant has. */
const draft = fc
  .tuple(grant, orNull(counting), units, units)
  .map(([{ window, ...settings }, counted, rollover, overage]) => {
    const quota = { ...settings, ...window }
    if (counted !== null) {
      const cap = { ...quota, counts: counted.counts, kind: 'cap', limit: quota.limit ?? 0 }
      const each = counted.per === null || quota.period === null ? {} : { per: counted.per, alert_at: [] }
      return { ...cap, ...each, rollover_limit: 0, overage_limit: 0 }
    }
    const rollover_limit = quota.limit === null || quota.period === null ? 0 : rollover
    return { ...quota, kind: 'grant', rollover_limit, overage_limit: quota.limit === null ? 0 : overage }
  })
const drafts = fc.uniqueArray(draft, {
  minLength: 1,
  maxLength: 5,
  comparator: (one, other) => one.external_ref !== null && one.external_ref === other.external_ref,
})

/** Creates quotas of a new user. */
async function create(quotas: readonly Settings[]): Promise<number> {
  lastUser += 1
  for (const quota of quotas) {
    const answer = await service.call('POST', '/api/sms/admin/quota', { body: { ...quota, user_id: lastUser } })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  }
  return lastUser
}

async function exported(user: number, ...more: string[]): Promise<string> {
  const { code, stdout } = await run('export', 'quotas', '--filter', `user_id=${user}`, ...more)
  expect(code).toBe(0)
  const file = join(folder, 'quotas')
  await writeFile(file, stdout)
  return file
}

/** Makes each setting another one. */
async function changeAll(user: number): Promise<void> {
  for (const { id, kind, per, limit, starts_at } of await quotasOf(user)) {
    const body = {
      name: 'Changed',
      limit: Number(limit) === 5 ? 6 : 5,
      rollover_limit: 0,
      overage_limit: 0,
      priority: 7,
      ...(starts_at === '2030-01-01T00:00:00.000Z' ? { starts_at: '2030-01-01T12:00:00Z' } : {}),
      expires_at: '2033-01-01T00:00:00Z',
      countries: ['CH'],
      message_types: ['changed'],
      alert_at: per === null ? [99] : [],
      enabled: kind === 'cap',
      external_ref: `changed ${id}`,
      metadata: { changed: 'yes' },
    }
    const answer = await service.call('PUT', `/api/sms/admin/quota/${id}`, { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
}

test.each(['csv', 'ndjson'])('by id, %s changes nothing, and brings back each setting', async format => {
  await fc.assert(
    fc.asyncProperty(drafts, async quotas => {
      const user = await create(quotas)
      const before = await quotasOf(user)
      const file = await exported(user, '--format', format)
      const unchanged = `created 0, updated 0, unchanged ${quotas.length}, refused 0\n`
      expect(await run('import', file)).toEqual({ code: 0, stdout: unchanged, stderr: '' })
      expect(await quotasOf(user)).toEqual(before)
      await changeAll(user)
      const { code, stdout, stderr } = await run('import', file)
      expect([code, stdout], stderr).toEqual([0, `created 0, updated ${quotas.length}, unchanged 0, refused 0\n`])
      expect((await quotasOf(user)).map(settingsOf)).toEqual(before.map(settingsOf))
    }),
    { numRuns: runs(12) },
  )
})

const FIELDS = Object.keys(settingsOf({})).join(',')

test('by reference, CSV changes nothing, and creates each quota as it was', async () => {
  await fc.assert(
    fc.asyncProperty(drafts, async all => {
      const quotas = all.map((quota, index) => ({ ...quota, external_ref: quota.external_ref ?? `null ${index}` }))
      const user = await create(quotas)
      const before = await quotasOf(user)
      const file = await exported(user, '--format', 'csv', '--fields', FIELDS)
      const unchanged = `created 0, updated 0, unchanged ${quotas.length}, refused 0\n`
      expect(await run('import', file)).toEqual({ code: 0, stdout: unchanged, stderr: '' })
      for (const { id } of before) await service.call('DELETE', `/api/sms/admin/quota/${id}`)
      const { code, stdout, stderr } = await run('import', file)
      expect([code, stdout], stderr).toEqual([0, `created ${quotas.length}, updated 0, unchanged 0, refused 0\n`])
      expect((await quotasOf(user)).map(settingsOf)).toEqual(before.map(settingsOf))
    }),
    { numRuns: runs(12) },
  )
})

test.each(['csv', 'ndjson'])('the quotas of a plan, as %s, change nothing', async format => {
  const slots = [
    { slot: 'a', limit: 5, period: 'month' },
    { slot: 'b', kind: 'cap', limit: 1, period: 'day' },
  ]
  const plan = await service.call('POST', '/api/sms/admin/plans', { body: { name: 'Basic, "A"', slots } })
  lastUser += 1
  await service.call('PUT', `/api/sms/admin/users/${lastUser}/plan`, { body: { plan_id: plan.body.id } })
  await service.call('PUT', `/api/sms/admin/plans/${plan.body.id}`, { body: { name: 'Basic, B' } })
  const before = await quotasOf(lastUser)
  const file = await exported(lastUser, '--format', format)
  const unchanged = 'created 0, updated 0, unchanged 2, refused 0\n'
  expect(await run('import', file)).toEqual({ code: 0, stdout: unchanged, stderr: '' })
  expect(await quotasOf(lastUser)).toEqual(before)
})

test('the service takes the lines of its export', async () => {
  const user = await create([
    { limit: 5, period: 'month', name: 'A' },
    { limit: null, external_ref: 'null' },
  ])
  const lines = await service.call('GET', `/api/sms/admin/export/quotas?user_id=${user}`)
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await service.call('POST', '/api/sms/admin/quota/import', { body: String(lines.body), headers })
  expect(JSON.parse(String(answer.body))).toEqual({ record: 'end', created: 0, updated: 0, unchanged: 2, failed: 0 })
})
