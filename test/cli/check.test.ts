/** Each check of the database that `config --check` makes, and what it says when that does not fit. */
import { describe, expect, inject, test } from 'vitest'
import { createWebhookOnce } from '../../src/admin/webhooks/webhooks-once.ts'
import { check as runCheck } from '../../src/cli/check.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { createMailServer } from '../support/mail-server.ts'
import { printed } from '../support/printed.ts'
import { plainRole } from '../support/role.ts'
import { rawSql } from '../support/sql.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const [KEY, OTHER_KEY] = [keyOf(1), keyOf(2)]
const AUTHOR = { now: Date.parse('2026-03-15T12:00:00Z'), actor: 'ada', requestId: 'test' }
const SECRET = { AUTH_SECRET: 'correct horse battery staple, twice' }

async function check(url: string, env: Record<string, string> = {}) {
  const loaded = loadConfig({ ...SECRET, DATABASE_URL: url, ...env })
  if ('issues' in loaded) throw new ConfigError(loaded.issues)
  const { code, stdout, stderr } = await printed(() => runCheck(loaded.config))
  return { code, stderr, lines: stdout.replace(/^\n/, '') }
}

describe('config --check', async () => {
  const { url, db } = await freshDatabase()
  const empty = await emptyDatabase()

  function withOptions(options: string): string {
    const changed = new URL(url)
    changed.searchParams.set('options', options)
    return changed.href
  }

  test('prints a line for each check', async () => {
    const { code, stderr, lines } = await check(url)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(lines).toMatch(
      /^ {2}connection {3}ok: to the database sms_quota_test_\w+ as the role \S+\n {2}sessions {5}ok: each connection has its own\n {2}version {6}ok: PostgreSQL \d.*\n {2}encoding {5}ok: UTF8\n {2}durability {3}ok: fsync \w+, full_page_writes \w+, synchronous_commit \w+\n {2}connections {2}ok: a process uses up to 23 of \d+; \d+ are in use now.*\n {2}TLS {10}ok: not needed on this machine\n {2}writes {7}ok: the server takes them\n {2}schema {7}ok: has all migrations of this version\n(?: {2}cluster {6}ok: Citus, .*\n)? {2}role {9}ok: may change the schema and its rows, and end its own sessions\n {2}secrets {6}ok: those of webhooks are plain text; SECRETS_KEY encrypts them\n {2}clock {8}ok: this machine's and the database's differ by \d+ ms\nThe database fits.\n$/,
    )
  })

  test('asks the SMTP server for TLS, and says what to set where a private one has none', async () => {
    const server = await createMailServer()
    const mail = (host: string, query = '') =>
      check(url, { MAIL_FROM: 'a@b.example', SMTP_URL: `smtp://${host}:${server.port}${query}` })
    // An address that leads to this machine, and is not known to.
    const without = await mail('0.0.0.0')
    expect(without.code).toBe(1)
    expect(without.lines).toMatch(/ {2}mail {9}wrong: .*ETLS.*\?tls=off/)
    const local = await mail('127.0.0.1', '?tls=off')
    expect(local).toMatchObject({ code: 0, stderr: '' })
    expect(local.lines).toMatch(/ {2}mail {9}ok: the SMTP server takes connections, without TLS\n/)
    server.isDown = true
    expect((await mail('127.0.0.1')).lines).toMatch(/ {2}mail {9}wrong: the server did not/)
  })

  test('names all that does not fit', async () => {
    const { code, stderr, lines } = await check(
      withOptions('-c synchronous_commit=off -c default_transaction_read_only=on'),
      { DATABASE_POOL_SIZE: '1000' },
    )
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(lines).toContain('durability   wrong: synchronous_commit is off, so it can lose confirmed commits; set')
    expect(lines).toMatch(
      /connections {2}wrong: this process uses up to 1013 connections, and the database allows \d+;/,
    )
    expect(lines).toContain('writes       wrong: the server takes no writes: it is a standby, or default_transaction')
    // The nodes of a cluster allow fewer connections, too.
    const failed = inject('nodes') === null ? '3 of 12' : '4 of 13'
    expect(lines.endsWith(`\n${failed} checks failed.\n`)).toBe(true)
  })

  test('tells missing migrations that a start applies from those that it does not', async () => {
    const applied = await check(empty.url)
    expect(applied).toMatchObject({ code: 0, stderr: '' })
    expect(applied.lines).toMatch(
      /schema +ok: lacks the migration 0001_\S+ and \d+ more; the next start applies them\n/,
    )
    expect(applied.lines).toMatch(/role +ok: there are no tables yet; may create them, and then owns them/)
    expect(applied.lines).toMatch(/secrets +ok: none are stored yet\n/)
    const off = await check(empty.url, { MIGRATE: 'off' })
    expect(off.lines).toMatch(
      /role +wrong: there are no tables yet whose rights could be checked; run "sms-quota migrate"/,
    )
    expect(off.code).toBe(1)
    expect(off.lines).toMatch(
      /schema +wrong: lacks the migration 0001_\S+ .*; run "sms-quota migrate", or set MIGRATE=auto\n/,
    )
    expect(await empty.db.query({ text: sql`select where to_regclass('schema_migration') is not null` })).toEqual([])
  })

  test('says what a role may not do', async () => {
    const { name: role, url: asRole } = await plainRole({ url, db })

    await db.query({ text: rawSql`grant select on all tables in schema public to ${role}` })
    const reader = await check(asRole)
    expect(reader.code).toBe(1)
    expect(reader.lines).toMatch(
      /role +wrong: it may not read and change the table \w+; make it the owner, or grant select,/,
    )
    expect(reader.lines).toContain(
      '; it may not create tables in the schema public; grant create on it, or set MIGRATE=off',
    )
    expect(reader.lines).toContain('; it does not own the table ')

    await db.query({ text: rawSql`grant insert, update, delete on all tables in schema public to ${role}` })
    const unnumbered = await check(asRole, { MIGRATE: 'off' })
    expect(unnumbered.lines).toMatch(
      /role +wrong: it may not take numbers from the sequence \w+; make it the owner, or grant usage\n/,
    )

    await db.query({ text: rawSql`grant usage on all sequences in schema public to ${role}` })
    const writer = await check(asRole, { MIGRATE: 'off' })
    expect(writer.lines).toMatch(/role +ok: may change all rows, and end its own sessions\n/)
    expect(writer.code).toBe(0)
  })

  test.each([
    [
      'another key',
      KEY,
      OTHER_KEY,
      /^does not fit: the secrets of webhooks [\d, ]+ were encrypted with another key\. /,
    ],
    ['no key', KEY, undefined, /^is not set: the secrets of webhooks [\d, ]+ were encrypted with a key\. /],
    ['off', KEY, 'off', /^does not fit: the secrets of webhooks/],
  ])('says that stored secrets do not fit %s', async (_, stored, given, fault) => {
    const keys = secretKeys(Buffer.from(stored, 'base64'), [])
    await createWebhookOnce(db, { url: 'https://example.com' }, { secret: new Uint8Array(32), keys }, AUTHOR, undefined)
    const env: Record<string, string> = given === undefined ? {} : { SECRETS_KEY: given }
    const { code, lines } = await check(url, env)
    expect(code).toBe(1)
    const [, text] = /secrets +wrong: SECRETS_KEY: (.*)/.exec(lines) ?? []
    expect(text).toMatch(fault)
    expect(lines).not.toContain('The database fits')
    expect((await check(url, { SECRETS_KEY: stored })).lines).toMatch(/secrets +ok: those of webhooks fit the key\n/)
    const previous = { SECRETS_KEY: OTHER_KEY, SECRETS_KEY_PREVIOUS: stored }
    expect((await check(url, previous)).code).toBe(0)
  })

  test('says why it cannot connect, and nothing of the password', async () => {
    const { code, stderr, lines } = await check('postgres://u:hunter2@127.0.0.1:1/d')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(lines).toMatch(/^ {2}connection {2}wrong: .*REFUSED.*; nothing else is checked\n1 of 1 checks failed\.\n$/)
    expect(lines).not.toContain('hunter2')
  })
})
