/** The roles that operations.md makes on one's own server suffice, and have no other right. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { writeBackup } from '../../src/db/backup/write.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { whenDone } from '../support/cleanup.ts'
import { ownServer } from '../support/database.ts'
import { printed } from '../support/printed.ts'
import { rawSql } from '../support/sql.ts'

const script = readFileSync(join(import.meta.dirname, '../../deploy/create-role.sh'), 'utf8')
const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')

/** The statements of a block, with other names: those of the page exist on the server already. */
const statementsOf = (block: string, name: string) =>
  block
    .replace(/^--.*$/gm, '')
    .replaceAll('sms_quota', name)
    .replaceAll(/'…'|:'password'/g, "'p'")
    .split(';')
    .map(text => text.trim())
    .filter(text => text !== '')

const [makes, serves] = [...page.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
  statementsOf(block, 'documented'),
)
const { url } = await ownServer()

function as(role: string | null, database: string) {
  const named = new URL(url)
  named.pathname = `/${database}`
  if (role !== null) Object.assign(named, { username: role, password: 'p' })
  const db = openDatabase({ url: named.href })
  whenDone(() => db.close())
  return { url: named.href, run: (text: string) => db.query({ text: rawSql`${text}` }), db }
}

test('a role of its own migrates, and one with the rights on rows serves, backs up and verifies', async () => {
  const admin = as(null, new URL(url).pathname.slice(1))
  for (const text of makes ?? []) await admin.run(text)
  const owner = as('documented', 'documented')
  await migrate({ url: owner.url })
  const [create = '', ...grants] = serves ?? []
  await admin.run(create)
  for (const text of grants) await owner.run(text)

  const service = as('documented_service', 'documented')
  const settings = { DATABASE_URL: service.url, MIGRATE: 'off', AUTH_SECRET: 'a secret for tests only, long enough' }
  const loaded = loadConfig(settings)
  if ('issues' in loaded) throw new ConfigError(loaded.issues)
  const { code, stdout } = await printed(() => check(loaded.config))
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('The database fits.') })
  const target = new Writable({ write: (_chunk, _, done) => done() })
  expect((await writeBackup(service.url, target, new Date(0))).tables).toBeGreaterThan(20)
  expect((await verify(service.db)).differences).toEqual([])
  await expect(service.run('create table other (n int)')).rejects.toThrow(/permission denied/)
  // A later migration's tables are its own to use, too.
  await owner.run('create table later (n int)')
  expect(await service.db.query({ text: sql`select n from later` })).toEqual([])
})

test('the script of compose makes the same role and database, to which no other role connects', async () => {
  const [, block = ''] = /<<'SQL'\n([\s\S]*?)^SQL$/m.exec(script) ?? []
  const admin = as(null, new URL(url).pathname.slice(1))
  for (const text of statementsOf(block, 'composed')) await admin.run(text)
  const owner = as('composed', 'composed')
  await migrate({ url: owner.url })
  expect(await owner.db.query({ text: sql`show server_encoding` })).toEqual([{ server_encoding: 'UTF8' }])
  await admin.run("create role composed_stranger login password 'p'")
  await expect(as('composed_stranger', 'composed').run('select 1')).rejects.toThrow(/permission denied for database/)
})
